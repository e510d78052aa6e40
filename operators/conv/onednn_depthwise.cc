#include "caffe2_core/base/text.h"
#include "operators/conv/conv_choice.h"
#include "operators/conv/depthwise_conv.h"
#include "operators/conv/onednn_built_in.h"

namespace caffe2rt {

namespace {

class OnednnDepthwise final : public BuiltInConv {
 public:
  OnednnDepthwise(const DepthwiseConv& conv, const Tensor& X)
      : BuiltInConv(conv.x, conv.y(), X,
                    MakeString("depthwise_conv ", conv.rows.kernel, "x", conv.columns.kernel, "x",
                               conv.x.padded_channels()),
                    PreparedDepthwiseSize(conv)),
        conv_(conv) {}

 private:
  void Prepare(const float* filter, float* prepared) const override {
    PrepareDepthwiseFilter(conv_, filter, prepared);
  }
  void Compute(const float* x, const float* prepared, const float* bias, float* y) override {
    RunDepthwise(conv_, x, prepared, bias, y);
  }

  const DepthwiseConv conv_;
};

}  // namespace

bool DepthwiseFits(const ConvShape& shape, const ConvOnIdeep& ideep) {
  const WindowAxis &rows = shape.window.axis[0], &columns = shape.window.axis[1];
  const bool depthwise = shape.group > 1 && shape.in_group() == 1 && shape.out_group() == 1;
  const bool square = rows.kernel == columns.kernel && rows.stride == columns.stride;
  float lowest = 0, highest = 0;
  return depthwise && square && (rows.kernel == 3 || rows.kernel == 5) && rows.stride <= 2 &&
         rows.dilation == 1 && columns.dilation == 1 && !ideep.sum &&
         FindBounds(ideep.activation, &lowest, &highest);
}

std::unique_ptr<BuiltInConv> NewOnednnDepthwise(const ConvShape& shape,
                                                const ConvEpilogue& epilogue, const Tensor& X,
                                                OnednnFormat format) {
  if (!DepthwiseFits(shape, {format, epilogue.activation, epilogue.sum})) return nullptr;
  // The operators that follow could not use padded blocks.
  if (shape.window.channels % kChannelBlock != 0) format = OnednnFormat::kNhwc;
  DepthwiseConv conv{.x = PlanesIn(format, X.dims()),
                     .rows = shape.window.axis[0],
                     .columns = shape.window.axis[1]};
  FindBounds(epilogue.activation, &conv.lowest, &conv.highest);
  return std::make_unique<OnednnDepthwise>(conv, X);
}

}  // namespace caffe2rt
