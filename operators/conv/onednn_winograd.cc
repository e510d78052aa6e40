#include "caffe2_core/base/text.h"
#include "operators/conv/conv_choice.h"
#include "operators/conv/onednn_built_in.h"
#include "operators/conv/winograd_conv.h"
#include "operators/primitives/packed_gemm.h"
#include "operators/primitives/scratch.h"

namespace caffe2rt {

namespace {

class OnednnWinograd final : public BuiltInConv {
 public:
  OnednnWinograd(const WinogradConv& conv, const Tensor& X)
      : BuiltInConv(conv.x, conv.y(), X,
                    MakeString("winograd_conv ", conv.x.channels, "x", conv.out_channels,
                               " in panels of ", PanelWidth()),
                    PreparedWinogradSize(conv)),
        conv_(conv),
        threads_(GetNumThreads()),
        scratch_size_(WinogradScratchSize(conv, threads_)) {
    (void)scratch_.Floats(scratch_size_);  // so that the first run finds it
  }

 private:
  void Prepare(const float* filter, float* prepared) const override {
    PrepareWinogradFilter(conv_, filter, prepared);
  }
  void Compute(const float* x, const float* prepared, const float* bias, float* y) override {
    RunWinograd(conv_, x, prepared, bias, y, threads_, scratch_.Floats(scratch_size_));
  }

  const WinogradConv conv_;
  const int threads_;
  const int64_t scratch_size_;
  ThreadScratch scratch_;
};

}  // namespace

bool WinogradFits(const ConvShape& shape, const ConvOnIdeep& ideep) {
  const auto fits = [](const WindowAxis& axis) {
    return axis.kernel == 3 && axis.stride == 1 && axis.dilation == 1;
  };
  float lowest = 0, highest = 0;
  return shape.group == 1 && fits(shape.window.axis[0]) && fits(shape.window.axis[1]) &&
         WinogradSupports(shape.window.channels, shape.out_channels) &&
         FindBounds(ideep.activation, &lowest, &highest);
}

std::unique_ptr<BuiltInConv> NewOnednnWinograd(const ConvShape& shape, const ConvEpilogue& epilogue,
                                               const Tensor& X, OnednnFormat format) {
  if (!WinogradFits(shape, {format, epilogue.activation, epilogue.sum})) return nullptr;
  const WindowAxis &rows = shape.window.axis[0], &columns = shape.window.axis[1];
  WinogradConv conv{.x = PlanesIn(format, X.dims()),
                    .out_channels = shape.out_channels,
                    .out_height = rows.out,
                    .out_width = columns.out,
                    .pad_top = rows.pad_head,
                    .pad_left = columns.pad_head,
                    .sum = epilogue.sum};
  FindBounds(epilogue.activation, &conv.lowest, &conv.highest);
  return std::make_unique<OnednnWinograd>(conv, X);
}

}  // namespace caffe2rt
