#pragma once
// The quantization of rows of floats to numbers 0 to 255 for ReducedGemm, without vectors. Include it only where
// products and sums are not contracted, as in reduced_tiles.cc, so that all instruction sets round alike.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "operators/primitives/reduced_tiles.h"

namespace caffe2rt {

// Rows with a smaller range are quantized as if they had this one: its inverse is finite.
inline constexpr float kSmallestRange = 1e-30f;

struct RowRange {
  float low = 0, high = 0;
  bool finite = true;
};

inline ReducedRow QuantizationOf(const RowRange& range) {
  if (!range.finite) return {.scale = std::numeric_limits<float>::quiet_NaN(), .zero = 0};
  const float scale = std::max(range.high / 255 - range.low / 255, kSmallestRange / 255);
  return {.scale = scale, .zero = static_cast<int32_t>(std::nearbyint(-range.low / scale))};
}

inline RowRange RangeOfPlain(int64_t k, const float* a, RowRange range) {
  for (int64_t i = 0; i < k; ++i) {
    range.low = std::min(range.low, a[i]);
    range.high = std::max(range.high, a[i]);
    range.finite = range.finite && std::isfinite(a[i]);
  }
  return range;
}

// Without a range, all elements count as 0.
template <class Element>
void QuantizePlain(const ReducedRow& row, int64_t k, const float* a, Element* to) {
  const bool finite = !std::isnan(row.scale);
  const float inverse = finite ? 1 / row.scale : 0;
  for (int64_t i = 0; i < k; ++i) {
    const float q = finite ? std::nearbyint(a[i] * inverse) + static_cast<float>(row.zero) : 0;
    to[i] = static_cast<Element>(std::clamp(q, 0.0f, 255.0f));
  }
}

}  // namespace caffe2rt
