#pragma once
// Arithmetic on elements. Integers wrap around on overflow; the plain operators would be undefined.
// Floating-point numbers use the plain operators.

#include <type_traits>

#include "caffe2_core/base/simd.h"

namespace caffe2rt::math {

#define CAFFE2RT_WRAPPING_FUNCTION(Name, op)                         \
  template <class T>                                                 \
  CAFFE2RT_SIMD_INLINE inline T Name(T a, T b) {                     \
    if constexpr (std::is_integral_v<T>) {                           \
      using U = std::make_unsigned_t<T>;                             \
      return static_cast<T>(static_cast<U>(a) op static_cast<U>(b)); \
    } else {                                                         \
      return a op b;                                                 \
    }                                                                \
  }
CAFFE2RT_WRAPPING_FUNCTION(WrappingAdd, +)
CAFFE2RT_WRAPPING_FUNCTION(WrappingSubtract, -)
CAFFE2RT_WRAPPING_FUNCTION(WrappingMultiply, *)
#undef CAFFE2RT_WRAPPING_FUNCTION

template <class T>
CAFFE2RT_SIMD_INLINE inline T WrappingNegate(T x) {
  if constexpr (std::is_integral_v<T>) {
    return WrappingSubtract(T(0), x);
  } else {
    return -x;
  }
}

}  // namespace caffe2rt::math
