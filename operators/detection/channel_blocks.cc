#include "operators/detection/channel_blocks.h"

#include <algorithm>

namespace caffe2rt {

using math::kLanes;

namespace {

// A full block of a row in NCHW order; the loop over the channels has a constant length.
void GatherRow(const float* x, int64_t plane, int64_t n, float* block) {
  for (int64_t w = 0; w < n; ++w, block += kLanes) {
    for (int c = 0; c < kLanes; ++c) block[c] = x[c * plane + w];
  }
}

}  // namespace

void GatherBlock(const ChannelBlock& part, const float* image, float* block) {
  const int64_t columns = part.right - part.left, plane = part.height * part.width;
  for (int64_t h = part.top; h < part.bottom; ++h, block += columns * kLanes) {
    const int64_t pixel = h * part.width + part.left;
    if (part.count == kLanes && !part.last) {
      GatherRow(image + part.channel * plane + pixel, plane, columns, block);
      continue;
    }
    for (int64_t w = 0; w < columns; ++w) {
      float* const lanes = block + w * kLanes;
      for (int64_t c = 0; c < part.count; ++c) {
        lanes[c] = part.last ? image[(pixel + w) * part.channels + part.channel + c]
                             : image[(part.channel + c) * plane + pixel + w];
      }
      std::fill(lanes + part.count, lanes + kLanes, 0.0f);
    }
  }
}

void ScatterBlock(const ChannelBlock& part, const float* block, float* image) {
  const int64_t columns = part.right - part.left, plane = part.height * part.width;
  for (int64_t c = 0; c < part.count; ++c) {
    const float* from = block + c;
    for (int64_t h = part.top; h < part.bottom; ++h, from += columns * kLanes) {
      const int64_t pixel = h * part.width + part.left;
      if (part.last) {
        float* const to = image + pixel * part.channels + part.channel + c;
        for (int64_t w = 0; w < columns; ++w) to[w * part.channels] = from[w * kLanes];
      } else {
        float* const to = image + (part.channel + c) * plane + pixel;
        for (int64_t w = 0; w < columns; ++w) to[w] = from[w * kLanes];
      }
    }
  }
}

}  // namespace caffe2rt
