// Gradients of whole batches, in pieces: the pieces, the sums over them, and the bias of both directions.
#include "operators/conv/conv_gradient_plan.h"

#include <gtest/gtest.h>

#include "tests/operators/conv/conv_combinations.h"

namespace caffe2rt::test::conv_gradient_plan_test {
namespace {

struct GradientRow {
  const char* name;
  NaiveImage image;
  size_t pieces;
};

// A piece has at least 1.6e7 multiply-adds, and at most half as many floats are added up as X and dY have. The
// number of pieces is even.
const GradientRow kGradientRows[] = {
    {"little work", {3, 5, 9, 8, 4, 3, 2}, 1},
    {"1.5e7 multiply-adds", {4, 16, 42, 42, 16, 3, 3}, 1},
    // 3.3e7: images 0 and 1, then 2 to 4.
    {"five images", {5, 16, 56, 55, 16, 3, 3, 1, 1, 1, 1, 1, 1}, 2},
    {"five images in NHWC",
     {.batch = 5,
      .channels = 8,
      .height = 61,
      .width = 60,
      .filters = 26,
      .kernel_h = 3,
      .kernel_w = 3,
      .channels_last = true},
     2},
    // 5.6e7, so three pieces, of which there are two
    {"a pointwise one", {7, 80, 36, 30, 93, 1, 1}, 2},
    {"groups", {4, 24, 70, 67, 48, 3, 3, 1, 1, 0, 1, 0, 0, 1, 1, 2}, 4},
    {"one image", {1, 16, 140, 140, 16, 3, 3}, 1},
    {"a large filter", {2, 256, 9, 9, 256, 3, 3}, 1},
};

// The sums over all dimensions but the channels.
std::vector<float> ChannelSums(int64_t batch, int64_t channels, int64_t pixels, bool last,
                               const std::vector<float>& x) {
  std::vector<double> sums(static_cast<size_t>(channels));
  for (int64_t i = 0; i < batch * channels * pixels; ++i) {
    sums[static_cast<size_t>(last ? i % channels : i / pixels % channels)] +=
        x[static_cast<size_t>(i)];
  }
  return {sums.begin(), sums.end()};
}

// The gradients of single images, one after the other, each with a plan of its own.
NaiveGradients GradientsOfImages(const NaiveImage& p, const std::vector<float>& x,
                                 const std::vector<float>& filter, const std::vector<float>& dy) {
  if (p.batch * p.channels * p.height * p.width < 2000) return NaiveConvGradients(p, x, filter, dy);
  NaiveImage one = p;
  one.batch = 1;
  NaiveGradients sum{std::vector<float>(filter.size()), std::vector<float>(x.size())};
  std::vector<float> part(filter.size());
  for (int64_t i = 0; i < p.batch; ++i) {
    const int64_t at_x = i * p.channels * p.height * p.width;
    ConvGradientPlan plan(ShapeOf(one, false), {.x = true});
    plan.Run({.x = x.data() + at_x,
              .filter = filter.data(),
              .dy = dy.data() + i * p.filters * p.out_h() * p.out_w(),
              .dfilter = part.data(),
              .dx = sum.x.data() + at_x});
    for (size_t j = 0; j < part.size(); ++j) sum.filter[j] += part[j];
  }
  return sum;
}

void ExpectWithin(const char* name, const std::vector<float>& got, const std::vector<float>& want,
                  double terms) {
  ASSERT_EQ(got.size(), want.size());
  EXPECT_LE(LargestDifference(got, want), 2e-6 * terms) << name;
}

TEST(ConvGradientPlanTest, AddsUpThePiecesOfABatch) {
  for (const GradientRow& row : kGradientRows) {
    SCOPED_TRACE(row.name);
    const NaiveImage& p = row.image;
    const int64_t pixels = p.out_h() * p.out_w();
    const auto x = ConvValues(p.batch * p.channels * p.height * p.width, 0);
    const auto filter =
        ConvValues(p.filters * p.channels / p.group * p.kernel_h * p.kernel_w, 1000);
    const auto dy = ConvValues(p.batch * p.filters * pixels, 500);
    const NaiveGradients want = GradientsOfImages(p, x, filter, dy);
    const auto of_result = ChannelSums(p.batch, p.filters, pixels, p.channels_last, dy);
    const auto of_source = ChannelSums(p.batch, p.channels, p.height * p.width, p.channels_last, x);
    for (const ConvBiasGradient bias :
         {ConvBiasGradient::kNone, ConvBiasGradient::kFromResult, ConvBiasGradient::kFromSource}) {
      const bool with_x = bias != ConvBiasGradient::kFromSource;
      ConvGradientPlan plan(ShapeOf(p, false), {.x = with_x, .bias = bias});
      EXPECT_EQ(plan.pieces(), row.pieces);
      for (const int threads : {3, 1}) {
        const ThreadsOfTest pool(threads);
        std::vector<float> dfilter(filter.size(), -77.f), dx(x.size(), -77.f);
        std::vector<float> dbias(
            bias == ConvBiasGradient::kFromSource ? of_source.size() : of_result.size(), -77.f);
        plan.Run({.x = x.data(),
                  .filter = filter.data(),
                  .dy = dy.data(),
                  .dfilter = dfilter.data(),
                  .dbias = bias == ConvBiasGradient::kNone ? nullptr : dbias.data(),
                  .dx = with_x ? dx.data() : nullptr});
        const double terms = static_cast<double>(p.batch * pixels);
        ExpectWithin("dfilter", dfilter, want.filter, std::sqrt(terms) + 200);
        if (with_x) {
          ExpectWithin("dx", dx, want.x, 300);
        } else {
          EXPECT_EQ(dx, std::vector<float>(dx.size(), -77.f));
        }
        if (bias == ConvBiasGradient::kFromResult) ExpectWithin("dbias", dbias, of_result, 300);
        if (bias == ConvBiasGradient::kFromSource) ExpectWithin("dbias", dbias, of_source, 300);
      }
    }
  }
}

// More tiles than are transformed at once: 210 in an image, then 12 in each of 21 images, some of which are copied
// at a time.
TEST(WinogradConvGradientTest, TransformsBlocksOfTiles) {
  const NaiveImage images[] = {
      {1, 16, 60, 53, 16, 3, 3, 1, 1, 1, 1, 1, 1},
      {21, 32, 12, 15, 16, 3, 3, 1, 1, 1, 0, 1, 1},
      {3, 16, 41, 39, 48, 3, 3, 1, 1, 0, 2, 1, 0, 1, 1, 1, true},
      {2, 64, 9, 18, 80, 3, 3, 1, 1, 1, 1, 2, 1},
  };
  for (const NaiveImage& p : images) {
    SCOPED_TRACE(DescribeConv(p, 1));
    const auto x = ConvValues(p.batch * p.channels * p.height * p.width, 0);
    const auto filter = ConvValues(p.filters * p.channels * 9, 1000);
    const auto dy = ConvValues(p.batch * p.filters * p.out_h() * p.out_w(), 500);
    const NaiveGradients want = NaiveConvGradients(p, x, filter, dy);
    for (const ConvGradientParts parts :
         {ConvGradientParts{true, true}, ConvGradientParts{true, false},
          ConvGradientParts{false, true}}) {
      const auto kernel = NewWinogradConvGradient(ShapeOf(p, false), parts);
      ASSERT_NE(kernel, nullptr);
      // The scratch memory holds other values, and ends where it must.
      const auto size = static_cast<size_t>(kernel->ScratchSize());
      std::vector<float> scratch(size + 32, 55.f);
      float* const aligned =
          reinterpret_cast<float*>((reinterpret_cast<uintptr_t>(scratch.data()) + 63) / 64 * 64);
      std::vector<float> dfilter(filter.size(), -77.f), dx(x.size(), -77.f);
      kernel->Run(x.data(), filter.data(), dy.data(), parts.filter ? dfilter.data() : nullptr,
                  parts.x ? dx.data() : nullptr, aligned);
      const double terms = std::sqrt(static_cast<double>(p.batch * p.out_h() * p.out_w()));
      if (parts.filter) ExpectWithin("dfilter", dfilter, want.filter, 10 * terms + 300);
      if (parts.x) ExpectWithin("dx", dx, want.x, 1000);
      for (const float* end = aligned + size; end != scratch.data() + scratch.size(); ++end) {
        EXPECT_EQ(*end, 55.f);
      }
    }
  }
}

TEST(WinogradConvGradientTest, SupportsThreeTapsInFullBlocksOnly) {
  const NaiveImage base{1, 16, 9, 9, 32, 3, 3, 1, 1, 1, 1, 1, 1};
  const auto supports = [&](auto change) {
    NaiveImage p = base;
    change(p);
    return NewWinogradConvGradient(ShapeOf(p, false), {true, true}) != nullptr;
  };
  using Image = NaiveImage&;
  EXPECT_TRUE(supports([](Image) {}));
  EXPECT_TRUE(supports([](Image p) { p.top = 0, p.right = 0; }));
  EXPECT_FALSE(supports([](Image p) { p.kernel_h = 2; }));
  EXPECT_FALSE(supports([](Image p) { p.kernel_w = 5; }));
  EXPECT_FALSE(supports([](Image p) { p.stride_h = 2; }));
  EXPECT_FALSE(supports([](Image p) { p.stride_w = 2; }));
  EXPECT_FALSE(supports([](Image p) { p.dilation_h = 2; }));
  EXPECT_FALSE(supports([](Image p) { p.dilation_w = 2; }));
  EXPECT_FALSE(supports([](Image p) { p.top = -1; }));
  EXPECT_FALSE(supports([](Image p) { p.left = -1; }));
  EXPECT_FALSE(supports([](Image p) { p.bottom = -1; }));
  EXPECT_FALSE(supports([](Image p) { p.right = -1; }));
  EXPECT_FALSE(supports([](Image p) { p.channels = 24; }));
  EXPECT_FALSE(supports([](Image p) { p.filters = 24; }));
  EXPECT_FALSE(supports([](Image p) { p.channels = 32, p.group = 2; }));
}

}  // namespace
}  // namespace caffe2rt::test::conv_gradient_plan_test
