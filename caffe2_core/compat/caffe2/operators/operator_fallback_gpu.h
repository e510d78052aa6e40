#pragma once
// GPUFallbackOp: runs a CPU operator on a device by copying its inputs and outputs. Does not need
// CUDA.
#include "caffe2/core/common.h"
#include "caffe2/core/context.h"
#include "caffe2/core/context_gpu.h"
#include "caffe2/core/logging.h"
#include "caffe2/core/operator.h"
#include "caffe2/core/types.h"
#include "caffe2/utils/math.h"
#include "operators/common/gpu_fallback.h"

// Sources for later Caffe2 versions name the template without arguments,
// REGISTER_CUDA_OPERATOR(X, GPUFallbackOp). A new-expression can deduce the arguments.
#undef CAFFE2RT_NEW_OPERATOR
#define CAFFE2RT_NEW_OPERATOR(...)                                              \
  [](const ::caffe2rt::OperatorDef& def,                                        \
     ::caffe2rt::Workspace* ws) -> std::unique_ptr<::caffe2rt::OperatorBase> {  \
    return std::unique_ptr<::caffe2rt::OperatorBase>(new __VA_ARGS__(def, ws)); \
  }

namespace caffe2 {
using ::caffe2rt::GPUFallbackOp;
using ::caffe2rt::GPUFallbackOpEx;
}  // namespace caffe2
