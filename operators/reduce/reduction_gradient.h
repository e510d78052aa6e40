#pragma once
// Gradients of reductions over any dimensions of a dense tensor on the CPU; cuda_reduce.h has them
// for CUDA.
//
//   plan.Make(X.sizes(), reduced);                            // the plan of the reduction
//   ReduceGradient<MeanOf>(context, plan, dy, x, y, dx);      // dx has the shape of X
//
// The functions use two members of the accumulator (accumulate.h):
//   Gradient(T dy, T x, T y, int64_t n)  the gradient of x, one of n elements reduced to y
//   kGradientReadsData                   whether it depends on x and y; otherwise both may be null
// dx is written once, in memory order.

#include "operators/reduce/accumulate.h"
#include "operators/reduce/reduce_plan.h"

namespace caffe2rt {

namespace internal {

// Computes one block of `middle` times `inner` elements.
template <class Accumulate>
struct ReduceGradientKernel {
  template <class T>
  CAFFE2RT_SIMD_INLINE void operator()(ReducePlan::Loop inner, ReducePlan::Loop middle,
                                       int64_t elements, const T* dy, const T* x, const T* y,
                                       T* dx) const {
    constexpr bool kReads = Accumulate::kGradientReadsData;
    const int64_t n = inner.size;
    for (int64_t j = 0; j < middle.size; ++j) {
      if (inner.y_stride == 0) {
        const T gradient = *dy, result = kReads ? *y : T(0);
        CAFFE2RT_SIMD_LOOP
        for (int64_t i = 0; i < n; ++i) {
          dx[i] = Accumulate::Gradient(gradient, kReads ? x[i] : T(0), result, elements);
        }
      } else {
        CAFFE2RT_SIMD_LOOP
        for (int64_t i = 0; i < n; ++i) {
          dx[i] = Accumulate::Gradient(dy[i], kReads ? x[i] : T(0), kReads ? y[i] : T(0), elements);
        }
      }
      dx += n;
      dy += middle.y_stride;
      if constexpr (kReads) {
        x += n;
        y += middle.y_stride;
      }
    }
  }
};

// Computes all elements of a matrix of which the first lengths[o] elements of output o count.
template <class Accumulate, bool kFront>
struct LengthsGradientKernel {
  template <class T>
  CAFFE2RT_SIMD_INLINE void operator()(int64_t rows, int64_t columns, const int* lengths,
                                       const T* dy, const T* x, const T* y, T* dx) const {
    constexpr bool kReads = Accumulate::kGradientReadsData;
    for (int64_t i = 0; i < rows; ++i) {
      CAFFE2RT_SIMD_LOOP
      for (int64_t j = 0; j < columns; ++j) {
        const int64_t output = kFront ? j : i, element = kFront ? i : j;
        const int64_t at = i * columns + j;
        dx[at] = element < lengths[output]
                     ? Accumulate::Gradient(dy[output], kReads ? x[at] : T(0),
                                            kReads ? y[output] : T(0), int64_t{lengths[output]})
                     : T(0);
      }
    }
  }
};

}  // namespace internal

template <class Accumulate, class T>
void ReduceGradient(CPUContext&, const ReducePlan& plan, const T* dy, const T* x, const T* y,
                    T* dx) {
  if (plan.output_size() == 0 || plan.reduced_size() == 0) return;
  const internal::ReduceGradientKernel<Accumulate> kernel{};
  constexpr bool kReads = Accumulate::kGradientReadsData;
  plan.ForEachBlock([&](int64_t x_offset, int64_t y_offset, bool) {
    RunSimd(kernel, plan.inner(), plan.middle(), plan.reduced_size(), dy + y_offset,
            kReads ? x + x_offset : x, kReads ? y + y_offset : y, dx + x_offset);
  });
}

// The gradient of a reduction of the rows (kFront) or the columns of a matrix, of which only the
// first lengths[o] elements of output o count. The other elements get 0.
template <class Accumulate, bool kFront, class T>
void ReduceLengthsGradient(CPUContext&, int64_t rows, int64_t columns, const int* lengths,
                           const T* dy, const T* x, const T* y, T* dx) {
  RunSimd(internal::LengthsGradientKernel<Accumulate, kFront>{}, rows, columns, lengths, dy, x, y,
          dx);
}

}  // namespace caffe2rt
