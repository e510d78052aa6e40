#pragma once
// CPU kernels over the terms of a loss (losses.h), compiled for several instruction sets.

#include <cstdint>

#include "caffe2_core/base/simd.h"
#include "operators/detectron/losses.h"
#include "operators/primitives/lane_sum.h"

namespace caffe2rt {

namespace internal {

template <class Terms>
struct TermsFrom {
  const Terms& terms;
  int64_t first;
  CAFFE2RT_SIMD_INLINE float operator()(int64_t i) const { return terms(first + i); }
};

template <class Terms>
struct LossSumKernel {
  Terms terms;
  // Sums of floats have few terms, so that millions of terms can be added.
  CAFFE2RT_SIMD_INLINE void operator()(int64_t n, double* result) const {
    constexpr int64_t kPiece = 8192;
    double sum = 0;
    for (int64_t first = 0; first < n; first += kPiece) {
      sum += SumOfTerms(n - first < kPiece ? n - first : kPiece, TermsFrom<Terms>{terms, first});
    }
    *result = sum;
  }
};

template <class Terms>
struct LossGradientKernel {
  Terms terms;
  CAFFE2RT_SIMD_INLINE void operator()(int64_t n, float factor, float* dx) const {
    const Terms t = terms;
    CAFFE2RT_SIMD_LOOP
    for (int64_t i = 0; i < n; ++i) dx[i] = factor * t.Gradient(i);
  }
};

}  // namespace internal

// The sum of n terms.
template <class Terms>
double SumOfLosses(int64_t n, const Terms& terms) {
  double sum = 0;
  if (n > 0) RunSimd(internal::LossSumKernel<Terms>{terms}, n, &sum);
  return sum;
}

// dx[i] = factor * terms.Gradient(i)
template <class Terms>
void GradientsOfLosses(int64_t n, const Terms& terms, float factor, float* dx) {
  if (n > 0) RunSimd(internal::LossGradientKernel<Terms>{terms}, n, factor, dx);
}

}  // namespace caffe2rt
