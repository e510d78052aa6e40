// CUDA implementation of unary.h. One thread computes one element.

#include "contexts/cuda/cuda_kernel.cuh"
#include "operators/math/unary.h"

namespace caffe2rt::math::internal {

namespace {

template <class F, class T>
struct Mapping {
  const T* x;
  T* y;
  F f;
  CAFFE2RT_HOST_DEVICE void operator()(int64_t i) const { y[i] = f(x[i]); }
};
template <class F, class T>
struct Updating {
  const T* x;
  T* y;
  F f;
  CAFFE2RT_HOST_DEVICE void operator()(int64_t i) const { y[i] = f(x[i], y[i]); }
};
template <class T>
struct Setting {
  T value;
  T* x;
  CAFFE2RT_HOST_DEVICE void operator()(int64_t i) const { x[i] = value; }
};

}  // namespace

// g++ takes the visibility of a function template from its definition.
#pragma GCC visibility push(default)
template <class F, class T>
void CudaMap(CUDAContext& context, int64_t n, const T* x, T* y, const F& f) {
  ForEach(context, n, Mapping<F, T>{x, y, f}, "math map");
}
template <class F, class T>
void CudaUpdate(CUDAContext& context, int64_t n, const T* x, T* y, const F& f) {
  ForEach(context, n, Updating<F, T>{x, y, f}, "math update");
}
template <class T>
void CudaSet(CUDAContext& context, int64_t n, T value, T* x) {
  ForEach(context, n, Setting<T>{value, x}, "math::Set");
}

#define MAP(F, T) template void CudaMap(CUDAContext&, int64_t, const T*, T*, const F&);
#define UPDATE(F, T) template void CudaUpdate(CUDAContext&, int64_t, const T*, T*, const F&);
#define SET(T) template void CudaSet(CUDAContext&, int64_t, T, T*);
#define OF_FLOATS(Name)   \
  MAP(Name##Value, float) \
  MAP(Name##Value, double)
#define OF_NUMBERS(Name)    \
  OF_FLOATS(Name)           \
  MAP(Name##Value, int32_t) \
  MAP(Name##Value, int64_t)
#define WITH_FACTOR(T)    \
  MAP(ScaleValue<T>, T)   \
  UPDATE(AxpyValue<T>, T) \
  UPDATE(AxpbyValue<T>, T)

OF_FLOATS(Exp)
OF_FLOATS(Log)
OF_FLOATS(Log1p)
OF_FLOATS(Sin)
OF_FLOATS(Cos)
OF_FLOATS(Tan)
OF_FLOATS(Asin)
OF_FLOATS(Acos)
OF_FLOATS(Atan)
OF_FLOATS(Sinh)
OF_FLOATS(Cosh)
OF_FLOATS(Tanh)
OF_FLOATS(Sqrt)
OF_FLOATS(Rsqrt)
OF_FLOATS(InvSqrt)
OF_FLOATS(Cbrt)
OF_FLOATS(Erf)
OF_FLOATS(CdfNorm)
OF_FLOATS(Inv)
OF_FLOATS(Powx)
OF_FLOATS(InvStd)
OF_NUMBERS(Abs)
OF_NUMBERS(Sqr)
OF_NUMBERS(Cube)
OF_NUMBERS(Neg)
OF_NUMBERS(Sign)
OF_NUMBERS(Maximum)
MAP(NotValue, bool)
WITH_FACTOR(float)
WITH_FACTOR(double)
WITH_FACTOR(int32_t)
WITH_FACTOR(int64_t)
MAP(ScaleValue<float>, double)
UPDATE(AxpyValue<float>, double)
SET(bool)
SET(char)
SET(int8_t)
SET(uint8_t)
SET(int16_t)
SET(uint16_t)
SET(int32_t)
SET(int64_t)
SET(float16)
SET(float)
SET(double)
#undef MAP
#undef UPDATE
#undef SET
#undef OF_FLOATS
#undef OF_NUMBERS
#undef WITH_FACTOR
#pragma GCC visibility pop

}  // namespace caffe2rt::math::internal
