// Gradients of reductions on CUDA: a thread computes one element.

#include "contexts/cuda/cuda_kernel.cuh"
#include "operators/reduce/accumulate.h"
#include "operators/reduce/reduce_kernels.h"

namespace caffe2rt {

namespace {

// The gradient of element i, which was reduced to output `at` together with n - 1 others.
template <class Accumulate, class T>
CAFFE2RT_HOST_DEVICE T GradientAt(int64_t i, int64_t at, int64_t n, const T* dy, const T* x,
                                  const T* y) {
  if constexpr (Accumulate::kGradientReadsData) {
    return Accumulate::Gradient(dy[at], x[i], y[at], n);
  } else {
    return Accumulate::Gradient(dy[at], T(0), T(0), n);
  }
}

template <class Accumulate, class T>
struct NestedGradient {
  ReduceGradientNest nest;
  const T* dy;
  const T* x;
  const T* y;
  T* dx;
  CAFFE2RT_HOST_DEVICE void operator()(int64_t i) const {
    int64_t at;
    nest.y.Find(i, &at);
    dx[i] = GradientAt<Accumulate>(i, at, nest.elements, dy, x, y);
  }
};

template <class Accumulate, bool kFront, class T>
struct LengthsGradient {
  int64_t columns;
  const int* lengths;
  const T* dy;
  const T* x;
  const T* y;
  T* dx;
  CAFFE2RT_HOST_DEVICE void operator()(int64_t i) const {
    const int64_t row = i / columns, column = i % columns;
    const int64_t output = kFront ? column : row, element = kFront ? row : column;
    const int64_t length = lengths[output];
    dx[i] = element < length ? GradientAt<Accumulate>(i, output, length, dy, x, y) : T(0);
  }
};

}  // namespace

template <class Accumulate, class T>
void ReduceNestedGradient(CUDAContext& context, const ReduceGradientNest& nest, const T* dy,
                          const T* x, const T* y, T* dx) {
  const NestedGradient<Accumulate, T> kernel{nest, dy, x, y, dx};
  ForEach(context, nest.y.total(), kernel, "ReduceGradient");
}

template <class Accumulate, bool kFront, class T>
void ReduceLengthsGradient(CUDAContext& context, int64_t rows, int64_t columns, const int* lengths,
                           const T* dy, const T* x, const T* y, T* dx) {
  const LengthsGradient<Accumulate, kFront, T> kernel{columns, lengths, dy, x, y, dx};
  ForEach(context, rows * columns, kernel, "ReduceLengthsGradient");
}

#define CAFFE2RT_NESTED(Accumulate, T)                                                    \
  template void ReduceNestedGradient<Accumulate>(CUDAContext&, const ReduceGradientNest&, \
                                                 const T*, const T*, const T*, T*);
#define CAFFE2RT_NESTED_ALL_TYPES(Accumulate) \
  CAFFE2RT_NESTED(Accumulate, float)          \
  CAFFE2RT_NESTED(Accumulate, double)         \
  CAFFE2RT_NESTED(Accumulate, int32_t)        \
  CAFFE2RT_NESTED(Accumulate, int64_t)
CAFFE2RT_NESTED_ALL_TYPES(SumOf)
CAFFE2RT_NESTED_ALL_TYPES(MeanOf)
CAFFE2RT_NESTED_ALL_TYPES(MaxOf)
CAFFE2RT_NESTED_ALL_TYPES(MinOf)
CAFFE2RT_NESTED(MaxOrZero, float)
CAFFE2RT_NESTED(SumOfSizes, float)
CAFFE2RT_NESTED(RootOfSumOfSquares, float)
#undef CAFFE2RT_NESTED_ALL_TYPES
#undef CAFFE2RT_NESTED

#define CAFFE2RT_LENGTHS(Accumulate, T)                                              \
  template void ReduceLengthsGradient<Accumulate, true>(                             \
      CUDAContext&, int64_t, int64_t, const int*, const T*, const T*, const T*, T*); \
  template void ReduceLengthsGradient<Accumulate, false>(                            \
      CUDAContext&, int64_t, int64_t, const int*, const T*, const T*, const T*, T*);
CAFFE2RT_LENGTHS(SumOf, float)
CAFFE2RT_LENGTHS(SumOf, double)
CAFFE2RT_LENGTHS(SumOf, int32_t)
CAFFE2RT_LENGTHS(SumOf, int64_t)
CAFFE2RT_LENGTHS(MeanOf, float)
CAFFE2RT_LENGTHS(MeanOf, double)
CAFFE2RT_LENGTHS(MeanOf, int32_t)
CAFFE2RT_LENGTHS(MeanOf, int64_t)
CAFFE2RT_LENGTHS(MaxOrZero, float)
#undef CAFFE2RT_LENGTHS

}  // namespace caffe2rt
