#pragma once
// Conversion of one element to another type. Integers that do not fit wrap around. Floats are
// truncated towards 0 and converted through int32 (int64 if the result is int64), so a number out
// of range of a narrower type wraps around too (300.5 as uint8 is 44). NaN and floats out of range
// of int32 (int64) first become the smallest int32 (int64). Conversion to bool gives true for
// everything but 0.

#include <cstdint>
#include <limits>
#include <type_traits>

#include "caffe2_core/base/simd.h"
#include "operators/primitives/function_table.h"
#include "operators/elementwise/map.h"

namespace caffe2rt {

template <class To, class From>
CAFFE2RT_SIMD_INLINE inline To CastFloat(From x) {
  // Wide is int32, or int64 if the result is int64. Both bounds are powers of 2, so they are exact
  // as floats.
  using Wide = std::conditional_t<std::is_same_v<To, int64_t>, int64_t, int32_t>;
  constexpr From kBound = static_cast<From>(uint64_t{1} << (sizeof(Wide) * 8 - 1));
  const bool fits = x >= -kBound && x < kBound;
  const Wide whole = fits ? static_cast<Wide>(x) : std::numeric_limits<Wide>::min();
  return static_cast<To>(whole);
}

template <class To>
struct CastFunction {
  template <class From>
  CAFFE2RT_SIMD_INLINE To operator()(From x) const {
    if constexpr (std::is_same_v<To, bool>) {
      return x != From(0);
    } else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
      return CastFloat<To>(x);
    } else {
      return static_cast<To>(x);
    }
  }
};

template <class... Ts>
struct ElementTypes {};

// The types that Cast converts from, and the numeric types that it converts to.
using CastTypes =
    ElementTypes<float, int32_t, int64_t, double, bool, uint8_t, int8_t, uint16_t, int16_t>;

}  // namespace caffe2rt
