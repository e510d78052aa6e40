#pragma once
// The inner loops of byte_depthwise.h: tiles of neighbouring output pixels of one row times one vector of
// channels, in vector registers.
//
// For each row of taps, the bytes of four neighbouring columns of X are interleaved, so that four taps of a
// channel are neighbours, and multiplied and added by one instruction (vpdpbusd, or with AVX2 the three that
// do the same). The interleaved bytes serve all pixels of the tile: each has its own weights, with zeros
// where a column is not under its window.

#include <cstdint>

namespace caffe2rt {

// In what Y is kept.
enum class ByteResult { kFloats, kBfloat16s, kBytes };

// Interleaving keeps each 16 bytes apart: vector `i` of the four that make up `lanes` channels holds, at
// 32-bit number `e`, channel ByteTileChannel(i, e).
constexpr int64_t ByteTileChannel(int64_t vector, int64_t element) {
  return element / 4 * 16 + vector * 4 + element % 4;
}

// Groups of four columns that a tile of `pixels` reads, and whether group `group` has taps of `pixel`.
constexpr int ByteTileColumns(int kernel, int stride, int pixels) {
  return (pixels - 1) * stride + kernel;
}
constexpr int ByteTileGroups(int kernel, int stride, int pixels) {
  return (ByteTileColumns(kernel, stride, pixels) + 3) / 4;
}
constexpr bool ByteTileUses(int kernel, int stride, int group, int pixel) {
  return 4 * group + 3 >= pixel * stride && 4 * group < pixel * stride + kernel;
}

// Tiles of one row of Y that follow each other, for one vector of channels.
struct ByteTiles {
  // For each row of taps, the first column of X under the first tile, and the bytes between columns. Or,
  // for a tile at a border, the columns of all rows of taps.
  const uint8_t* const* columns = nullptr;
  const int64_t* steps = nullptr;  // null at a border, where there is one tile
  int64_t channel = 0;             // offset of the channels from those pointers
  int64_t count = 0;               // tiles
  // [rows of taps][groups][pixels that use them][4 vectors]
  const int8_t* weights = nullptr;
  // y = sum * factor + offset, then clamped, of [4 vectors].
  const float *factors = nullptr, *offsets = nullptr;
  float lowest = 0, highest = 0;
  int32_t zero_point = 0;  // added to bytes
  char* y = nullptr;       // the channels of the first pixel
  int64_t y_pixel = 0;     // bytes between pixels
};
using RunByteTiles = void(const ByteTiles& tiles);

// The most channels of a vector on this machine: 64, 32, or 0 without AVX2. 16 is available as well, and
// 32 if 64 is.
int64_t ByteTileLanes();
// Windows of `kernel` x `kernel` with 3 or 5 taps, stride 1 or 2; 2 pixels with stride 1, or 1.
// REQUIRES: `lanes` is available.
RunByteTiles* FindByteTiles(int64_t lanes, int64_t kernel, int64_t stride, int pixels,
                            ByteResult result, bool border);

}  // namespace caffe2rt
