#pragma once
#include "caffe2/proto/caffe2_legacy.pb.h"
