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

}  // namespace

std::vector<OnednnConvChoice> ChooseOnednnConv(const ConvShape& shape,
                                               const OnednnConvOptions& options) {
  using enum OnednnFormat;
  const OnednnConvSize size = SizeOf(shape);
  std::vector<OnednnConvChoice> choices;
  if (options.format == kBlocked16 && OnednnMethodFits(size, OnednnMethod::kBlocked)) {
    choices.push_back({.source = OnednnReadsNchw(size) ? kNchw : kBlocked16, .result = kBlocked16});
  }
  choices.push_back({.source = kNhwc, .result = kNhwc});
  return choices;
}

bool WinogradPays(const ConvShape& shape, OnednnFormat format, int64_t filter_budget_bytes) {
  const OnednnConvSize size = SizeOf(shape);
  if (!OnednnMethodFits(size, OnednnMethod::kWinograd) ||
      OnednnFilterBytes(size, OnednnMethod::kWinograd) > static_cast<double>(filter_budget_bytes)) {
    return false;
  }
  const auto direct = format == OnednnFormat::kNhwc ? OnednnMethod::kNhwc : OnednnMethod::kBlocked;
  return OnednnConvMicroseconds(size, OnednnMethod::kWinograd) <
         0.95 * OnednnConvMicroseconds(size, direct);
}

}  // namespace caffe2rt
