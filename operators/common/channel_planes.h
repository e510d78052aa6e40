#pragma once
// ChannelPlanes: a float tensor [N, C, H, W] whose channels are neighbours in memory, as plain
// numbers for kernels. It covers two of oneDNN's layouts:
//
//   nhwc      one plane for each image; a pixel holds its C channels
//   nChw16c   one plane for each image and block of 16 channels; a pixel holds the 16 channels of
//             the block. If C is not a multiple of 16, the last block is padded with zeros.
//
// A plane is [height][width][lanes]. Planes follow each other without gaps. A kernel that works on
// vectors of channels thus serves both layouts. The numbers count floats.

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "caffe2_core/base/thread_pool.h"

namespace caffe2rt {

inline constexpr int64_t kChannelBlock = 16;

struct ChannelPlanes {
  int64_t batch = 0, channels = 0, height = 0, width = 0;
  bool blocked = false;  // nChw16c; otherwise nhwc

  int64_t blocks() const { return blocked ? (channels + kChannelBlock - 1) / kChannelBlock : 1; }
  // The contiguous channels of a pixel, and the distance between pixels.
  int64_t lanes() const { return blocked ? kChannelBlock : channels; }
  int64_t pixels() const { return height * width; }
  int64_t plane_size() const { return pixels() * lanes(); }
  int64_t planes() const { return batch * blocks(); }
  int64_t image_size() const { return plane_size() * blocks(); }
  int64_t size() const { return batch * image_size(); }
  // The channels including the padding of the last block.
  int64_t padded_channels() const { return blocks() * lanes(); }

  // The channels of an image as vectors of 16: vector i of a pixel is i * vector_stride() after
  // vector 0. In nhwc the last vector may have less than 16 channels.
  int64_t vectors() const { return (channels + kChannelBlock - 1) / kChannelBlock; }
  int64_t vector_stride() const { return blocked ? plane_size() : kChannelBlock; }

  bool operator==(const ChannelPlanes&) const = default;
};

// A part of a tensor that one thread computes: rows of all planes, numbered from the first row of
// the first plane on, and a range of the lanes of each pixel.
struct PlanesPart {
  int64_t first_row = 0, last_row = 0;
  int64_t first_lane = 0, last_lane = 0;
};

// The number of parts into which work on `planes` is divided. `cost` is the time for one float in
// units of the time to copy it.
inline int CountPlanesParts(const ChannelPlanes& planes, int64_t cost) {
  constexpr int64_t kWorthCutting = 32768;  // about 3 us of copying
  if (planes.size() * cost < kWorthCutting) return 1;
  return GetNumThreads();
}

// Part `i` of `parts`: rows if there are at least as many as parts, otherwise lanes. Ranges of lanes
// begin at multiples of 16. A part may be empty.
inline PlanesPart PlanesPartOf(const ChannelPlanes& planes, int i, int parts) {
  const int64_t rows = planes.planes() * planes.height, lanes = planes.lanes();
  if (rows >= parts) return {rows * i / parts, rows * (i + 1) / parts, 0, lanes};
  const int64_t vectors = (lanes + kChannelBlock - 1) / kChannelBlock;
  return {0, rows, vectors * i / parts * kChannelBlock,
          std::min(vectors * (i + 1) / parts * kChannelBlock, lanes)};
}

// Calls function(part) for the parts of `planes`, on several threads if that pays.
template <class F>
void ForEachPlanesPart(const ChannelPlanes& planes, int64_t cost, const F& function) {
  if (planes.size() == 0) return;
  const int parts = CountPlanesParts(planes, cost);
  if (parts == 1) return function(PlanesPartOf(planes, 0, 1));
  const auto run = [&](int i) { function(PlanesPartOf(planes, i, parts)); };
  ParallelFor(parts, run);
}

// Sets the padding of the last block of each image to zero.
template <class T>
void ClearPadding(const ChannelPlanes& planes, T* y) {
  const int64_t used = planes.channels % kChannelBlock;
  if (!planes.blocked || used == 0) return;
  for (int64_t n = 0; n < planes.batch; ++n) {
    T* pixel = y + (n + 1) * planes.image_size() - planes.plane_size();
    for (int64_t i = 0; i < planes.pixels(); ++i, pixel += kChannelBlock) {
      std::fill(pixel + used, pixel + kChannelBlock, T{});
    }
  }
}

// Into how many ranges ForEachRange divides `count` items of `floats` floats each.
inline int CountRanges(int64_t count, int64_t floats, int64_t cost) {
  const ChannelPlanes line{.batch = 1, .channels = floats, .height = count, .width = 1};
  return static_cast<int>(std::min<int64_t>(CountPlanesParts(line, cost), count));
}

// Calls function(first, last), or function(i, first, last), for ranges [first, last) of `count`
// items, on several threads if that pays; i is the number of the range. `ranges` is CountRanges.
template <class F>
void ForEachOfRanges(int ranges, int64_t count, const F& function) {
  const auto run = [&](int i) {
    const int64_t first = count * i / ranges, last = count * (i + 1) / ranges;
    if constexpr (std::is_invocable_v<F, int, int64_t, int64_t>) {
      function(i, first, last);
    } else {
      function(first, last);
    }
  };
  if (ranges == 1) return run(0);
  ParallelFor(ranges, run);
}
template <class F>
void ForEachRange(int64_t count, int64_t floats, int64_t cost, const F& function) {
  ForEachOfRanges(CountRanges(count, floats, cost), count, function);
}

}  // namespace caffe2rt
