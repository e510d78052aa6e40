#pragma once
// The sizes of a convolution as plain numbers. Includes neither protobuf nor Tensor, so that .cu
// files may include it.

#include <cstdint>

#include "operators/common/window_geometry.h"

namespace caffe2rt {

// Number of floats in the column buffer of im2col: 1 MiB.
inline constexpr int64_t kColumnBudget = 1 << 18;

// Y = convolution of X [batch, in_channels, in...] with filter
// [out_channels, in_channels / group, kernel...], plus bias [out_channels] if `bias`. In NHWC the
// channels come last in all three. `window.channels` is in_channels.
struct ConvShape {
  WindowGeometry window;
  int64_t out_channels = 0;
  int64_t group = 1;
  bool bias = false;

  int64_t in_group() const { return window.channels / group; }
  int64_t out_group() const { return out_channels / group; }
  bool channels_last() const { return window.order == StorageOrder::NHWC; }
  // Whether every axis has kernel 1, stride 1 and no padding, so that the convolution is a GEMM.
  bool IsPointwise() const;
  double MultiplyAdds() const;
  bool operator==(const ConvShape&) const = default;
};

// Y = transposed convolution of X [batch, in_channels, in_h, in_w] with filter
// [in_channels, out_channels / group, kernel_h, kernel_w], plus bias [out_channels] if `bias`. In
// NHWC the channels come last in all. `window.channels` is in_channels.
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

#pragma GCC visibility push(default)  // for libcaffe2_cuda
// The operator with the same filter and windows in the other direction, without bias: if `shape`
// maps X to Y, the result maps tensors of Y's shape to tensors of X's shape. It computes the
// gradient of X from that of Y.
ConvTransposeShape Transposed(const ConvShape& shape);
ConvShape Transposed(const ConvTransposeShape& shape);
#pragma GCC visibility pop

}  // namespace caffe2rt
