#pragma once
// The kernels of Softmax.

#include <cstdint>

namespace caffe2rt {

class CPUContext;
class CUDAContext;

// A row becomes NaN if it contains a NaN or +infinity, or only -infinity.
void SoftmaxRows(CPUContext& context, int64_t rows, int64_t n, const float* x, float* y);
void SoftmaxRows(CUDAContext& context, int64_t rows, int64_t n, const float* x, float* y);

}  // namespace caffe2rt
