#pragma once
// The native CUDA kernels for pools (max_pool.cu, average_pool.cu).

#include "operators/pool/pool_plan.h"

namespace caffe2rt {

class CUDAContext;

// Support all arguments. REQUIRES: Y is not empty.
void RunMaxPool(CUDAContext& context, const PoolPlan& plan, const float* x, float* y);
void RunMeanPool(CUDAContext& context, const PoolPlan& plan, const float* x, float* y);

}  // namespace caffe2rt
