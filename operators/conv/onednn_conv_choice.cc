// The choice of layout and algorithm for a convolution on IDEEP.
#include "caffe2_core/graph/passes/onednn_costs.h"
#include "operators/conv/onednn_conv_plan.h"

namespace caffe2rt {

namespace {

OnednnConvSize SizeOf(const ConvShape& shape) {
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

// Winograd in blocks of 16 channels. In NHWC, the conversions of X and Y are part of its cost.
bool WinogradPays(const ConvShape& shape, const OnednnConvSize& size,
                  const OnednnConvOptions& options) {
  if (options.direct_only || !OnednnMethodFits(size, OnednnMethod::kWinograd) ||
      OnednnFilterBytes(size, OnednnMethod::kWinograd) >
          static_cast<double>(options.filter_budget_bytes)) {
    return false;
  }
  const bool last = options.format == OnednnFormat::kNhwc;
  double winograd = OnednnConvMicroseconds(size, OnednnMethod::kWinograd);
  if (last) {
    const double in = static_cast<double>(shape.window.batch * shape.window.channels) *
                      static_cast<double>(shape.window.in_size());
    const double out = static_cast<double>(shape.window.batch * shape.out_channels) *
                       static_cast<double>(shape.window.out_size());
    winograd += OnednnReorderMicroseconds(in) + OnednnReorderMicroseconds(out);
  }
  const auto direct = last ? OnednnMethod::kNhwc : OnednnMethod::kBlocked;
  return winograd < 0.95 * OnednnConvMicroseconds(size, direct);
}

}  // namespace

std::vector<OnednnConvChoice> ChooseOnednnConv(const ConvShape& shape,
                                               const OnednnConvOptions& options) {
  using enum OnednnFormat;
  const OnednnConvSize size = SizeOf(shape);
  std::vector<OnednnConvChoice> choices;
  const bool blocked = options.format == kBlocked16;
  if (WinogradPays(shape, size, options)) {
    choices.push_back({.winograd = true,
                       .source = kBlocked16,
                       .compute = kBlocked16,
                       .result = blocked ? kBlocked16 : kNhwc});
  }
  if (blocked && OnednnMethodFits(size, OnednnMethod::kBlocked)) {
    choices.push_back({.winograd = false,
                       .source = OnednnReadsNchw(size) ? kNchw : kBlocked16,
                       .compute = kBlocked16,
                       .result = kBlocked16});
  }
  choices.push_back({.winograd = false, .source = kNhwc, .compute = kNhwc, .result = kNhwc});
  return choices;
}

}  // namespace caffe2rt
