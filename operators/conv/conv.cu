// Conv, Conv1D, Conv2D, Conv3D on CUDA: the native kernel, for any arguments.

#include <algorithm>

#include "contexts/cuda/cuda_kernel.cuh"
#include "operators/conv/cuda_conv_kernels.h"

namespace caffe2rt {

namespace {

// A thread computes kTile output channels of one group at one output pixel: the sums over the input
// channels of the group and the taps inside X. Each value of X that it loads is used for all kTile
// channels.
template <int kTile>
struct ConvTile {
  int axes;  // at least 3; leading axes of size 1 are added
  WindowAxis axis[kMaxWindowAxes];
  int64_t channels, out_channels, in_group, out_group;
  int64_t in_size, taps, lead_taps;  // lead_taps: taps of the axes before the last three
  bool last;
  const float* x;
  const float* filter;
  const float* bias;
  float* y;

  // The taps of an axis that lie inside X if the window starts at `start`: [first, last).
  struct Taps {
    int64_t first = 0, last = 0;
  };
  static CAFFE2RT_HOST_DEVICE Taps Inside(const WindowAxis& a, int64_t start) {
    if (a.dilation == 0) return {0, start >= 0 && start < a.in ? a.kernel : 0};
    const int64_t first = start >= 0 ? 0 : (-start + a.dilation - 1) / a.dilation;
    const int64_t end = start < a.in ? (a.in - 1 - start) / a.dilation + 1 : 0;
    return {first, end < a.kernel ? end : a.kernel};
  }

  // Adds to total[t] the products of `depth` contiguous channels and the taps of the last three
  // axes. `x_base` and `filter_base` are the flat indices over the axes before them; `start` and
  // `inside` belong to the last three. next[t] is the offset of the filter of channel t.
  CAFFE2RT_HOST_DEVICE void Add(const float* from, const float* by, int64_t depth, int64_t x_base,
                                int64_t filter_base, const int64_t* start, const Taps* inside,
                                const int64_t* next, float* total) const {
    const WindowAxis &d = axis[axes - 3], &h = axis[axes - 2], &w = axis[axes - 1];
    const int64_t pixel = last ? channels : 1;
    float sum[kTile] = {};
    for (int64_t i = inside[0].first; i < inside[0].last; ++i) {
      const int64_t plane = x_base * d.in + start[0] + i * d.dilation;
      for (int64_t j = inside[1].first; j < inside[1].last; ++j) {
        const int64_t row = (plane * h.in + start[1] + j * h.dilation) * w.in + start[2];
        const int64_t filter_row = ((filter_base * d.kernel + i) * h.kernel + j) * w.kernel;
        for (int64_t k = inside[2].first; k < inside[2].last; ++k) {
          const float* const a = from + (row + k * w.dilation) * pixel;
          const float* const b = by + (filter_row + k) * depth;
          for (int64_t c = 0; c < depth; ++c) {
            for (int t = 0; t < kTile; ++t) sum[t] += a[c] * b[next[t] + c];
          }
        }
      }
    }
    for (int t = 0; t < kTile; ++t) total[t] += sum[t];
  }

  CAFFE2RT_HOST_DEVICE void operator()(int64_t index) const {
    const int64_t group_tiles = (out_group + kTile - 1) / kTile;
    const int64_t tiles = out_channels / out_group * group_tiles;
    int64_t rest = index, tile = 0, start[kMaxWindowAxes];
    if (last) {
      tile = rest % tiles;
      rest /= tiles;
    }
    int64_t pixel = 0, pixels = 1;
    for (int a = axes - 1; a >= 0; --a) {
      const int64_t at = rest % axis[a].out;
      rest /= axis[a].out;
      start[a] = at * axis[a].stride - axis[a].pad_head;
      pixel += at * pixels;
      pixels *= axis[a].out;
    }
    if (!last) {
      tile = rest % tiles;
      rest /= tiles;
    }
    // Channels past the end of the group are computed with the filter of the first channel and not
    // stored.
    const int64_t group = tile / group_tiles, first = tile % group_tiles * kTile;
    const int64_t m = group * out_group + first;
    int64_t next[kTile];
    for (int t = 0; t < kTile; ++t) next[t] = first + t < out_group ? t * in_group * taps : 0;
    float total[kTile] = {};
    AddAll(x + rest * channels * in_size + group * in_group * (last ? 1 : in_size),
           filter + m * in_group * taps, start, next, total);
    float* const to =
        y + rest * out_channels * pixels + (last ? pixel * out_channels + m : m * pixels + pixel);
    for (int t = 0; t < kTile && first + t < out_group; ++t) {
      to[t * (last ? 1 : pixels)] = bias != nullptr ? total[t] + bias[m + t] : total[t];
    }
  }

  // Calls Add for each channel, or once for all of them in NHWC, and for each tap of the axes
  // before the last three.
  CAFFE2RT_HOST_DEVICE void AddAll(const float* from, const float* by, const int64_t* start,
                                   const int64_t* next, float* total) const {
    const int lead = axes - 3;
    Taps inside[3];
    for (int a = 0; a < 3; ++a) inside[a] = Inside(axis[lead + a], start[lead + a]);
    for (int64_t tap = 0; tap < lead_taps; ++tap) {
      int64_t base = 0, left = tap, divisor = lead_taps;
      bool meets = true;
      for (int a = 0; a < lead; ++a) {
        divisor /= axis[a].kernel;
        const int64_t at = start[a] + left / divisor * axis[a].dilation;
        left %= divisor;
        meets = meets && at >= 0 && at < axis[a].in;
        base = base * axis[a].in + at;
      }
      if (!meets) continue;
      const int64_t runs = last ? 1 : in_group, depth = last ? in_group : 1;
      for (int64_t c = 0; c < runs; ++c) {
        Add(from + c * in_size, by + c * taps, depth, base, tap, start + lead, inside, next, total);
      }
    }
  }
};

template <int kTile>
void RunTiles(CUDAContext& context, const ConvShape& shape, const float* x, const float* filter,
              const float* bias, float* y) {
  const WindowGeometry& window = shape.window;
  ConvTile<kTile> tile = {};
  tile.axes = std::max(window.axes, 3);
  tile.lead_taps = 1;
  for (int i = 0; i < tile.axes; ++i) {
    const int from = i - (tile.axes - window.axes);
    tile.axis[i] = from < 0 ? WindowAxis() : window.axis[static_cast<size_t>(from)];
    if (i < tile.axes - 3) tile.lead_taps *= tile.axis[i].kernel;
  }
  tile.channels = window.channels;
  tile.out_channels = shape.out_channels;
  tile.in_group = shape.in_group();
  tile.out_group = shape.out_group();
  tile.in_size = window.in_size();
  tile.taps = window.kernel_size();
  tile.last = shape.channels_last();
  tile.x = x;
  tile.filter = filter;
  tile.bias = bias;
  tile.y = y;
  const int64_t group_tiles = (tile.out_group + kTile - 1) / kTile;
  ForEach(context, window.batch * shape.group * group_tiles * window.out_size(), tile, "Conv");
}

}  // namespace

void RunNative(CUDAContext& context, const ConvShape& shape, const float* x, const float* filter,
               const float* bias, float* y) {
  if (shape.out_group() < 3) {
    RunTiles<1>(context, shape, x, filter, bias, y);
  } else {
    RunTiles<4>(context, shape, x, filter, bias, y);
  }
}

}  // namespace caffe2rt
