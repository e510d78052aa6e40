#pragma once
// The element function and the kernels of PRelu and PReluGradient, on the CPU and on CUDA (prelu.cu).

#include <cstdint>

#include "caffe2_core/base/simd.h"
#include "operators/common/broadcast_loops.h"

namespace caffe2rt {

class CPUContext;
class CUDAContext;

struct PReluFunction {
  CAFFE2RT_SIMD_INLINE float operator()(float x, float slope) const {
    return x > 0.0f ? x : slope * x;
  }

  // The gradients of x and of the slope (operand_gradient.h).
  CAFFE2RT_SIMD_INLINE float GradientA(float x, float slope, float, float dy) const {
    return x > 0.0f ? dy : slope * dy;
  }
  CAFFE2RT_SIMD_INLINE float GradientB(float x, float, float, float dy) const {
    // g++ 12 gives wrong sums of x > 0 ? 0 : x * dy for AVX2 with -fno-trapping-math.
    return (x > 0.0f ? 0.0f : x) * dy;
  }
};

// x and y are [outer, channels, inner]; slopes has one element per channel. y may equal x.
void PRelu(CPUContext& context, int64_t outer, int64_t channels, int64_t inner, const float* x,
           const float* slopes, float* y);
void PRelu(CUDAContext& context, int64_t outer, int64_t channels, int64_t inner, const float* x,
           const float* slopes, float* y);

// The gradients of x and of the slopes. REQUIRES: outer, channels and inner are positive.
void PReluGradient(CPUContext& context, int64_t outer, int64_t channels, int64_t inner,
                   const float* x, const float* slopes, const float* dy, float* dx, float* dslopes);
void PReluGradient(CUDAContext& context, int64_t outer, int64_t channels, int64_t inner,
                   const float* x, const float* slopes, const float* dy, float* dx, float* dslopes);

// The loops over x and the slopes.
inline BroadcastLoops PReluLoops(int64_t outer, int64_t channels, int64_t inner) {
  BroadcastLoops loops;
  loops.output_size = outer * channels * inner;
  if (inner == 1) {
    loops.inner = {channels, 1, 1};
    loops.middle = {outer, channels, 0};
  } else {
    loops.inner = {inner, 1, 0};
    loops.middle = {channels, inner, 1};
    loops.outer_count = 1;
    loops.outer[0] = {outer, channels * inner, 0};
  }
  return loops;
}

}  // namespace caffe2rt
