#pragma once
// Kernels that fill memory with values that are not random, on the CPU and on CUDA
// (constant_fill.cu).

#include <algorithm>
#include <cstdint>

namespace caffe2rt {

class CPUContext;
class CUDAContext;

// y[i] = value.
template <class T>
void FillWithValue(CPUContext&, int64_t n, const T& value, T* y) {
  std::fill_n(y, n, value);
}
template <class T>
void FillWithValue(CUDAContext& context, int64_t n, const T& value, T* y);

// y[i] = value where i is a multiple of `step`, 0 elsewhere.
template <class T>
void FillEveryStep(CPUContext& context, int64_t n, int64_t step, const T& value, T* y) {
  FillWithValue(context, n, T(), y);
  for (int64_t i = 0; i < n; i += step) y[i] = value;
}
template <class T>
void FillEveryStep(CUDAContext& context, int64_t n, int64_t step, const T& value, T* y);

// y[i] = start + i * step.
template <class T>
void FillRange(CUDAContext& context, int64_t n, T start, T step, T* y);
// y[i] = i.
void CountUp(CUDAContext& context, int64_t n, float* y);

}  // namespace caffe2rt
