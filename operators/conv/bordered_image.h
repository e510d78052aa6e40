#pragma once
// Copies of one image with a border, in blocks of 16 channels, for kernels that work on vectors of channels and
// read or write beyond the edges of the image.
//
//   const BorderedImage copy{.channels = 32, .height = 8, .width = 8, .rows = 10, .columns = 10, .top = 1, .left = 1};
//   std::fill_n(to, copy.size(), 0.f);                  // the border
//   CopyIntoBorder(copy, /*channels_last=*/false, image, to);
//
// The copy is [channels / 16][rows][columns][16]. All functions are thread safe.

#include <cstdint>

#include "operators/common/channel_planes.h"

namespace caffe2rt {

struct BorderedImage {
  int64_t channels = 0, height = 0, width = 0;  // of the image; channels is a multiple of 16
  int64_t rows = 0, columns = 0;                // of the copy; the image lies inside
  int64_t top = 0, left = 0;                    // where pixel (0, 0) of the image is

  int64_t blocks() const { return channels / kChannelBlock; }
  int64_t row_size() const { return columns * kChannelBlock; }
  int64_t block_size() const { return rows * row_size(); }
  int64_t size() const { return blocks() * block_size(); }
};

// Writes the pixels of the image, [channels][height][width] or, with `channels_last`,
// [height][width][channels]. The border stays as it is.
void CopyIntoBorder(const BorderedImage& copy, bool channels_last, const float* image, float* to);
// The opposite direction: writes the image without the border.
void CopyFromBorder(const BorderedImage& copy, bool channels_last, const float* from, float* image);

}  // namespace caffe2rt
