#pragma once
// Sizes of windows that slide over spatial axes, as plain values. This header includes neither
// protobuf nor Tensor, so .cu files may include it; conv_geometry.h computes the values from
// arguments and a shape. Const member functions are thread safe.

#include <array>
#include <cstdint>
#include <vector>

#include "caffe2_core/base/storage_order.h"

namespace caffe2rt {

// One spatial axis. It has `out` windows; the first starts at -pad_head, and they are `stride`
// apart. Tap i of a window is i * dilation after the window's start.
struct WindowAxis {
  int64_t in = 1;
  int64_t out = 1;
  int64_t kernel = 1;
  int64_t stride = 1;
  int64_t dilation = 1;
  int64_t pad_head = 0;  // negative pads crop
  int64_t pad_tail = 0;
  int64_t adj = 0;

  int64_t extent() const { return dilation * (kernel - 1) + 1; }
  bool operator==(const WindowAxis&) const = default;
};

inline constexpr int kMaxWindowAxes = 8;

struct [[gnu::visibility("default")]] WindowGeometry {
  StorageOrder order = StorageOrder::NCHW;
  int axes = 0;
  int64_t batch = 0;
  int64_t channels = 0;
  std::array<WindowAxis, kMaxWindowAxes> axis;  // outermost first: [h, w] for an image

  // Products over the axes. THROW on overflow.
  int64_t in_size() const;
  int64_t out_size() const;
  int64_t kernel_size() const;
  // [batch, out_channels, out...] in NCHW, [batch, out..., out_channels] in NHWC.
  std::vector<int64_t> OutputDims(int64_t out_channels) const;
  bool operator==(const WindowGeometry&) const = default;
};

}  // namespace caffe2rt
