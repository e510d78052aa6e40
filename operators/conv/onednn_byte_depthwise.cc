// Depthwise convolutions of bytes on IDEEP by the built-in kernel.

#include "caffe2_core/base/text.h"
#include "caffe2_core/tensor/prepared_weight.h"
#include "operators/common/onednn_planes.h"
#include "operators/conv/byte_depthwise.h"
#include "operators/conv/byte_source.h"
#include "operators/conv/onednn_int8.h"

namespace caffe2rt {

namespace {

class OnednnByteDepthwise final : public IdeepConv {
 public:
  OnednnByteDepthwise(const ByteDepthwise& conv, const ConvProblem& problem, const Tensor& X)
      : conv_(conv), source_(X, conv.x) {
    using enum dnnl::memory::data_type;
    const auto element = conv.result == ByteResult::kBytes       ? u8
                         : conv.result == ByteResult::kBfloat16s ? bf16
                                                                 : f32;
    result_ = DescIn(OnednnFormat::kNhwc, problem.shape.window.OutputDims(conv.channels), element);
    layout_ = OnednnLayout::New(result_, conv.y);
    filter_.Add(MakeString("byte_depthwise ", conv.rows.kernel, " by ", conv.rows.stride, " of ",
                           conv.columns.out > 1 ? 2 : 1, " in ", ByteTileLanes(), " with ",
                           conv.x.zero_point, conv.pair_limited ? " by pairs" : ""),
                static_cast<size_t>(ByteDepthwiseFilterBytes(conv)));
    scales_.Resize(ByteDepthwiseScales(conv));
  }

  dnnl::memory::desc result() const override { return result_; }
  const std::shared_ptr<const OnednnLayout>& layout() const override { return layout_; }

  void PrepareFilter(const Tensor& filter) override {
    filter_.Update(
        filter, [&](size_t, void* to) { PrepareByteDepthwise(conv_, filter.data<float>(), to); });
  }

  void Run(const Tensor& X, const Tensor& filter, const float* bias, void* y) override {
    if (X.numel() == 0) return;
    PrepareFilter(filter);
    float* const scales = scales_.mutable_data<float>();
    ScaleByteDepthwise(conv_, filter_.data(0), bias, scales);
    RunByteDepthwise(conv_, reinterpret_cast<const uint8_t*>(source_.Read(X)), filter_.data(0),
                     scales, y);
  }

 private:
  const ByteDepthwise conv_;
  ByteSource source_;
  dnnl::memory::desc result_;
  std::shared_ptr<const OnednnLayout> layout_;
  PreparedWeight filter_;
  Tensor scales_{CPU};
};

}  // namespace

std::unique_ptr<IdeepConv> NewByteDepthwise(const ConvProblem& problem, ByteResult result,
                                            const Tensor& X) {
  const ConvShape& shape = problem.shape;
  const bool depthwise = shape.group > 1 && shape.in_group() == 1 && shape.out_group() == 1;
  ByteDepthwise conv{
      .batch = shape.window.batch,
      .channels = shape.window.channels,
      .rows = shape.window.axis[0],
      .columns = shape.window.axis[1],
      .x = problem.ideep->x_quantization,
      .result = result,
      .y = result == ByteResult::kBytes ? problem.ideep->y_quantization : OnednnQuantization{},
      .pair_limited = problem.limits.deterministic || !AddsBytesExactly()};
  if (!depthwise || problem.ideep->sum || !ByteDepthwiseFits(conv) ||
      !FindBounds(problem.ideep->activation, &conv.lowest, &conv.highest)) {
    return nullptr;
  }
  return std::make_unique<OnednnByteDepthwise>(conv, problem, X);
}

}  // namespace caffe2rt
