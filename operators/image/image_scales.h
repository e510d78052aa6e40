#pragma once
// What ResizeNearest, UpsampleBilinear and their gradients share: the scale arguments and checks.

#include <cstdint>

#include "caffe2_core/base/array_ref.h"
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

// Checks dY, input 0, and X, input 1, of a gradient: both have rank 4, and the same batch and
// channels. The height is dimension `height`, the width the next one. THROWS.
void CheckScaledGradient(IntArrayRef dy, IntArrayRef x, int height);
#pragma GCC visibility pop

}  // namespace caffe2rt
