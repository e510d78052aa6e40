#pragma once
// What the engine of convolutions knows about layouts, for the preparation of nets. The model of
// times and the table of timings are in operators/conv, where these functions are defined
// (conv_costs.cc and conv_tuning.cc).

#include <cstdint>
#include <string>

#include "caffe2_core/base/machine.h"

#pragma GCC visibility push(default)
namespace caffe2rt {

// The sizes of a convolution of two axes.
struct ConvSize {
  int64_t batch = 1;
  int64_t in_channels = 0, out_channels = 0, group = 1;
  int64_t out_h = 0, out_w = 0;
  int64_t kernel_h = 1, kernel_w = 1;
  int64_t stride_h = 1, stride_w = 1;
  int64_t dilation_h = 1, dilation_w = 1;
};

// Estimated microseconds of a convolution on IDEEP with X and Y in NHWC, and in blocks of 16
// channels (infinite if that is not supported), by the fastest algorithm, without reorders.
struct ConvLayoutTimes {
  double nhwc_us = 0;
  double blocked_us = 0;
};
// With `deterministic`, the times are those of direct algorithms.
ConvLayoutTimes EstimateConvLayouts(const ConvSize& size, const Machine& machine,
                                    bool deterministic);

// Whether a convolution in blocks reads X in NCHW, because X has few channels, as the image that a
// net begins with.
bool BlockedConvReadsNchw(const ConvSize& size);

// Estimated microseconds of converting a tensor of `count` floats between two layouts.
double EstimateReorder(double count, const Machine& machine);

// Why convolutions on IDEEP cannot be faster in bf16 than in float on this machine; empty if they can.
std::string WhyNoBf16Convs();

// Why convolutions on IDEEP cannot multiply bytes on this machine; empty if they can.
std::string WhyNoInt8Convs();

// Whether this machine adds products of bytes without saturation (VNNI), so that filters may use all bytes.
bool MultipliesWholeBytes();

// Whether a convolution on IDEEP with X in bytes is estimated to be faster than all others of that size, enough
// to be worth its error; with `deterministic`, whatever the machine is.
bool Int8ConvPays(const ConvSize& size, const Machine& machine, bool deterministic);

// Whether there is a kernel for bytes for a convolution of that size with the fused activation of that
// operator type (empty: none), and with an added tensor.
bool HasInt8Conv(const ConvSize& size, const std::string& activation, bool sum);

// Whether the table of timings that is used (base/work_scope.h) wants convolutions in the CPU's plain layouts,
// so that the pass onednn_regions is left out.
bool PrefersPlainConvLayouts();

}  // namespace caffe2rt
#pragma GCC visibility pop
