#pragma once
// What the integers of a reduced tensor (onednn_tensor.h) stand for.

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace caffe2rt {

// x = (q - zero_point) * scale.
struct OnednnQuantization {
  float scale = 1;
  int32_t zero_point = 0;
  bool operator==(const OnednnQuantization&) const = default;
};

// The bytes 0 to 255 for the numbers of a range, which is extended to contain 0: 0 is represented
// exactly. The scale of an empty range is 1.
inline OnednnQuantization QuantizationOfRange(float min, float max) {
  min = std::min(min, 0.0f);
  max = std::max(max, 0.0f);
  const float scale = max / 255 - min / 255;  // without overflow
  if (!(scale > 0) || !std::isfinite(scale)) return {};
  return {.scale = scale, .zero_point = static_cast<int32_t>(std::nearbyint(-min / scale))};
}

}  // namespace caffe2rt
