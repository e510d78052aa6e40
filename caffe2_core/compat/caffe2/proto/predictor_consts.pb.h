#pragma once
// Names of a saved predictor's parts.
#include "caffe2rt/predictor_consts.pb.h"

namespace caffe2 {
using ::caffe2rt::PredictorConsts;
}  // namespace caffe2
