#pragma once
#include "caffe2/proto/metanet.pb.h"
