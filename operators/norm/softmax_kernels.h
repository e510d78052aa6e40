#pragma once
// The kernels of Softmax.

#include <cstdint>

namespace caffe2rt {

class CPUContext;
class CUDAContext;

// A NaN, an infinity or nothing but -infinity in a row makes all of it NaN.
void SoftmaxRows(CPUContext& context, int64_t rows, int64_t n, const float* x, float* y);
void SoftmaxRows(CUDAContext& context, int64_t rows, int64_t n, const float* x, float* y);

}  // namespace caffe2rt
