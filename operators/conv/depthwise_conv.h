#pragma once
// Depthwise convolution of a tensor whose channels are neighbours in memory (channel_planes.h), with
// bias and a clamp of the results fused. Built-in kernel for all instruction sets.
//
//   DepthwiseConv conv{.x = planes, .rows = axis_h, .columns = axis_w};       // once for each shape
//   std::vector<float> prepared(PreparedDepthwiseSize(conv));
//   PrepareDepthwiseFilter(conv, filter, prepared.data());
//   RunDepthwise(conv, x, prepared.data(), bias, y, part);                    // for each part
//
// Every output channel is computed from the input channel of the same number. X and Y have the same
// layout. Kernels of 3 x 3 and 5 x 5 taps with stride 1 or 2 compute tiles of 4 pixels in registers;
// other kernels, strides and dilations use a loop over the taps of each pixel. The padding of the
// last block of nChw16c becomes zero if the prepared filter is used.
//
// Results do not depend on the division into parts. All functions are thread safe; parts may run
// concurrently.

#include <limits>

#include "operators/common/channel_planes.h"
#include "operators/common/window_geometry.h"

namespace caffe2rt {

struct DepthwiseConv {
  ChannelPlanes x;
  WindowAxis rows, columns;  // rows.in is the height of X
  // y = min(max(y, lowest), highest), as in Clip. A NaN stays.
  float lowest = -std::numeric_limits<float>::infinity();
  float highest = std::numeric_limits<float>::infinity();

  // Y, which has the layout of X.
  ChannelPlanes y() const {
    ChannelPlanes planes = x;
    planes.height = rows.out;
    planes.width = columns.out;
    return planes;
  }
  int64_t taps() const { return rows.kernel * columns.kernel; }
};

// The filter in the kernel's layout: [taps][padded channels], with zeros for the padding.
int64_t PreparedDepthwiseSize(const DepthwiseConv& conv);
// `filter` is [channels][1][kernel rows][kernel columns].
void PrepareDepthwiseFilter(const DepthwiseConv& conv, const float* filter, float* prepared);

// Computes a part of Y: rows of Y's planes and a range of the lanes of a pixel (PlanesPartOf).
// `bias` has one float for each channel, or is null. x and y do not overlap.
// REQUIRES: first_lane is a multiple of 16.
void RunDepthwise(const DepthwiseConv& conv, const float* x, const float* prepared,
                  const float* bias, float* y, const PlanesPart& part);

// Computes Y on the threads of the process.
void RunDepthwise(const DepthwiseConv& conv, const float* x, const float* prepared,
                  const float* bias, float* y);

}  // namespace caffe2rt
