// CUDA kernels that fill memory with values that are not random. One thread writes one element.

#include "contexts/cuda/cuda_kernel.cuh"
#include "operators/fill/constant_fill_kernels.h"

namespace caffe2rt {

namespace {

template <class T>
struct ValueKernel {
  T value;
  T* y;
  CAFFE2RT_HOST_DEVICE void operator()(int64_t i) const { y[i] = value; }
};

template <class T>
struct StepKernel {
  int64_t step;
  T value;
  T* y;
  CAFFE2RT_HOST_DEVICE void operator()(int64_t i) const { y[i] = i % step == 0 ? value : T(0); }
};

template <class T>
struct RangeKernel {
  T start, step;
  T* y;
  CAFFE2RT_HOST_DEVICE void operator()(int64_t i) const { y[i] = start + static_cast<T>(i) * step; }
};

}  // namespace

template <class T>
void FillWithValue(CUDAContext& context, int64_t n, const T& value, T* y) {
  ForEach(context, n, ValueKernel<T>{value, y}, "FillWithValue");
}
template <class T>
void FillEveryStep(CUDAContext& context, int64_t n, int64_t step, const T& value, T* y) {
  ForEach(context, n, StepKernel<T>{step, value, y}, "FillEveryStep");
}
template <class T>
void FillRange(CUDAContext& context, int64_t n, T start, T step, T* y) {
  ForEach(context, n, RangeKernel<T>{start, step, y}, "FillRange");
}
void CountUp(CUDAContext& context, int64_t n, float* y) { FillRange(context, n, 0.0f, 1.0f, y); }

#define CAFFE2RT_FILL(T)                                            \
  template void FillWithValue(CUDAContext&, int64_t, const T&, T*); \
  template void FillEveryStep(CUDAContext&, int64_t, int64_t, const T&, T*);
CAFFE2RT_FILL(bool)
CAFFE2RT_FILL(int8_t)
CAFFE2RT_FILL(int16_t)
CAFFE2RT_FILL(int32_t)
CAFFE2RT_FILL(int64_t)
CAFFE2RT_FILL(uint8_t)
CAFFE2RT_FILL(uint16_t)
CAFFE2RT_FILL(float)
CAFFE2RT_FILL(double)
#undef CAFFE2RT_FILL
template void FillRange(CUDAContext&, int64_t, int32_t, int32_t, int32_t*);
template void FillRange(CUDAContext&, int64_t, int64_t, int64_t, int64_t*);
template void FillRange(CUDAContext&, int64_t, float, float, float*);
template void FillRange(CUDAContext&, int64_t, double, double, double*);

}  // namespace caffe2rt
