#pragma once
// The gradient of pools whose windows are 2 x 2 pixels and lie side by side, the most frequent kind.
// Every element of X belongs to at most one window, so dX is written once, without additions.

#include <algorithm>
#include <cstring>

#include "caffe2_core/base/simd.h"
#include "operators/pool/pool_plan.h"
#include "operators/primitives/lanes.h"

namespace caffe2rt {

// Whether PoolGradientPairs computes the gradient of the plan. Rows and columns after the last
// window are allowed.
inline bool HasPairs(const PoolPlan& plan) {
  const auto pairs = [](const WindowAxis& axis) {
    return axis.kernel == 2 && axis.stride == 2 && axis.pad_head == 0 && 2 * axis.out <= axis.in;
  };
  const WindowAxis& depth = plan.axis[0];
  return !plan.whole && depth.in == 1 && depth.out == 1 && depth.kernel == 1 &&
         depth.pad_head == 0 && pairs(plan.axis[1]) && pairs(plan.axis[2]);
}

// y = x0 x0 x1 x1 x2 ...
inline CAFFE2RT_SIMD_INLINE void RepeatLanes(const math::EightLanes& x, math::Lanes& y) {
  y = __builtin_shufflevector(x, x, 0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7);
}
inline CAFFE2RT_SIMD_INLINE void RepeatLanes(const math::FourLanes& x, math::EightLanes& y) {
  y = __builtin_shufflevector(x, x, 0, 0, 1, 1, 2, 2, 3, 3);
}

// Computes the gradients of planes of NCHW for kMean, the mean, or else the maximum.
template <bool kMean>
struct PoolGradientPairs {
  // As many windows as Half has lanes; their two rows of X are `pitch` floats apart.
  template <class Half, class Wide>
  static CAFFE2RT_SIMD_INLINE void Windows(const float* x, const float* y, const float* dy,
                                           int64_t pitch, float* dx) {
    Half half;
    Wide largest, g, v;
    std::memcpy(&half, dy, sizeof(half));
    RepeatLanes(half, g);
    if constexpr (kMean) {
      g *= 0.25f;
      for (int r = 0; r < 2; ++r) std::memcpy(dx + r * pitch, &g, sizeof(g));
    } else {
      std::memcpy(&half, y, sizeof(half));
      RepeatLanes(half, largest);
      const Wide none = {};
      for (int r = 0; r < 2; ++r) {
        std::memcpy(&v, x + r * pitch, sizeof(v));
        v = v == largest ? g : none;
        std::memcpy(dx + r * pitch, &v, sizeof(v));
      }
    }
  }

  CAFFE2RT_SIMD_INLINE void operator()(const PoolPlan* plan, int64_t planes,
                                       const PoolGradientData* arrays) const {
    const WindowAxis &height = plan->axis[1], &width = plan->axis[2];
    const int64_t W = width.in, out = width.out, rest = W - 2 * out;
    PoolGradientData data = *arrays;
    for (int64_t p = 0; p < planes; ++p) {
      for (int64_t h = 0; h < height.out; ++h) {
        int64_t i = 0;
        for (; i + 8 <= out; i += 8) {
          Windows<math::EightLanes, math::Lanes>(data.x + 2 * i, data.y + i, data.dy + i, W,
                                                 data.dx + 2 * i);
        }
        if (i + 4 <= out) {
          Windows<math::FourLanes, math::EightLanes>(data.x + 2 * i, data.y + i, data.dy + i, W,
                                                     data.dx + 2 * i);
          i += 4;
        }
        for (; i < out; ++i) {
          for (const int64_t at : {2 * i, 2 * i + 1, W + 2 * i, W + 2 * i + 1}) {
            if constexpr (kMean) {
              data.dx[at] = data.dy[i] * 0.25f;
            } else {
              data.dx[at] = data.x[at] == data.y[i] ? data.dy[i] : 0.0f;
            }
          }
        }
        if (rest > 0) {
          std::fill_n(data.dx + 2 * out, rest, 0.0f);
          std::fill_n(data.dx + W + 2 * out, rest, 0.0f);
        }
        data.x += 2 * W;
        data.dx += 2 * W;
        data.y += out;
        data.dy += out;
      }
      const int64_t left = (height.in - 2 * height.out) * W;
      if (left > 0) std::fill_n(data.dx, left, 0.0f);
      data.x += left;
      data.dx += left;
    }
  }
};

}  // namespace caffe2rt
