#pragma once
// Pools of images in NHWC whose elements are bytes or bf16 (as their 16 bits), for images that IDEEP keeps so
// (contexts/onednn). For an image in nChw16c, each block of channels is an image of 16 channels.
//
// X is [N, H, W, C], and so is Y. Padding does not count, except in a mean that includes it. REQUIRES: the
// plan has height and width, or `whole` for one window over each image, and no window lies in the padding
// alone. Results are the same for every number of threads.

#include <cstdint>

#include "contexts/onednn/onednn_quantization.h"
#include "operators/pool/pool_plan.h"

namespace caffe2rt {

// The order of bytes is that of the numbers that they stand for.
void MaxPoolBytes(const PoolPlan& plan, int64_t height, int64_t width, const uint8_t* x,
                  uint8_t* y);
// A NaN is ignored, unless there is nothing else.
void MaxPoolBfloat16s(const PoolPlan& plan, int64_t height, int64_t width, const uint16_t* x,
                      uint16_t* y);

// Means are rounded to the nearest byte or bf16. The sums of bytes are exact for windows of up to 2^23
// elements. `from` and `to` are what the bytes of X and Y stand for.
void MeanPoolBytes(const PoolPlan& plan, int64_t height, int64_t width,
                   const OnednnQuantization& from, const OnednnQuantization& to, const uint8_t* x,
                   uint8_t* y);
void MeanPoolBfloat16s(const PoolPlan& plan, int64_t height, int64_t width, const uint16_t* x,
                       uint16_t* y);

}  // namespace caffe2rt
