#pragma once
// The scale arguments of ResizeNearest and UpsampleBilinear.

#include <cstdint>

#include "caffe2_core/graph/argument_spec.h"

namespace caffe2rt {

inline constexpr ArgumentCheck<float> kPositiveScale{[](float scale) { return scale > 0; },
                                                     "above 0"};
inline constexpr ArgumentSpec<float> kWidthScale{"width_scale", 1, "scale factor of the width",
                                                 kPositiveScale};
inline constexpr ArgumentSpec<float> kHeightScale{"height_scale", 1, "scale factor of the height",
                                                  kPositiveScale};

#pragma GCC visibility push(default)  // for libcaffe2_cuda
// Returns trunc(in * scale). THROWS if that is negative or does not fit an int.
int64_t ScaledSize(int64_t in, float scale);
#pragma GCC visibility pop

}  // namespace caffe2rt
