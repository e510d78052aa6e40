#pragma once
// Blocks of kLanes channels: the channels of a pixel are contiguous, so that a kernel computes them
// with vectors whatever the order of the data is.

#include <cstdint>

#include "operators/primitives/lanes.h"

namespace caffe2rt {

// A part of an image in NCHW or NHWC order: its channels [channel, channel + count) in the rows
// [top, bottom) and columns [left, right).
struct ChannelBlock {
  int64_t channels = 0, height = 0, width = 0;  // of the image
  bool last = false;                            // NHWC
  int64_t channel = 0, count = 0;
  int64_t top = 0, bottom = 0, left = 0, right = 0;

  int64_t pixels() const { return (bottom - top) * (right - left); }
};

// Copies a part of the image to `block`, which has kLanes floats for each pixel. Lanes without a
// channel are set to 0.
void GatherBlock(const ChannelBlock& part, const float* image, float* block);
// Copies `block` to the image. Lanes without a channel are ignored.
void ScatterBlock(const ChannelBlock& part, const float* block, float* image);

}  // namespace caffe2rt
