#pragma once
// What a convolution is, in plain numbers. Without protobuf and Tensor, so that .cu files may
// include it.

#include <cstdint>

#include "operators/common/window_geometry.h"

namespace caffe2rt {

// Floats of columns that im2col holds at a time: 1 MiB.
inline constexpr int64_t kColumnBudget = 1 << 18;

// X [batch, in_channels, in...] * filter [out_channels, in_channels / group, kernel...] (NHWC:
// channels last in all three) + bias [out_channels] -> Y. `channels` of the geometry are those of
// X.
struct ConvShape {
  WindowGeometry window;
  int64_t out_channels = 0;
  int64_t group = 1;
  bool bias = false;

  int64_t in_group() const { return window.channels / group; }
  int64_t out_group() const { return out_channels / group; }
  bool channels_last() const { return window.order == StorageOrder::NHWC; }
  // One tap, one step, no padding on every axis: a matrix product.
  bool IsPointwise() const;
  double MultiplyAdds() const;
  bool operator==(const ConvShape&) const = default;
};

// X [batch, in_channels, in_h, in_w] and filter [in_channels, out_channels / group, kernel_h,
// kernel_w] (NHWC: channels last in all) + bias [out_channels] -> Y. `channels` of the geometry are
// those of X.
struct ConvTransposeShape {
  WindowGeometry window;
  int64_t out_channels = 0;
  int64_t group = 1;
  bool bias = false;

  int64_t in_group() const { return window.channels / group; }
  int64_t out_group() const { return out_channels / group; }
  bool channels_last() const { return window.order == StorageOrder::NHWC; }
  bool operator==(const ConvTransposeShape&) const = default;
};

}  // namespace caffe2rt
