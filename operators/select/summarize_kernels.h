#pragma once
// The kernels of Summarize, on the CPU (summarize.cc) and on CUDA (accuracy.cu).

#include <cstdint>

namespace caffe2rt {

class CPUContext;
class CUDAContext;
class Tensor;

// Writes the least and the largest element, the mean and the standard deviation (the root of the
// sum of squared distances from the mean, divided by n - 1; 0 for n = 1) to y[0], ..., y[3].
// `scratch` is device memory, not used on the CPU. REQUIRES: n > 0.
void WriteSummary(CPUContext& context, int64_t n, const float* x, float* y, Tensor* scratch);
void WriteSummary(CUDAContext& context, int64_t n, const float* x, float* y, Tensor* scratch);

}  // namespace caffe2rt
