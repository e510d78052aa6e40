#include "operators/conv/bordered_image.h"

#include <algorithm>

namespace caffe2rt {

namespace {

constexpr int kFour = 4;
typedef float Four __attribute__((vector_size(16)));
// Four floats in unaligned memory.
struct __attribute__((packed, may_alias)) FourSlot {
  Four lanes;
};
Four Load(const float* x) { return reinterpret_cast<const FourSlot*>(x)->lanes; }
void Store(Four four, float* x) { reinterpret_cast<FourSlot*>(x)->lanes = four; }

// to [4][4] = the transpose of from [4][4], whose rows are `step` and `to_step` floats apart.
void TransposeFour(const float* from, int64_t step, float* to, int64_t to_step) {
  const Four a = Load(from), b = Load(from + step);
  const Four c = Load(from + 2 * step), d = Load(from + 3 * step);
  const Four ab_low = __builtin_shufflevector(a, b, 0, 4, 1, 5);
  const Four ab_high = __builtin_shufflevector(a, b, 2, 6, 3, 7);
  const Four cd_low = __builtin_shufflevector(c, d, 0, 4, 1, 5);
  const Four cd_high = __builtin_shufflevector(c, d, 2, 6, 3, 7);
  Store(__builtin_shufflevector(ab_low, cd_low, 0, 1, 4, 5), to);
  Store(__builtin_shufflevector(ab_low, cd_low, 2, 3, 6, 7), to + to_step);
  Store(__builtin_shufflevector(ab_high, cd_high, 0, 1, 4, 5), to + 2 * to_step);
  Store(__builtin_shufflevector(ab_high, cd_high, 2, 3, 6, 7), to + 3 * to_step);
}

// pixels [width][16] of 16 channels, whose rows are `plane` floats apart.
void RowToPixels(const float* row, int64_t plane, int64_t width, float* pixels) {
  int64_t w = 0;
  for (; w + kFour <= width; w += kFour) {
    for (int64_t c = 0; c < kChannelBlock; c += kFour) {
      TransposeFour(row + c * plane + w, plane, pixels + w * kChannelBlock + c, kChannelBlock);
    }
  }
  for (; w < width; ++w) {
    for (int64_t c = 0; c < kChannelBlock; ++c) pixels[w * kChannelBlock + c] = row[c * plane + w];
  }
}

void PixelsToRow(const float* pixels, int64_t width, float* row, int64_t plane) {
  int64_t w = 0;
  for (; w + kFour <= width; w += kFour) {
    for (int64_t c = 0; c < kChannelBlock; c += kFour) {
      TransposeFour(pixels + w * kChannelBlock + c, kChannelBlock, row + c * plane + w, plane);
    }
  }
  for (; w < width; ++w) {
    for (int64_t c = 0; c < kChannelBlock; ++c) row[c * plane + w] = pixels[w * kChannelBlock + c];
  }
}

// Calls function(offset in the copy, offset in the image) for each block and row.
template <class Function>
void ForEachRow(const BorderedImage& copy, bool channels_last, const Function& function) {
  for (int64_t block = 0; block < copy.blocks(); ++block) {
    const int64_t channel = block * kChannelBlock;
    for (int64_t h = 0; h < copy.height; ++h) {
      const int64_t pixel = h * copy.width;
      function(
          block * copy.block_size() + (copy.top + h) * copy.row_size() + copy.left * kChannelBlock,
          channels_last ? pixel * copy.channels + channel
                        : channel * copy.height * copy.width + pixel);
    }
  }
}

}  // namespace

void CopyIntoBorder(const BorderedImage& copy, bool channels_last, const float* image, float* to) {
  const int64_t plane = copy.height * copy.width;
  ForEachRow(copy, channels_last, [&](int64_t pixels, int64_t row) {
    if (!channels_last) return RowToPixels(image + row, plane, copy.width, to + pixels);
    for (int64_t w = 0; w < copy.width; ++w) {
      std::copy_n(image + row + w * copy.channels, kChannelBlock, to + pixels + w * kChannelBlock);
    }
  });
}

void CopyFromBorder(const BorderedImage& copy, bool channels_last, const float* from,
                    float* image) {
  const int64_t plane = copy.height * copy.width;
  ForEachRow(copy, channels_last, [&](int64_t pixels, int64_t row) {
    if (!channels_last) return PixelsToRow(from + pixels, copy.width, image + row, plane);
    for (int64_t w = 0; w < copy.width; ++w) {
      std::copy_n(from + pixels + w * kChannelBlock, kChannelBlock,
                  image + row + w * copy.channels);
    }
  });
}

}  // namespace caffe2rt
