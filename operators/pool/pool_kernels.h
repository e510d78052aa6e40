#pragma once
// The native CUDA kernels for pools: of MaxPool and MaxPoolWithIndex in max_pool.cu, of AveragePool
// and LpPool in average_pool.cu. They support all arguments.

#include "caffe2_core/base/float16.h"
#include "operators/pool/pool_plan.h"

namespace caffe2rt {

class CUDAContext;
class ThreadScratch;

// REQUIRES: Y is not empty.
void RunMaxPool(CUDAContext& context, const PoolPlan& plan, const float* x, float* y);
void RunMeanPool(CUDAContext& context, const PoolPlan& plan, const float* x, float* y);
void RunLpPool(CUDAContext& context, const PoolPlan& plan, float p, const float* x, float* y);
// REQUIRES: X is not empty.
void RunMaxPoolGradient(CUDAContext& context, const PoolPlan& plan, const PoolGradientData& data);
void RunMeanPoolGradient(CUDAContext& context, const PoolPlan& plan, const PoolGradientData& data);
void RunLpPoolGradient(CUDAContext& context, const PoolPlan& plan, float p,
                       const PoolGradientData& data);

inline constexpr float kLowestFloat16 = -65504;

// As the functions of the CPU (max_pool_with_index.h), except that an index out of range has no
// effect. REQUIRES: X is not empty; order NCHW.
void RunMaxPoolWithIndex(CUDAContext& context, const PoolPlan& plan, const float* x, float* y,
                         int32_t* index);
void RunMaxPoolWithIndex(CUDAContext& context, const PoolPlan& plan, const float16* x, float16* y,
                         int32_t* index);
void RunMaxPoolWithIndexGradient(CUDAContext& context, const PoolPlan& plan, const float* dy,
                                 const int32_t* index, float* dx, ThreadScratch* scratch);
void RunMaxPoolWithIndexGradient(CUDAContext& context, const PoolPlan& plan, const float16* dy,
                                 const int32_t* index, float16* dx, ThreadScratch* scratch);

}  // namespace caffe2rt
