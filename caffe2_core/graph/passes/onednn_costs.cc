#include "caffe2_core/graph/passes/onednn_costs.h"

#include <algorithm>
#include <cmath>

namespace caffe2rt {

namespace {

constexpr double kFlopsPerUs = 250e3;  // of one core
constexpr double kBytesPerUs = 40e3;   // of weights that do not fit into the second-level cache
constexpr double kReorderBytesPerUs = 20e3;
constexpr double kTransformBytesPerUs = 20e3;  // of Winograd's tiles
constexpr double kOverheadUs = 1.5;

constexpr int64_t kMostImageChannels = 4;

// Whether blocks of 16 channels have little padding: at most 3 % of the channels.
bool FillsBlocks(int64_t channels) {
  const int64_t padding = (16 - channels % 16) % 16;
  return padding * 33 <= channels;
}

bool IsDepthwise(const OnednnConvSize& size) {
  return size.group > 1 && size.in_channels == size.group && size.out_channels == size.group;
}

double Outputs(const OnednnConvSize& size) {
  return static_cast<double>(size.batch) * static_cast<double>(size.out_channels) *
         static_cast<double>(size.out_h) * static_cast<double>(size.out_w);
}

double DirectFlops(const OnednnConvSize& size) {
  return 2 * Outputs(size) * static_cast<double>(size.in_channels / size.group) *
         static_cast<double>(size.kernel_h) * static_cast<double>(size.kernel_w);
}

// The part of the peak that a direct convolution reaches: less with few channels, because vectors
// and registers are not filled, and little if it is depthwise, which is bound by memory.
double DirectEfficiency(const OnednnConvSize& size, OnednnMethod method) {
  if (IsDepthwise(size)) return 0.3;
  const double in = static_cast<double>(size.in_channels / size.group);
  const double out = static_cast<double>(size.out_channels / size.group);
  double efficiency = 0.93;
  efficiency *= std::min(1.0, 0.6 + in / 80);
  efficiency *= std::min(1.0, 0.6 + out / 80);
  if (method == OnednnMethod::kBlocked && size.kernel_h * size.kernel_w == 1) efficiency *= 0.95;
  return efficiency;
}

double WinogradTiles(const OnednnConvSize& size) {
  return static_cast<double>(size.batch) * static_cast<double>((size.out_h + 3) / 4) *
         static_cast<double>((size.out_w + 3) / 4);
}

}  // namespace

bool OnednnMethodFits(const OnednnConvSize& size, OnednnMethod method) {
  if (method == OnednnMethod::kNhwc) return true;
  if (method == OnednnMethod::kBlocked) {
    if (size.group == 1) {
      return FillsBlocks(size.out_channels) &&
             (FillsBlocks(size.in_channels) || OnednnReadsNchw(size));
    }
    if (IsDepthwise(size)) return FillsBlocks(size.group);
    return size.in_channels / size.group % 16 == 0 && size.out_channels / size.group % 16 == 0;
  }
  return size.group == 1 && size.in_channels % 16 == 0 && size.out_channels % 16 == 0 &&
         size.kernel_h == 3 && size.kernel_w == 3 && size.stride_h == 1 && size.stride_w == 1 &&
         size.dilation_h == 1 && size.dilation_w == 1;
}

bool OnednnReadsNchw(const OnednnConvSize& size) {
  return size.group == 1 && size.in_channels <= kMostImageChannels;
}

double OnednnFilterBytes(const OnednnConvSize& size, OnednnMethod method) {
  const double taps = method == OnednnMethod::kWinograd
                          ? 36
                          : static_cast<double>(size.kernel_h) * static_cast<double>(size.kernel_w);
  return 4 * taps * static_cast<double>(size.in_channels / size.group) *
         static_cast<double>(size.out_channels);
}

double OnednnConvMicroseconds(const OnednnConvSize& size, OnednnMethod method) {
  if (!OnednnMethodFits(size, method)) return HUGE_VAL;
  const double weights = OnednnFilterBytes(size, method);
  if (method == OnednnMethod::kWinograd) {
    // 36 products for each tile of 16 outputs, with the tiles' transformation before and after.
    const double in = static_cast<double>(size.in_channels);
    const double out = static_cast<double>(size.out_channels);
    const double tiles = WinogradTiles(size);
    const double multiply = 2 * 36 * tiles * in * out / (0.8 * kFlopsPerUs);
    const double transform = 4 * 36 * tiles * (in + out) / kTransformBytesPerUs;
    return kOverheadUs + multiply + transform + weights / kBytesPerUs;
  }
  const double compute = DirectFlops(size) / (DirectEfficiency(size, method) * kFlopsPerUs);
  // Weights are read while the core computes, so only what exceeds the computation counts.
  return kOverheadUs + std::max(compute, weights / kBytesPerUs);
}

double OnednnReorderMicroseconds(double count) {
  return kOverheadUs + 8 * count / kReorderBytesPerUs;
}

}  // namespace caffe2rt
