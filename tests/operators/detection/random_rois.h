#pragma once
// Random cases for the pools of regions of interest: small images, bins of odd sizes, and RoIs that
// are inside, outside, at the edge, inverted, or end in the middle between two pixels.

#include <cmath>
#include <vector>

#include "tests/support/operator_test.h"

namespace caffe2rt::test {

struct PoolCase {
  int64_t images = 1, channels = 1, height = 1, width = 1;
  int64_t pooled_h = 1, pooled_w = 1;
  int64_t rois = 1;
  float scale = 1;
};

inline PoolCase RandomPoolCase(uint32_t seed) {
  constexpr float kScales[] = {1, 0.5f, 0.0625f, 0.75f, 2};  // exact in decimal
  const std::vector<float> random = RandomValues(8, 0, 1, seed * 2654435761u);
  const auto below = [&](size_t i, int64_t n) { return static_cast<int64_t>(random[i] * n); };
  return {.images = 1 + below(0, 3),
          .channels = 1 + below(1, 3),
          .height = 1 + below(2, 9),
          .width = 1 + below(3, 11),
          .pooled_h = 1 + below(4, 5),
          .pooled_w = 1 + below(5, 4),
          .rois = 1 + below(6, 7),
          .scale = kScales[below(7, 5)]};
}

// [rois, 5]: image, x1, y1, x2, y2, in units of 1 / scale pixels.
inline std::vector<float> RandomPoolRois(const PoolCase& c, uint32_t seed) {
  const std::vector<float> random = RandomValues(c.rois * 5, 0, 1, seed * 40503u + 7);
  std::vector<float> rois;
  for (size_t r = 0; r < static_cast<size_t>(c.rois); ++r) {
    const float* const at = random.data() + r * 5;
    rois.push_back(std::floor(at[0] * static_cast<float>(c.images)));
    for (size_t i = 1; i < 5; ++i) {
      const float size = static_cast<float>(i % 2 == 1 ? c.width : c.height);
      const float position = (at[i] * 2 - 0.5f) * size;
      // Half of the RoIs have corners at multiples of half a pixel.
      rois.push_back((r % 2 == 0 ? std::round(position * 2) / 2 : position) / c.scale);
    }
  }
  return rois;
}

}  // namespace caffe2rt::test
