#pragma once
// The names of the parts of a saved predictor.
#include "caffe2rt/predictor_consts.pb.h"

namespace caffe2 {
using ::caffe2rt::PredictorConsts;
}  // namespace caffe2
