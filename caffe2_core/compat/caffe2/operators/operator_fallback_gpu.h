#pragma once
// GPUFallbackOp: an operator of the CPU on a device. Needs nothing of CUDA.
#include "caffe2/core/common.h"
#include "caffe2/core/context.h"
#include "caffe2/core/context_gpu.h"
#include "caffe2/core/logging.h"
#include "caffe2/core/operator.h"
#include "caffe2/core/types.h"
#include "caffe2/utils/math.h"
#include "operators/common/gpu_fallback.h"

// Sources of the last generation name the template without arguments,
// REGISTER_CUDA_OPERATOR(X, GPUFallbackOp), which a new expression can deduce.
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
