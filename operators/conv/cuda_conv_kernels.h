#pragma once
// The native CUDA kernels for convolutions (conv.cu, conv_gradient.cu, conv_transpose.cu,
// padded_input.cu).

#include <algorithm>

#include "operators/conv/conv_shape.h"

namespace caffe2rt {

class CUDAContext;

// The gradient of the filter of a convolution, from X and dY, and that of X, from dY and the filter.
struct ConvFilterGradientShape {
  ConvShape conv;
  bool operator==(const ConvFilterGradientShape&) const = default;
};
struct ConvDataGradientShape {
  ConvShape conv;
  bool operator==(const ConvDataGradientShape&) const = default;
};

// Supports all arguments. `bias` may be null. REQUIRES: Y is not empty.
void RunNative(CUDAContext& context, const ConvShape& shape, const float* x, const float* filter,
               const float* bias, float* y);
void RunNative(CUDAContext& context, const ConvTransposeShape& shape, const float* x,
               const float* filter, const float* bias, float* y);

// `bias` is ignored.
void RunNative(CUDAContext& context, const ConvFilterGradientShape& shape, const float* x,
               const float* dy, const float* bias, float* dfilter);
void RunNative(CUDAContext& context, const ConvDataGradientShape& shape, const float* dy,
               const float* filter, const float* bias, float* dx);

// The sums over the images and pixels of x [batch, channels, size], or [batch, size, channels] if
// `last`.
struct ChannelSums {
  bool last;
  int64_t batch, channels, size;
  const float* x;
};
// The number of pieces into which each channel is divided.
inline int64_t ChannelPieces(const ChannelSums& sums) {
  constexpr int64_t kLeastPiece = 4096, kMostPieces = 64;
  return std::clamp<int64_t>(sums.batch * sums.size / kLeastPiece, 1, kMostPieces);
}
// y [channels]; `scratch` has channels * ChannelPieces(sums) floats.
void SumChannels(CUDAContext& context, const ChannelSums& sums, float* scratch, float* y);

// Copies X of geometry `from` to Y, the X of geometry `to`, with the padding as elements: each axis
// of `to` begins pad_head elements before that of `from`, and elements outside `from` are zero.
// `to` has no padding. REQUIRES: at most 3 axes.
void CopyPadded(CUDAContext& context, const WindowGeometry& from, const WindowGeometry& to,
                const float* x, float* y);

}  // namespace caffe2rt
