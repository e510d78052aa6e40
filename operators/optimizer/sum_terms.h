#pragma once
// SumTerms: a sum over the elements of arrays on the CPU, such as a squared norm.
//
//   const double squares = SumTerms(n, ProductTerm{x, x});

#include <algorithm>
#include <cstdint>

#include "caffe2_core/base/simd.h"

namespace caffe2rt {

namespace internal {

template <class Term>
struct SumTermsKernel {
  Term term;
  CAFFE2RT_SIMD_INLINE void operator()(int64_t n, double* result) const {
    // Sums of floats over short pieces keep the rounding small.
    constexpr int64_t kLanes = 16, kPiece = 4096;
    const Term t = term;
    double total = 0;
    for (int64_t first = 0; first < n; first += kPiece) {
      const int64_t last = std::min(first + kPiece, n);
      float lanes[kLanes] = {};
      int64_t i = first;
      for (; i + kLanes <= last; i += kLanes) {
        CAFFE2RT_SIMD_LOOP
        for (int64_t lane = 0; lane < kLanes; ++lane) lanes[lane] += t(i + lane);
      }
      for (int64_t lane = 0; lane < kLanes; ++lane) total += static_cast<double>(lanes[lane]);
      for (; i < last; ++i) total += static_cast<double>(t(i));
    }
    *result = total;
  }
};

}  // namespace internal

// The sum of term(0) ... term(n - 1), which are floats.
template <class Term>
double SumTerms(int64_t n, const Term& term) {
  double result = 0;
  RunSimd(internal::SumTermsKernel<Term>{term}, n, &result);
  return result;
}

// The terms of a dot product.
struct ProductTerm {
  const float* x;
  const float* y;
  CAFFE2RT_SIMD_INLINE float operator()(int64_t i) const { return x[i] * y[i]; }
};
inline double DotProduct(int64_t n, const float* x, const float* y) {
  return SumTerms(n, ProductTerm{x, y});
}

}  // namespace caffe2rt
