// Depthwise convolutions of bytes on IDEEP: which tensors they read and write, and when they are used.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "contexts/onednn/onednn_version.h"
#include "operators/conv/byte_depthwise_tiles.h"
#include "operators/conv/onednn_int8.h"
#include "tests/operators/conv/conv_images.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::byte_depthwise_ideep_test {
namespace {

using enum OnednnFormat;
using DepthwiseDims = std::vector<int64_t>;

constexpr int64_t kDepth = 24;  // channels
constexpr OnednnQuantization kOfX{.scale = 0.125f, .zero_point = 100};
constexpr OnednnQuantization kOfY{.scale = 0.25f, .zero_point = 120};

NaiveImage DepthwiseImage(int64_t batch, int64_t height) {
  return {.batch = batch,
          .channels = kDepth,
          .height = height,
          .width = 6,
          .filters = kDepth,
          .kernel_h = 3,
          .kernel_w = 3,
          .top = 1,
          .left = 1,
          .bottom = 1,
          .right = 1,
          .group = kDepth};
}

// Numbers that bytes hold: eighths from -12.5 on.
std::vector<float> ImageValues(const NaiveImage& p, int first) {
  std::vector<float> x(static_cast<size_t>(p.batch * kDepth * p.height * p.width));
  for (size_t i = 0; i < x.size(); ++i)
    x[i] = static_cast<float>((static_cast<int>(i) + first) * 37 % 256 - 100) * kOfX.scale;
  return x;
}

// 127ths, one of which is 1 in each channel, so that the scale is 1 / 127; none of the others is large.
Tensor DepthwiseFilter(int first) {
  Tensor filter({kDepth, 1, 3, 3}, CPU);
  float* const w = filter.mutable_data<float>();
  for (int64_t i = 0; i < filter.numel(); ++i) {
    const int step = i % 9 == 4 ? 127 : static_cast<int>((i + first) * 7 % 61) - 30;
    w[i] = static_cast<float>(step) / 127;
  }
  return filter;
}

Tensor PlacedImage(OnednnFormat format, const NaiveImage& p, const std::vector<float>& values) {
  Tensor x(IDEEP);
  const DepthwiseDims dims = {p.batch, kDepth, p.height, p.width};
  const dnnl::memory::desc desc = DescIn(format, dims);
  float* const to = PrepareOutput(&x, dims, OnednnLayout::New(desc));
  if (x.numel() > 0) Reorder(DescIn(kNchw, dims), values.data(), desc, to);
  return x;
}

ConvProblem ProblemOf(const NaiveImage& p, bool bias) {
  return {.shape = ShapeOf(p, bias),
          .ideep = ConvOnIdeep{.format = kNhwc, .x_quantization = kOfX, .y_quantization = kOfY}};
}

std::vector<float> RunDepthwiseBytes(IdeepConv* conv, const NaiveImage& p, const Tensor& x,
                                     const Tensor& filter, const float* bias) {
  Tensor y(IDEEP), plain(CPU);
  conv->Run(x, filter, bias,
            PrepareOutputMemory(&y, {p.batch, kDepth, p.height, p.width}, conv->layout()));
  plain.CopyFrom(y);
  return {plain.data<float>(), plain.data<float>() + plain.numel()};
}

TEST(ByteDepthwiseIdeepTest, FollowsItsInputsInEveryRun) {
  if (!kOnednnHoldsScales || ByteTileLanes() == 0) GTEST_SKIP() << "there are no such convolutions";
  // Without VNNI, filters have fewer steps.
  const bool exact = AddsBytesExactly();
  std::vector<float> bias;
  for (int64_t c = 0; c < kDepth; ++c) bias.push_back(0.5f * static_cast<float>(c % 7) - 1);
  for (const OnednnFormat format : {kNchw, kNhwc, kBlocked16}) {
    for (const auto result : {ByteResult::kFloats, ByteResult::kBytes, ByteResult::kBfloat16s}) {
      for (const bool has_bias : {false, true}) {
        SCOPED_TRACE(testing::Message() << OnednnFormatName(format) << " to "
                                        << static_cast<int>(result) << ", bias " << has_bias);
        const NaiveImage p = DepthwiseImage(2, 5);
        const auto conv = NewByteDepthwise(ProblemOf(p, has_bias), result,
                                           PlacedImage(format, p, ImageValues(p, 0)));
        ASSERT_NE(conv, nullptr);
        Tensor filter = DepthwiseFilter(0);
        for (int run = 0; run < 3; ++run) {
          SCOPED_TRACE(run);
          if (run == 2) {
            const Tensor other = DepthwiseFilter(5);
            std::copy_n(other.data<float>(), other.numel(), filter.mutable_data<float>());
          }
          const std::vector<float> values = ImageValues(p, 50 * run);
          const float* const w = filter.data<float>();
          const std::vector<float> want =
              NaiveConv(p, values, {w, w + filter.numel()}, has_bias ? bias : std::vector<float>());
          const std::vector<float> got =
              RunDepthwiseBytes(conv.get(), p, PlacedImage(format, p, values), filter,
                                has_bias ? bias.data() : nullptr);
          ASSERT_EQ(got.size(), want.size());
          for (size_t i = 0; i < want.size(); ++i) {
            const float held = result == ByteResult::kBytes
                                   ? std::clamp(want[i], -kOfY.scale * 120, kOfY.scale * 135)
                                   : want[i];
            const float rounding = result == ByteResult::kBytes ? kOfY.scale * 0.501f
                                   : result == ByteResult::kFloats
                                       ? 1e-4f
                                       : std::abs(want[i]) / 256 + 1e-4f;
            ASSERT_NEAR(got[i], held, rounding + (exact ? 0 : 0.7f)) << i;
          }
        }
      }
    }
  }
}

TEST(ByteDepthwiseIdeepTest, HasALayoutForEachResult) {
  if (!kOnednnHoldsScales || ByteTileLanes() == 0) GTEST_SKIP() << "there are no such convolutions";
  const NaiveImage p = DepthwiseImage(2, 5);
  const DepthwiseDims dims = {2, kDepth, 5, 6};
  const Tensor x = PlacedImage(kNhwc, p, ImageValues(p, 0));
  const struct {
    ByteResult result;
    dnnl::memory::data_type element;
    OnednnQuantization quantization;
  } rows[] = {{ByteResult::kFloats, dnnl::memory::data_type::f32, {}},
              {ByteResult::kBfloat16s, dnnl::memory::data_type::bf16, {}},
              {ByteResult::kBytes, dnnl::memory::data_type::u8, kOfY}};
  for (const auto& row : rows) {
    const auto conv = NewByteDepthwise(ProblemOf(p, false), row.result, x);
    ASSERT_NE(conv, nullptr);
    EXPECT_EQ(conv->result(), DescIn(kNhwc, dims, row.element));
    EXPECT_EQ(conv->layout()->desc(), DescIn(kNhwc, dims, row.element));
    EXPECT_EQ(conv->layout()->quantization(), row.quantization);
  }
  // An empty batch has no elements to read.
  const NaiveImage none = DepthwiseImage(0, 5);
  const Tensor empty = PlacedImage(kNhwc, none, {});
  const auto conv = NewByteDepthwise(ProblemOf(none, false), ByteResult::kFloats, empty);
  ASSERT_NE(conv, nullptr);
  EXPECT_TRUE(RunDepthwiseBytes(conv.get(), none, empty, DepthwiseFilter(0), nullptr).empty());
}

TEST(ByteDepthwiseIdeepTest, BoundsItsResultsAndAddsNothing) {
  if (!kOnednnHoldsScales || ByteTileLanes() == 0) GTEST_SKIP() << "there are no such convolutions";
  const NaiveImage p = DepthwiseImage(1, 5);
  const Tensor x = PlacedImage(kNhwc, p, ImageValues(p, 3)), filter = DepthwiseFilter(0);
  const auto with = [&](const Activation& activation, bool sum) {
    ConvProblem problem = ProblemOf(p, false);
    problem.ideep->activation = activation;
    problem.ideep->sum = sum;
    return NewByteDepthwise(problem, ByteResult::kFloats, x);
  };
  EXPECT_EQ(with(NoActivation{}, true), nullptr);
  EXPECT_EQ(with(Elu{.alpha = 1}, false), nullptr);
  const auto plain = RunDepthwiseBytes(with(NoActivation{}, false).get(), p, x, filter, nullptr);
  const auto relu = RunDepthwiseBytes(with(Relu{}, false).get(), p, x, filter, nullptr);
  const auto clip =
      RunDepthwiseBytes(with(Clip{.min = -1, .max = 2}, false).get(), p, x, filter, nullptr);
  int below = 0, above = 0;
  for (size_t i = 0; i < plain.size(); ++i) {
    EXPECT_EQ(relu[i], std::max(plain[i], 0.0f)) << i;
    EXPECT_EQ(clip[i], std::clamp(plain[i], -1.0f, 2.0f)) << i;
    below += plain[i] < -1 ? 1 : 0;
    above += plain[i] > 2 ? 1 : 0;
  }
  EXPECT_GT(below, 50);
  EXPECT_GT(above, 50);
  // Two filters for each channel, windows that the tiles do not cover, and wider groups.
  for (const auto change :
       {+[](NaiveImage* q) { q->filters = 2 * kDepth; }, +[](NaiveImage* q) { q->kernel_h = 2; },
        +[](NaiveImage* q) { q->dilation_w = 2; }, +[](NaiveImage* q) { q->group = kDepth / 2; }}) {
    NaiveImage other = p;
    change(&other);
    EXPECT_EQ(NewByteDepthwise(ProblemOf(other, false), ByteResult::kFloats, x), nullptr);
  }
}

}  // namespace
}  // namespace caffe2rt::test::byte_depthwise_ideep_test
