#pragma once
// Predictor.
#include <string>
#include <unordered_map>

#include "caffe2/core/net.h"
#include "caffe2/core/tensor.h"
#include "caffe2/core/workspace.h"
#include "caffe2/predictor/predictor_config.h"
#include "caffe2_core/runtime/predictor.h"

namespace caffe2 {
using ::caffe2rt::Predictor;
}  // namespace caffe2
