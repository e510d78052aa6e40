#pragma once
// The accumulators of reductions and their gradients. reduce_plan.h describes the functions of an
// accumulator, reduction_gradient.h its gradient: Gradient(dy, x, y, n) is the gradient of an element
// x of n elements that were reduced to y, given the gradient dy of y; kGradientReadsData is whether
// it depends on x and y. kNumbers is the same reduction for other types (reduce_numbers.h). V is an element or a vector of elements.

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "caffe2_core/base/simd.h"
#include "operators/primitives/wrapping.h"

namespace caffe2rt {

enum class NumberReduction {
  kSum,
  kMean,
  kMax,
  kMin,
  kL1,
  kL2,
  kProd,
  kSumSquare,
  kLogSum,
  kLogSumExp
};

// Sums of integers wrap around.
struct SumOf {
  static constexpr NumberReduction kNumbers = NumberReduction::kSum;
  static constexpr bool kGradientReadsData = false;
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
  template <class T>
  CAFFE2RT_SIMD_INLINE static T Gradient(T dy, T, T, int64_t) {
    return dy;
  }
};

// Means of integers truncate towards 0. REQUIRES in Finish: n != 0 for integers.
struct MeanOf : SumOf {
  static constexpr NumberReduction kNumbers = NumberReduction::kMean;
  template <class T>
  CAFFE2RT_SIMD_INLINE static T Finish(T sum, int64_t n) {
    if constexpr (std::is_integral_v<T>) {
      if (n == -1) return math::WrappingNegate(sum);
      return static_cast<T>(static_cast<int64_t>(sum) / n);
    } else {
      return sum / static_cast<T>(n);
    }
  }
  template <class T>
  CAFFE2RT_SIMD_INLINE static T Gradient(T dy, T, T, int64_t n) {
    return Finish(dy, n);
  }
};

struct SumOfSizes : SumOf {
  static constexpr NumberReduction kNumbers = NumberReduction::kL1;
  static constexpr bool kGradientReadsData = true;
  template <class V>
  CAFFE2RT_SIMD_INLINE static void Map(V& x) {
    x = x < 0 ? -x : x;
  }
  // As in Caffe2, 0 for sizes up to 1e-12.
  template <class T>
  CAFFE2RT_SIMD_INLINE static T Gradient(T dy, T x, T, int64_t) {
    constexpr T kTiny = static_cast<T>(1e-12);
    return x > kTiny ? dy : x < -kTiny ? -dy : T(0);
  }
};

struct SumOfSquares : SumOf {
  static constexpr NumberReduction kNumbers = NumberReduction::kSumSquare;
  // No operator needs it.
  template <class T>
  static T Gradient(T, T, T, int64_t) = delete;
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
  static constexpr NumberReduction kNumbers = NumberReduction::kL2;
  static constexpr bool kGradientReadsData = true;
  using OfOne = SumOfSizes;  // for one element use |x|: x * x may overflow
  template <class T>
  CAFFE2RT_SIMD_INLINE static T Finish(T sum, int64_t) {
    return std::sqrt(sum);
  }
  // As in Caffe2, dy for norms below 1e-12, where the norm has no derivative.
  template <class T>
  CAFFE2RT_SIMD_INLINE static T Gradient(T dy, T x, T y, int64_t) {
    return y < static_cast<T>(1e-12) ? dy : dy * x / y;
  }
};

// The result is NaN if the first element is NaN; later NaNs are ignored.
struct MaxOf {
  static constexpr NumberReduction kNumbers = NumberReduction::kMax;
  static constexpr bool kGradientReadsData = true;
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
  // Every element that equals the result has its gradient.
  template <class T>
  CAFFE2RT_SIMD_INLINE static T Gradient(T dy, T x, T y, int64_t) {
    return x == y ? dy : T(0);
  }
};

struct MinOf : MaxOf {
  static constexpr NumberReduction kNumbers = NumberReduction::kMin;
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
