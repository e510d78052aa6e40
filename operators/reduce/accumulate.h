#pragma once
// What reductions accumulate; see reduce_plan.h for the form. V is an element or a vector of them.

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "caffe2_core/base/simd.h"
#include "operators/primitives/wrapping.h"

namespace caffe2rt {

// Integers wrap around.
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

// Integers truncate towards 0. REQUIRES at the end: n != 0.
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
  using OfOne = SumOfSizes;  // |x|, where x * x may be beyond the type
  template <class T>
  CAFFE2RT_SIMD_INLINE static T Finish(T sum, int64_t) {
    return std::sqrt(sum);
  }
};

// A NaN that comes first stays, later ones are passed over.
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

// The largest element, and 0 of none.
struct MaxOrZero : MaxOf {
  template <class T>
  CAFFE2RT_SIMD_INLINE static T Empty() {
    return 0;
  }
};

}  // namespace caffe2rt
