#include "operators/conv/onednn_depthwise.h"

#include "caffe2_core/base/isa.h"

namespace caffe2rt {

namespace {

// Whether the kernel is faster than oneDNN's.
bool Pays(const ConvShape& shape) {
  const WindowAxis &rows = shape.window.axis[0], &columns = shape.window.axis[1];
  const bool depthwise = shape.group > 1 && shape.in_group() == 1 && shape.out_group() == 1;
  const bool square = rows.kernel == columns.kernel && rows.stride == columns.stride;
  const bool tiles = (rows.kernel == 3 || rows.kernel == 5) && rows.stride <= 2 &&
                     rows.dilation == 1 && columns.dilation == 1;
  return CpuIsa() == Isa::kAvx512 && depthwise && square && tiles;
}

}  // namespace

std::unique_ptr<OnednnDepthwise> OnednnDepthwise::New(const ConvShape& shape,
                                                      const ConvEpilogue& epilogue,
                                                      OnednnFormat format, const Tensor& X) {
  // The operators that follow could not use padded blocks.
  if (shape.window.channels % kChannelBlock != 0) format = OnednnFormat::kNhwc;
  DepthwiseConv conv{.x = PlanesIn(format, X.dims()),
                     .rows = shape.window.axis[0],
                     .columns = shape.window.axis[1]};
  if (!Pays(shape) || epilogue.sum || !SetBounds(epilogue, &conv.lowest, &conv.highest)) {
    return nullptr;
  }
  return std::unique_ptr<OnednnDepthwise>(new OnednnDepthwise(conv, X));
}

OnednnDepthwise::OnednnDepthwise(const DepthwiseConv& conv, const Tensor& X)
    : conv_(conv),
      layout_(LayoutOf(conv.y())),
      prepared_(MakeString("depthwise_conv ", conv.rows.kernel, "x", conv.columns.kernel, "x",
                           conv.x.padded_channels()),
                PreparedDepthwiseSize(conv)) {
  input_.PlanIn(conv.x, X);
}

void OnednnDepthwise::Run(const Tensor& X, const Tensor& filter, const float* bias, float* y) {
  if (conv_.y().size() == 0) return;
  const float* const prepared = prepared_.Get(
      filter, [&](const float* plain, float* to) { PrepareDepthwiseFilter(conv_, plain, to); });
  RunDepthwise(conv_, input_.Read(X), prepared, bias, y);
}

}  // namespace caffe2rt
