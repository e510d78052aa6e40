#include "operators/conv/onednn_winograd.h"

#include "caffe2_core/base/text.h"
#include "operators/primitives/packed_gemm.h"

namespace caffe2rt {

namespace {

bool IsSupported(const ConvShape& shape) {
  const WindowAxis &rows = shape.window.axis[0], &columns = shape.window.axis[1];
  const auto fits = [](const WindowAxis& axis) {
    return axis.kernel == 3 && axis.stride == 1 && axis.dilation == 1;
  };
  return shape.group == 1 && fits(rows) && fits(columns) &&
         WinogradSupports(shape.window.channels, shape.out_channels);
}

}  // namespace

std::unique_ptr<OnednnWinograd> OnednnWinograd::New(const ConvShape& shape,
                                                    const ConvEpilogue& epilogue,
                                                    OnednnFormat format, const Tensor& X) {
  if (!IsSupported(shape)) return nullptr;
  const WindowAxis &rows = shape.window.axis[0], &columns = shape.window.axis[1];
  WinogradConv conv{.x = PlanesIn(format, X.dims()),
                    .out_channels = shape.out_channels,
                    .out_height = rows.out,
                    .out_width = columns.out,
                    .pad_top = rows.pad_head,
                    .pad_left = columns.pad_head,
                    .sum = epilogue.sum};
  if (!SetBounds(epilogue, &conv.lowest, &conv.highest)) return nullptr;
  return std::unique_ptr<OnednnWinograd>(new OnednnWinograd(conv, X));
}

OnednnWinograd::OnednnWinograd(const WinogradConv& conv, const Tensor& X)
    : conv_(conv),
      threads_(GetNumThreads()),
      scratch_size_(WinogradScratchSize(conv, threads_)),
      layout_(LayoutOf(conv.y())),
      prepared_(MakeString("winograd_conv ", conv.x.channels, "x", conv.out_channels,
                           " in panels of ", PanelWidth()),
                PreparedWinogradSize(conv)) {
  input_.PlanIn(conv.x, X);
}

void OnednnWinograd::Run(const Tensor& X, const Tensor& filter, const float* bias, float* y) {
  if (conv_.y().size() == 0) return;
  const float* const prepared = prepared_.Get(
      filter, [&](const float* plain, float* to) { PrepareWinogradFilter(conv_, plain, to); });
  const float* const x = input_.Read(X);
  RunWinograd(conv_, x, prepared, bias, y, threads_, scratch_.Floats(scratch_size_));
}

}  // namespace caffe2rt
