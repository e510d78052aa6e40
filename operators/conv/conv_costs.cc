#include "operators/conv/conv_costs.h"

#include <algorithm>
#include <cmath>

#include "operators/conv/byte_depthwise.h"
#include "operators/conv/onednn_int8.h"

namespace caffe2rt {

namespace {

// Means of two runs of the program conv_costs (tests/benchmarks), which fits the rates to the times of
// the 329 convolutions of image nets in conv_tuning.tsv, on a server processor with AVX-512, two
// cores, and 2 MiB of second-level cache each; for AVX2 on the same machine, with CAFFE2RT_ISA and
// ONEDNN_MAX_CPU_ISA. The overhead is that of an operator in a net.
constexpr double kOverheadUs = 1.5;
constexpr ConvRates kAvx512OneThread = {.flops_per_us = 170e3,
                                        .weight_bytes_per_us = 56e3,
                                        .reorder_bytes_per_us = 13.5e3,
                                        .winograd_flops_per_us = 103e3,
                                        .transform_bytes_per_us = 29e3,
                                        .overhead_us = kOverheadUs};
// Measured with two threads.
constexpr ConvRates kAvx512Threads = {.flops_per_us = 240e3,
                                      .weight_bytes_per_us = 38e3,
                                      .reorder_bytes_per_us = 18e3,
                                      .winograd_flops_per_us = 178e3,
                                      .transform_bytes_per_us = 25e3,
                                      .overhead_us = kOverheadUs};
constexpr ConvRates kAvx2OneThread = {.flops_per_us = 90e3,
                                      .weight_bytes_per_us = 48e3,
                                      .reorder_bytes_per_us = 17e3,
                                      .winograd_flops_per_us = 62e3,
                                      .transform_bytes_per_us = 20e3,
                                      .overhead_us = kOverheadUs};
constexpr ConvRates kAvx2Threads = {.flops_per_us = 133e3,
                                    .weight_bytes_per_us = 58e3,
                                    .reorder_bytes_per_us = 19e3,
                                    .winograd_flops_per_us = 85e3,
                                    .transform_bytes_per_us = 26e3,
                                    .overhead_us = kOverheadUs};

constexpr int64_t kMostImageChannels = 4;

// Whether blocks of 16 channels have little padding: at most 3 % of the channels.
bool FillsBlocks(int64_t channels) {
  const int64_t padding = (16 - channels % 16) % 16;
  return padding * 33 <= channels;
}

bool IsDepthwise(const ConvSize& size) {
  return size.group > 1 && size.in_channels == size.group && size.out_channels == size.group;
}

double Outputs(const ConvSize& size) {
  return static_cast<double>(size.batch) * static_cast<double>(size.out_channels) *
         static_cast<double>(size.out_h) * static_cast<double>(size.out_w);
}

double DirectFlops(const ConvSize& size) {
  return 2 * Outputs(size) * static_cast<double>(size.in_channels / size.group) *
         static_cast<double>(size.kernel_h) * static_cast<double>(size.kernel_w);
}

// The part of the peak that a direct convolution reaches: less with few channels, because vectors
// and registers are not filled, and little if it is depthwise, which is bound by memory.
double DirectEfficiency(const ConvSize& size, ConvMethod method) {
  if (IsDepthwise(size)) return 0.3;
  const double in = static_cast<double>(size.in_channels / size.group);
  const double out = static_cast<double>(size.out_channels / size.group);
  double efficiency = 0.93;
  efficiency *= std::min(1.0, 0.6 + in / 80);
  efficiency *= std::min(1.0, 0.6 + out / 80);
  if (method == ConvMethod::kBlocked && size.kernel_h * size.kernel_w == 1) efficiency *= 0.95;
  return efficiency;
}

double WinogradTiles(const ConvSize& size) {
  return static_cast<double>(size.batch) * static_cast<double>((size.out_h + 3) / 4) *
         static_cast<double>((size.out_w + 3) / 4);
}

}  // namespace

bool ConvMethodFits(const ConvSize& size, ConvMethod method) {
  if (method == ConvMethod::kNhwc) return true;
  if (method == ConvMethod::kBlocked) {
    if (size.group == 1) {
      return FillsBlocks(size.out_channels) &&
             (FillsBlocks(size.in_channels) || BlockedConvReadsNchw(size));
    }
    if (IsDepthwise(size)) return FillsBlocks(size.group);
    return size.in_channels / size.group % 16 == 0 && size.out_channels / size.group % 16 == 0;
  }
  return size.group == 1 && size.in_channels % 16 == 0 && size.out_channels % 16 == 0 &&
         size.kernel_h == 3 && size.kernel_w == 3 && size.stride_h == 1 && size.stride_w == 1 &&
         size.dilation_h == 1 && size.dilation_w == 1;
}

bool BlockedConvReadsNchw(const ConvSize& size) {
  return size.group == 1 && size.in_channels <= kMostImageChannels;
}

double ConvFilterBytes(const ConvSize& size, ConvMethod method) {
  const double taps = method == ConvMethod::kWinograd
                          ? 36
                          : static_cast<double>(size.kernel_h) * static_cast<double>(size.kernel_w);
  return 4 * taps * static_cast<double>(size.in_channels / size.group) *
         static_cast<double>(size.out_channels);
}

double ConvMicroseconds(const ConvSize& size, ConvMethod method, const ConvRates& rates) {
  if (!ConvMethodFits(size, method)) return HUGE_VAL;
  const double weights = ConvFilterBytes(size, method);
  if (method == ConvMethod::kWinograd) {
    // 36 products for each tile of 16 outputs, with the tiles' transformation before and after.
    const double in = static_cast<double>(size.in_channels);
    const double out = static_cast<double>(size.out_channels);
    const double tiles = WinogradTiles(size);
    const double multiply = 2 * 36 * tiles * in * out / rates.winograd_flops_per_us;
    const double transform = 4 * 36 * tiles * (in + out) / rates.transform_bytes_per_us;
    return rates.overhead_us + multiply + transform + weights / rates.weight_bytes_per_us;
  }
  const double compute = DirectFlops(size) / (DirectEfficiency(size, method) * rates.flops_per_us);
  // Weights are read while the core computes, so only what exceeds the computation counts.
  return rates.overhead_us + std::max(compute, weights / rates.weight_bytes_per_us);
}

double Bf16ConvMicroseconds(const ConvSize& size, ConvMethod method, const ConvRates& rates) {
  // The ratio of whole nets in bf16 and f32 by oneDNN on a server processor with AVX512_BF16
  // (ResNet-50 1.77, MobileNetV2 1.75). Weights have half the bytes.
  ConvRates bf16 = rates;
  bf16.flops_per_us *= 1.75;
  bf16.weight_bytes_per_us *= 2;
  return ConvMicroseconds(size, method, bf16);
}

namespace {

// What byte_depthwise.h computes. oneDNN's depthwise convolutions of bytes are slower than those of
// floats.
bool IsByteDepthwise(const ConvSize& size) {
  WindowAxis rows = {}, columns = {};
  rows.kernel = size.kernel_h, columns.kernel = size.kernel_w;
  rows.stride = size.stride_h, columns.stride = size.stride_w;
  rows.dilation = size.dilation_h, columns.dilation = size.dilation_w;
  return IsDepthwise(size) && ByteTilesCover(size.group, rows, columns);
}
// oneDNN's are not used.
bool HasGroupsOfOneChannel(const ConvSize& size) {
  return size.group > 1 && size.in_channels == size.group;
}

}  // namespace

double Int8ConvMicroseconds(const ConvSize& size, ConvMethod method, const ConvRates& rates,
                            double speed) {
  if (speed <= 0 || (HasGroupsOfOneChannel(size) && !IsByteDepthwise(size))) return HUGE_VAL;
  ConvRates int8 = rates;
  int8.flops_per_us *= speed;
  int8.weight_bytes_per_us *= 4;
  return ConvMicroseconds(size, method, int8);
}

double QuantizeMicroseconds(double count, const ConvRates& rates) {
  return 5 * count / (2 * rates.reorder_bytes_per_us);
}

// The speed that the convolutions of SqueezeNet reached, relative to reorders between layouts.
double Bf16ReorderMicroseconds(double count, const ConvRates& rates) {
  return 8 * count / (6 * rates.reorder_bytes_per_us);
}

double ReorderMicroseconds(double count, const ConvRates& rates) {
  return rates.overhead_us + 8 * count / rates.reorder_bytes_per_us;
}

// Without AVX2, nothing was measured; the ratios are taken to be those of AVX2.
const ConvRates& RatesOf(const Machine& machine) {
  if (machine.isa == Isa::kAvx512) return machine.threads > 1 ? kAvx512Threads : kAvx512OneThread;
  return machine.threads > 1 ? kAvx2Threads : kAvx2OneThread;
}

ConvSize SizeOf(const ConvShape& shape) {
  const WindowAxis &h = shape.window.axis[0], &w = shape.window.axis[1];
  return {.batch = shape.window.batch,
          .in_channels = shape.window.channels,
          .out_channels = shape.out_channels,
          .group = shape.group,
          .out_h = h.out,
          .out_w = w.out,
          .kernel_h = h.kernel,
          .kernel_w = w.kernel,
          .stride_h = h.stride,
          .stride_w = w.stride,
          .dilation_h = h.dilation,
          .dilation_w = w.dilation};
}

ConvLayoutTimes EstimateConvLayouts(const ConvSize& size, const Machine& machine,
                                    bool deterministic) {
  const ConvRates& rates = RatesOf(machine);
  const double winograd =
      deterministic ? HUGE_VAL : ConvMicroseconds(size, ConvMethod::kWinograd, rates);
  // oneDNN computes in blocks of 16 channels with AVX-512 only.
  const double blocked =
      machine.isa == Isa::kAvx512 ? ConvMicroseconds(size, ConvMethod::kBlocked, rates) : HUGE_VAL;
  return {.nhwc_us = std::min(ConvMicroseconds(size, ConvMethod::kNhwc, rates), winograd),
          .blocked_us = std::min(blocked, winograd)};
}

// byte_depthwise.h adds no tensor and only clamps its results.
bool HasInt8Conv(const ConvSize& size, const std::string& activation, bool sum) {
  if (!HasGroupsOfOneChannel(size)) return true;
  return IsByteDepthwise(size) && !sum &&
         (activation.empty() || activation == "Relu" || activation == "ReluN" ||
          activation == "Clip");
}

namespace {

// Whether the convolution multiplies one pixel by a small matrix, as in squeeze-and-excitation. That takes no time
// worth saving, and its error scales whole channels: in PP-OCR's text detector, two such convolutions in bytes
// change 1.4 % of the pixels of a line of text.
bool IsGate(const ConvSize& size) {
  constexpr int64_t kMostWeights = 1 << 20;
  return size.out_h == 1 && size.out_w == 1 && size.kernel_h == 1 && size.kernel_w == 1 &&
         size.in_channels * size.out_channels < kMostWeights;
}

}  // namespace

bool Int8ConvPays(const ConvSize& size, const Machine& machine, bool deterministic) {
  if (IsGate(size)) return false;
  const Machine on = deterministic ? Machine::Any() : machine;
  const double us =
      Int8ConvMicroseconds(size, ConvMethod::kNhwc, RatesOf(on), Int8ConvSpeed(deterministic));
  return us < EstimateConvLayouts(size, on, deterministic).nhwc_us;
}

double EstimateReorder(double count, const Machine& machine) {
  return ReorderMicroseconds(count, RatesOf(machine));
}

}  // namespace caffe2rt
