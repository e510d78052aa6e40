#pragma once
// Estimated times of convolutions on IDEEP (contexts/onednn) in each layout and algorithm. The engine
// chooses algorithms by them (conv_choice.h), and the graph pass onednn_regions the layouts of whole
// regions (caffe2_core/graph/passes/conv_layouts.h).
//
// The estimates are pure functions of sizes and rates. Only their ratios matter. The rates of each
// machine are in conv_costs.cc; the program conv_costs (tests/benchmarks) measures them.

#include "caffe2_core/graph/passes/conv_layouts.h"
#include "operators/conv/conv_shape.h"

namespace caffe2rt {

// kNhwc and kBlocked are direct convolutions in NHWC and in blocks of 16 channels. kWinograd works
// in either layout.
enum class ConvMethod { kNhwc, kBlocked, kWinograd };

// Of all threads together.
struct ConvRates {
  double flops_per_us = 0;         // of direct convolutions
  double weight_bytes_per_us = 0;  // of weights that do not fit into the second-level cache
  double reorder_bytes_per_us = 0;
  double winograd_flops_per_us = 0;   // of the multiplications of Winograd
  double transform_bytes_per_us = 0;  // of the tiles of Winograd
  double overhead_us = 0;             // of each call
  bool operator==(const ConvRates&) const = default;
};
// The rates of machines with one thread, or with several.
const ConvRates& RatesOf(const Machine& machine);

// REQUIRES: the shape has two axes.
ConvSize SizeOf(const ConvShape& shape);

// Whether the method supports the shape without a reference implementation, and without much
// padding of channels.
bool ConvMethodFits(const ConvSize& size, ConvMethod method);
// Microseconds of the convolution; infinite if the method does not fit. Does not include reorders.
double ConvMicroseconds(const ConvSize& size, ConvMethod method, const ConvRates& rates);
// The same for a direct convolution of bytes, which multiplies `speed` times as fast as one of floats.
double Int8ConvMicroseconds(const ConvSize& size, ConvMethod method, const ConvRates& rates,
                            double speed);
// Microseconds of quantizing `count` floats.
double QuantizeMicroseconds(double count, const ConvRates& rates);
// The same for a direct convolution of bf16 on a machine that multiplies bf16.
double Bf16ConvMicroseconds(const ConvSize& size, ConvMethod method, const ConvRates& rates);
// Microseconds of converting a tensor of `count` elements between float and bf16 in one layout.
double Bf16ReorderMicroseconds(double count, const ConvRates& rates);
// Microseconds of converting a tensor of `count` floats between two layouts.
double ReorderMicroseconds(double count, const ConvRates& rates);
// Bytes of a filter that is prepared for the method.
double ConvFilterBytes(const ConvSize& size, ConvMethod method);

// Winograd is chosen where its time is estimated as less than this part of that of the direct method.
inline constexpr double kWinogradMargin = 0.95;
// The same for Winograd in float against a direct method in bf16. On the processor with AVX512_BF16
// that was measured (Zen 4), the rates overestimate Winograd by a quarter: in SqueezeNet, convolutions
// whose estimates had a ratio of 1.24 to 1.29 took 0.93 to 0.98 of the time in bf16.
inline constexpr double kWinogradMarginOverBf16 = 1.25;

}  // namespace caffe2rt
