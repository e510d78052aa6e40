#pragma once
// Element functions of two numbers. `arithmetic.cc`, `comparisons.cc` and `logic.cc` list them.

#include <cstdint>
#include <type_traits>

#include "caffe2_core/base/simd.h"
#include "operators/math/wrapping.h"

namespace caffe2rt {

#define CAFFE2RT_BINARY_FUNCTION(Name, Result, expression)   \
  struct Name {                                              \
    static constexpr bool kNeedsNonZero = false;             \
    template <class T>                                       \
    CAFFE2RT_SIMD_INLINE Result operator()(T a, T b) const { \
      return static_cast<Result>(expression);                \
    }                                                        \
  }

CAFFE2RT_BINARY_FUNCTION(AddFunction, T, math::WrappingAdd(a, b));
CAFFE2RT_BINARY_FUNCTION(SubFunction, T, math::WrappingSubtract(a, b));
CAFFE2RT_BINARY_FUNCTION(MulFunction, T, math::WrappingMultiply(a, b));

CAFFE2RT_BINARY_FUNCTION(LessFunction, bool, a < b);
CAFFE2RT_BINARY_FUNCTION(LessEqualFunction, bool, a <= b);
CAFFE2RT_BINARY_FUNCTION(GreaterFunction, bool, a > b);
CAFFE2RT_BINARY_FUNCTION(GreaterEqualFunction, bool, a >= b);
CAFFE2RT_BINARY_FUNCTION(EqualFunction, bool, a == b);
CAFFE2RT_BINARY_FUNCTION(NotEqualFunction, bool, a != b);

CAFFE2RT_BINARY_FUNCTION(AndFunction, T, a& b);
CAFFE2RT_BINARY_FUNCTION(OrFunction, T, a | b);
CAFFE2RT_BINARY_FUNCTION(XorFunction, T, a ^ b);

// A NaN in `a` stays, one in `b` is passed over.
CAFFE2RT_BINARY_FUNCTION(MaxFunction, T, a < b ? b : a);
CAFFE2RT_BINARY_FUNCTION(MinFunction, T, b < a ? b : a);

#undef CAFFE2RT_BINARY_FUNCTION

// Integers truncate towards 0; the smallest one divided by -1 wraps around to itself. REQUIRES: b
// != 0 for integers.
struct DivFunction {
  static constexpr bool kNeedsNonZero = true;
  template <class T>
  CAFFE2RT_SIMD_INLINE T operator()(T a, T b) const {
    if constexpr (std::is_integral_v<T>) {
      return b == T(-1) ? math::WrappingNegate(a) : static_cast<T>(a / b);
    } else {
      return a / b;
    }
  }
};

}  // namespace caffe2rt
