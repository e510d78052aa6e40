// Convolutions on IDEEP that no candidate for the layout of X computes.
#include "operators/conv/ideep_conv.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "caffe2_core/base/work_scope.h"
#include "contexts/onednn/onednn_version.h"
#include "operators/primitives/onednn_reorder.h"
#include "tests/operators/conv/conv_combinations.h"

namespace caffe2rt::test::ideep_conv_test {
namespace {

using enum OnednnFormat;

Tensor FilterTensor(const NaiveImage& p, const std::vector<float>& values) {
  Tensor filter(CPU);
  filter.Resize(std::vector<int64_t>{p.filters, p.channels / p.group, p.kernel_h, p.kernel_w});
  std::copy(values.begin(), values.end(), filter.mutable_data<float>());
  return filter;
}

std::vector<float> RunOf(const NaiveImage& p, IdeepConv* conv, const Tensor& x,
                         const Tensor& filter) {
  Tensor y(IDEEP), plain(CPU);
  conv->Run(x, filter, nullptr,
            PrepareOutput(&y, {p.batch, p.filters, p.out_h(), p.out_w()}, conv->layout()));
  plain.CopyFrom(y);
  return {plain.data<float>(), plain.data<float>() + plain.numel()};
}

// The filter has more digits than bytes hold.
TEST(IdeepConvTest, WidensBytesForConvolutionsOfFloats) {
  if (!kOnednnHoldsScales) GTEST_SKIP() << "there are no tensors of bytes";
  const NaiveImage images[] = {{2, 16, 6, 7, 32, 3, 3, 1, 1, 1, 1, 1, 1},
                               {1, 32, 5, 6, 8, 1, 1},
                               {1, 24, 9, 8, 24, 3, 3, 2, 2, 1, 1, 1, 1, 1, 1, 24}};
  for (const NaiveImage& p : images) {
    SCOPED_TRACE(DescribeConv(p, 1));
    const std::vector<int64_t> dims = {p.batch, p.channels, p.height, p.width};
    const OnednnQuantization quantization{.scale = 0.05f, .zero_point = 100};
    Tensor x(IDEEP);
    auto* const bytes = static_cast<uint8_t*>(PrepareOutputMemory(
        &x, dims,
        OnednnLayout::New(DescIn(kNhwc, dims, dnnl::memory::data_type::u8), quantization)));
    std::vector<float> numbers(static_cast<size_t>(p.batch * p.channels * p.height * p.width));
    const int64_t pixels = p.height * p.width;
    for (int64_t i = 0; i < static_cast<int64_t>(numbers.size()); ++i) {
      const int64_t pixel = i % pixels, channel = i / pixels % p.channels,
                    n = i / pixels / p.channels;
      const auto byte = static_cast<uint8_t>(i * 37 % 251);
      bytes[(n * pixels + pixel) * p.channels + channel] = byte;
      numbers[static_cast<size_t>(i)] = (static_cast<float>(byte) - 100) * 0.05f;
    }
    const int64_t depth = p.channels / p.group * p.kernel_h * p.kernel_w;
    const auto filter = ValuesForSums(p.filters * depth, 1000, depth);
    const std::vector<float> want = NaiveConv(p, numbers, filter, {});
    const ConvProblem problem{
        .shape = ShapeOf(p, false),
        .ideep = ConvOnIdeep{.format = kNhwc, .int8_source = true, .x_quantization = quantization}};
    ConvChoice choice = ChooseConv(problem, *GetConvTuning());
    const auto conv = NewIdeepConv(problem, x, &choice);
    EXPECT_FALSE(choice.taken().int8);
    const Tensor weights = FilterTensor(p, filter);
    for (int run = 0; run < 2; ++run) {
      EXPECT_LE(LargestDifference(RunOf(p, conv.get(), x, weights), want), 2e-3f);
    }
  }
}

// All windows lie in the padding, or cover it: nothing on IDEEP has kernels for that. What the choice for row-major
// copies excludes is reported, too.
TEST(IdeepConvTest, ReportsWhatCopiesOfTheImageExclude) {
  const NaiveImage p = CombinedImage({16, 7, 3, 5}, kConvWindows[6], 1);
  const ConvTuning tuning(ConvTuningLine({.isa = CpuIsa(),
                                          .shape = ShapeOf(p, false),
                                          .algorithm = ConvAlgorithm::kOnednnWinograd,
                                          .microseconds = 1}));
  const WorkScope scope({.conv_tuning = &tuning});
  const ConvProblem problem{
      .shape = ShapeOf(p, false),
      .limits = {.deterministic = true},
      .ideep = ConvOnIdeep{.format = kNhwc, .activation = Elu{.alpha = 1}, .sum = true}};
  ConvChoice choice = ChooseConv(problem, tuning);
  const size_t on_ideep = choice.candidates.size(), excluded = choice.excluded.size();
  Tensor x(IDEEP), plain(CPU);
  plain.Resize(std::vector<int64_t>{p.batch, p.channels, p.height, p.width});
  std::fill_n(plain.mutable_data<float>(), plain.numel(), 1.f);
  x.CopyFrom(plain);
  const auto conv = NewIdeepConv(problem, x, &choice);
  EXPECT_GE(choice.position, on_ideep);
  ASSERT_EQ(choice.excluded.size(), excluded + 1);
  EXPECT_EQ(choice.excluded.back().algorithm, ConvAlgorithm::kOnednnWinograd);
}

}  // namespace
}  // namespace caffe2rt::test::ideep_conv_test
