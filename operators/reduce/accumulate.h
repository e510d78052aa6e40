#pragma once
// The accumulators of reductions; reduce_plan.h describes their functions. V is an element or a
// vector of elements.

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "caffe2_core/base/simd.h"
#include "operators/primitives/wrapping.h"

namespace caffe2rt {

// Sums of integers wrap around.
struct SumOf {
  template <class V>
  CAFFE2RT_SIMD_INLINE static void Map(V&) {}
  template <class V>
  CAFFE2RT_SIMD_INLINE static void Combine(V& a, const V& b) {
    if constexpr (std::is_integral_v<V>) {
      a = math::WrappingAdd(a, b);
    } else {
      a = a + b;
    }
  }
  template <class T>
  CAFFE2RT_SIMD_INLINE static T Neutral(T) {
    return 0;
  }
  template <class T>
  CAFFE2RT_SIMD_INLINE static T Empty() {
    return 0;
  }
  template <class T>
  CAFFE2RT_SIMD_INLINE static T Finish(T sum, int64_t) {
    return sum;
  }
};

// Means of integers truncate towards 0. REQUIRES in Finish: n != 0 for integers.
struct MeanOf : SumOf {
  template <class T>
  CAFFE2RT_SIMD_INLINE static T Finish(T sum, int64_t n) {
    if constexpr (std::is_integral_v<T>) {
      if (n == -1) return math::WrappingNegate(sum);
      return static_cast<T>(static_cast<int64_t>(sum) / n);
    } else {
      return sum / static_cast<T>(n);
    }
  }
};

struct SumOfSizes : SumOf {
  template <class V>
  CAFFE2RT_SIMD_INLINE static void Map(V& x) {
    x = x < 0 ? -x : x;
  }
};

struct SumOfSquares : SumOf {
  template <class V>
  CAFFE2RT_SIMD_INLINE static void Map(V& x) {
    x = x * x;
  }
};

struct MeanOfSquares : SumOfSquares {
  template <class T>
  CAFFE2RT_SIMD_INLINE static T Finish(T sum, int64_t n) {
    return sum / static_cast<T>(n);
  }
};

struct RootOfSumOfSquares : SumOfSquares {
  using OfOne = SumOfSizes;  // for one element use |x|: x * x may overflow
  template <class T>
  CAFFE2RT_SIMD_INLINE static T Finish(T sum, int64_t) {
    return std::sqrt(sum);
  }
};

// The result is NaN if the first element is NaN; later NaNs are ignored.
struct MaxOf {
  template <class V>
  CAFFE2RT_SIMD_INLINE static void Map(V&) {}
  template <class V>
  CAFFE2RT_SIMD_INLINE static void Combine(V& a, const V& b) {
    a = a < b ? b : a;
  }
  template <class T>
  CAFFE2RT_SIMD_INLINE static T Neutral(T first) {
    return first;
  }
  template <class T>
  CAFFE2RT_SIMD_INLINE static T Empty() {
    return std::numeric_limits<T>::lowest();
  }
  template <class T>
  CAFFE2RT_SIMD_INLINE static T Finish(T largest, int64_t) {
    return largest;
  }
};

struct MinOf : MaxOf {
  template <class V>
  CAFFE2RT_SIMD_INLINE static void Combine(V& a, const V& b) {
    a = b < a ? b : a;
  }
  template <class T>
  CAFFE2RT_SIMD_INLINE static T Empty() {
    return std::numeric_limits<T>::max();
  }
};

// The largest element, or 0 if there are none.
struct MaxOrZero : MaxOf {
  template <class T>
  CAFFE2RT_SIMD_INLINE static T Empty() {
    return 0;
  }
};

}  // namespace caffe2rt
