#pragma once
#include "caffe2/proto/predictor_consts.pb.h"
