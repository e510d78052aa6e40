#include "caffe2_core/base/checked_math.h"
#include "caffe2_core/base/text.h"
#include "operators/conv/onednn_built_in.h"
#include "operators/primitives/packed_gemm.h"
#include "operators/primitives/parallel_ranges.h"

namespace caffe2rt {

namespace {

ChannelPlanes InNhwc(const std::vector<int64_t>& dims) {
  return PlanesIn(OnednnFormat::kNhwc, dims);
}

FormRestorer Unpack(int64_t group, int64_t in, int64_t out) {
  const int64_t matrix = PackedFloats(in, out);
  return {.offset = 0,
          .nbytes = static_cast<size_t>(group * out * in) * sizeof(float),
          .restore = [=](const void* form, void* data) {
            for (int64_t g = 0; g < group; ++g) {
              UnpackMatrix(/*transposed=*/true, in, out,
                           static_cast<const float*>(form) + g * matrix, in,
                           static_cast<float*>(data) + g * out * in);
            }
          }};
}

class OnednnPointwise final : public BuiltInConv {
 public:
  OnednnPointwise(const ConvShape& shape, const ConvEpilogue& epilogue, const Tensor& X)
      : BuiltInConv(InNhwc(X.dims()), InNhwc(shape.window.OutputDims(shape.out_channels)), X,
                    MakeString("pointwise_conv ", shape.group, "x", shape.in_group(), "x",
                               shape.out_group(), " in panels of ", PanelWidth()),
                    CheckedMultiply(shape.group, PackedFloats(shape.in_group(), shape.out_group())),
                    Unpack(shape.group, shape.in_group(), shape.out_group())),
        pixels_(shape.window.batch * shape.window.out_size()),
        group_(shape.group),
        in_(shape.in_group()),
        out_(shape.out_group()),
        matrix_(PackedFloats(in_, out_)),
        activation_(epilogue.activation),
        sum_(epilogue.sum) {}

 private:
  void Prepare(const float* filter, float* prepared) const override {
    for (int64_t g = 0; g < group_; ++g) {
      PackMatrix(/*transposed=*/true, in_, out_, filter + g * out_ * in_, in_,
                 prepared + g * matrix_);
    }
  }

  void Compute(const float* x, const float* prepared, const float* bias, float* y) override {
    const int64_t x_channels = group_ * in_, y_channels = group_ * out_;
    ParallelRanges(pixels_, in_ * y_channels / kChannelBlock, [&](int64_t first, int64_t last) {
      for (int64_t g = 0; g < group_; ++g) {
        MultiplyPacked({.m = last - first,
                        .n = out_,
                        .k = in_,
                        .a = x + first * x_channels + g * in_,
                        .lda = x_channels,
                        .b = prepared + g * matrix_,
                        .bias = bias == nullptr ? nullptr : bias + g * out_,
                        .activation = activation_,
                        .sum = sum_,
                        .c = y + first * y_channels + g * out_,
                        .ldc = y_channels});
      }
    });
  }

  const int64_t pixels_, group_, in_, out_;
  const int64_t matrix_;  // the size of the packed matrix of a group
  const Activation activation_;
  const bool sum_;
};

}  // namespace

std::unique_ptr<BuiltInConv> NewOnednnPointwise(const ConvShape& shape,
                                                const ConvEpilogue& epilogue, const Tensor& X) {
  if (!shape.IsPointwise()) return nullptr;
  return std::make_unique<OnednnPointwise>(shape, epilogue, X);
}

}  // namespace caffe2rt
