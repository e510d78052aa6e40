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

namespace caffe2 {
using ::caffe2rt::GPUFallbackOp;
using ::caffe2rt::GPUFallbackOpEx;
}  // namespace caffe2
