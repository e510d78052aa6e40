#pragma once
// The element function and the kernels of PRelu, on the CPU and on CUDA (prelu.cu).

#include <cstdint>

#include "caffe2_core/base/simd.h"

namespace caffe2rt {

class CPUContext;
class CUDAContext;

struct PReluFunction {
  CAFFE2RT_SIMD_INLINE float operator()(float x, float slope) const {
    return x > 0.0f ? x : slope * x;
  }
};

// x and y are [outer, channels, inner]; slopes has one element per channel. y may equal x.
void PRelu(CPUContext& context, int64_t outer, int64_t channels, int64_t inner, const float* x,
           const float* slopes, float* y);
void PRelu(CUDAContext& context, int64_t outer, int64_t channels, int64_t inner, const float* x,
           const float* slopes, float* y);

}  // namespace caffe2rt
