#pragma once
// 3 x 3 convolution with stride 1 by Winograd's algorithm F(4 x 4, 3 x 3), of a tensor whose channels
// are neighbours in memory (channel_planes.h), with bias, an added tensor and a clamp of the results
// fused. Built-in kernel for all instruction sets.
//
//   WinogradConv conv{.x = planes, .out_channels = 64, ...};          // once for each shape
//   std::vector<float> prepared(PreparedWinogradSize(conv));
//   PrepareWinogradFilter(conv, filter, prepared.data());
//   std::vector<float> scratch(WinogradScratchSize(conv, GetNumThreads()));
//   RunWinograd(conv, x, prepared.data(), bias, y, GetNumThreads(), scratch.data());
//
// A tile of 4 x 4 results is computed from 6 x 6 inputs by 36 multiplications for each pair of an
// input and an output channel, where the direct method needs 144. Rounding errors are larger than
// those of the direct method: the interpolation points 0, +-sqrt(1/2), +-sqrt(2) and infinity keep
// them below 1e-5 of the largest result in practice.
//
// Source: A. Lavin, S. Gray, Fast Algorithms for Convolutional Neural Networks, 2015.
//
// All functions are thread safe.

#include <limits>

#include "operators/common/channel_planes.h"

namespace caffe2rt {

struct WinogradConv {
  ChannelPlanes x;
  int64_t out_channels = 0;
  int64_t out_height = 0, out_width = 0;
  int64_t pad_top = 0, pad_left = 0;  // rows and columns of zeros before X; those after it follow
  // y = min(max(y, lowest), highest), as in Clip. A NaN stays.
  float lowest = -std::numeric_limits<float>::infinity();
  float highest = std::numeric_limits<float>::infinity();
  // Whether the values that Y has before are added.
  bool sum = false;

  // Y, which has the layout of X.
  ChannelPlanes y() const {
    ChannelPlanes planes = x;
    planes.channels = out_channels;
    planes.height = out_height;
    planes.width = out_width;
    return planes;
  }
};

// Whether the kernel supports these numbers of channels: multiples of 16.
bool WinogradSupports(int64_t in_channels, int64_t out_channels);

// The prepared filter: 36 packed matrices (packed_gemm.h) of [in_channels, out_channels].
// THROWS if the size overflows.
int64_t PreparedWinogradSize(const WinogradConv& conv);
// `filter` is [out_channels][in_channels][3][3].
void PrepareWinogradFilter(const WinogradConv& conv, const float* filter, float* prepared);

// The scratch memory of RunWinograd in floats. THROWS if the size overflows.
int64_t WinogradScratchSize(const WinogradConv& conv, int threads);
// Computes Y on at most `threads` threads of the process. `bias` has one float for each output
// channel, or is null. x and y do not overlap. REQUIRES: WinogradSupports the channels; x, y and
// scratch are aligned to 64 bytes.
void RunWinograd(const WinogradConv& conv, const float* x, const float* prepared, const float* bias,
                 float* y, int threads, float* scratch);

}  // namespace caffe2rt
