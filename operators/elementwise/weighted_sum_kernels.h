#pragma once
// The kernels of WeightedSum and WeightedSumGradient, on the CPU (weighted_sum.cc) and on CUDA
// (nary.cu).

#include <cstddef>
#include <cstdint>

namespace caffe2rt {

class CPUContext;
class CUDAContext;

struct WeightedInput {
  const float* x;
  const float* weight;  // one number, in the memory of the device
};

// y = the sum of the `count` inputs, each multiplied by its weight. y may equal the first input.
// REQUIRES: count >= 1.
void WeightedSum(CPUContext& context, const WeightedInput* inputs, size_t count, int64_t n,
                 float* y);
void WeightedSum(CUDAContext& context, const WeightedInput* inputs, size_t count, int64_t n,
                 float* y);

}  // namespace caffe2rt
