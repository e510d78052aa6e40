#pragma once
// Max pools of bytes in NHWC, for images that IDEEP keeps in bytes (contexts/onednn). The order of bytes is
// that of the numbers that they stand for.

#include <cstdint>

#include "operators/pool/pool_plan.h"

namespace caffe2rt {

// X is [N, H, W, C], and so is Y. Padding does not count. REQUIRES: the plan has height and width, or
// `whole` for one window over each image, and no window lies in the padding alone.
void MaxPoolBytes(const PoolPlan& plan, int64_t height, int64_t width, const uint8_t* x,
                  uint8_t* y);

}  // namespace caffe2rt
