#pragma once
// Sums for kernels that are compiled for several instruction sets (caffe2_core/base/simd.h).

#include <cstdint>

#include "caffe2_core/base/simd.h"

namespace caffe2rt {

// Returns term(0) + ... + term(n - 1), with one partial sum for each lane of a vector. The call
// operator of `term` must be CAFFE2RT_SIMD_INLINE.
template <class Sum = float, class Term>
CAFFE2RT_SIMD_INLINE inline Sum SumOfTerms(int64_t n, const Term& term) {
  constexpr int64_t kLanes = 64 / sizeof(Sum);
  Sum lanes[kLanes] = {};
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    CAFFE2RT_SIMD_LOOP
    for (int64_t k = 0; k < kLanes; ++k) lanes[k] += term(i + k);
  }
  Sum sum = 0;
  for (; i < n; ++i) sum += term(i);
  for (int64_t k = 0; k < kLanes; ++k) sum += lanes[k];
  return sum;
}

}  // namespace caffe2rt
