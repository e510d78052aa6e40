#pragma once
// The conversion of a floating-point number to an index or a size. Converting a number that the
// integer type cannot represent is undefined, and a GPU then continues with any value: code that
// computes a position as a float calls this function instead of a cast.

#include <cstdint>

#include "caffe2_core/base/host_device.h"

namespace caffe2rt {

// `value` rounded toward 0, but at least `low` and at most `high`; `low` for NaN. REQUIRES:
// `low` <= `high`.
template <class Float>
CAFFE2RT_HOST_DEVICE constexpr int64_t ClampToInt(Float value, int64_t low, int64_t high) {
  if (!(value > static_cast<Float>(low))) return low;
  // If `high` is rounded up to a Float, all values below that are below `high`.
  return value < static_cast<Float>(high) ? static_cast<int64_t>(value) : high;
}

// The same for an index or a size: at least 0.
template <class Float>
CAFFE2RT_HOST_DEVICE constexpr int64_t ClampedIndex(Float value, int64_t most) {
  return ClampToInt(value, 0, most);
}

}  // namespace caffe2rt
