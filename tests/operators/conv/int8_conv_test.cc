// Convolutions on IDEEP with precision int8, against the definition over quantized numbers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "caffe2_core/graph/passes/conv_layouts.h"
#include "contexts/onednn/onednn_tensor.h"
#include "operators/conv/int8_filter.h"
#include "operators/conv/onednn_int8.h"
#include "tests/operators/common/onednn_run.h"
#include "tests/operators/conv/naive_conv.h"

namespace caffe2rt::test::int8_conv_test {
namespace {

using testing::ElementsAre;
using testing::FloatEq;

TEST(QuantizationOfRangeTest, RepresentsZeroExactly) {
  struct Case {
    float min, max, scale;
    int32_t zero_point;
  };
  for (const Case& c : {Case{0, 255, 1, 0}, Case{-102, 153, 1, 102}, Case{-51, 204, 1, 51},
                        Case{3, 510, 2, 0}, Case{-255, -1, 1, 255}, Case{0, 0, 1, 0}}) {
    const OnednnQuantization got = QuantizationOfRange(c.min, c.max);
    EXPECT_FLOAT_EQ(got.scale, c.scale) << c.min;
    EXPECT_EQ(got.zero_point, c.zero_point) << c.min;
  }
}

TEST(QuantizeFilterTest, HasAScaleForEachOutputChannel) {
  // [2, 3, 1]. The second channel has a pair of 3 and 1, whose sum is above 127 at a scale of 3 / 127.
  const float filter[] = {127, -63.6f, 0.5f, -3, -1, 2};
  int8_t bytes[6];
  float scales[2], sums[2];
  QuantizeFilter({.out = 2, .in = 3}, filter, bytes, scales, sums);
  EXPECT_THAT(bytes, ElementsAre(127, -64, 0, -127, -42, 85));
  EXPECT_THAT(scales, ElementsAre(FloatEq(1), FloatEq(3.0f / 127)));
  EXPECT_THAT(sums, ElementsAre(63, -84));
  QuantizeFilter({.out = 2, .in = 3, .pair_limited = true}, filter, bytes, scales, sums);
  EXPECT_THAT(bytes, ElementsAre(127, -64, 0, -95, -32, 64));
  EXPECT_THAT(scales, ElementsAre(FloatEq(1), FloatEq(4.0f / 127)));
}

// With limited pairs, only those that begin at an even channel count, unless all do.
TEST(QuantizeFilterTest, LimitsThePairsThatAreAdded) {
  const float filter[] = {0, 126, 128, -3, 0, 126, -128, -3};
  int8_t bytes[8];
  float scales[2], sums[2];
  QuantizeFilter({.out = 2, .in = 4, .pair_limited = true}, filter, bytes, scales, sums);
  // 128 / 127, and 131 / 127 of the pair of -128 and -3.
  EXPECT_THAT(scales, ElementsAre(FloatEq(128.0f / 127), FloatEq(131.0f / 127)));
  EXPECT_THAT(bytes, ElementsAre(0, 125, 127, -3, 0, 122, -124, -3));
  QuantizeFilter({.out = 2, .in = 4, .pair_limited = true, .any_pair = true}, filter, bytes, scales,
                 sums);
  EXPECT_THAT(scales, ElementsAre(FloatEq(2), FloatEq(131.0f / 127)));
  EXPECT_THAT(bytes, ElementsAre(0, 63, 64, -2, 0, 122, -124, -3));
  EXPECT_THAT(sums, ElementsAre(125, -5));
  // Without limits, pairs have no effect.
  QuantizeFilter({.out = 2, .in = 4, .any_pair = true}, filter, bytes, scales, sums);
  EXPECT_THAT(scales, ElementsAre(FloatEq(128.0f / 127), FloatEq(128.0f / 127)));
  // The taps of a window pair with those of the next channel, here 100 and 1, and 2 and 90.
  const float window[] = {100, 2, 1, 90};
  QuantizeFilter({.out = 1, .in = 2, .taps = 2, .pair_limited = true}, window, bytes, scales, sums);
  EXPECT_FLOAT_EQ(scales[0], 101.0f / 127);
  // A single channel has no pair.
  QuantizeFilter({.out = 1, .in = 1, .taps = 4, .pair_limited = true}, window, bytes, scales, sums);
  EXPECT_FLOAT_EQ(scales[0], 100.0f / 127);
}

TEST(QuantizeFilterTest, CountsWhatIsNotFiniteAsZero) {
  const float filter[] = {INFINITY, 2, NAN, -1, 0, 0, 0, -INFINITY};
  int8_t bytes[8];
  float scales[2], sums[2];
  QuantizeFilter({.out = 2, .in = 2, .taps = 2}, filter, bytes, scales, sums);
  EXPECT_THAT(bytes, ElementsAre(0, 127, 0, -64, 0, 0, 0, 0));
  EXPECT_EQ(scales[1], 1);
}

// 1 / 127 of the smallest number is 0, which is no scale.
TEST(QuantizeFilterTest, CountsTheSmallestNumbersAsZero) {
  const float filter[] = {1e-45f, -1e-45f, 127, 1e-45f};
  for (const bool pairs : {false, true}) {
    int8_t bytes[4];
    float scales[2], sums[2];
    QuantizeFilter({.out = 2, .in = 2, .pair_limited = pairs}, filter, bytes, scales, sums);
    EXPECT_THAT(bytes, ElementsAre(0, 0, 127, 0));
    EXPECT_THAT(scales, ElementsAre(FloatEq(1), FloatEq(1)));
    EXPECT_THAT(sums, ElementsAre(0, 127));
  }
}

TEST(QuantizeFilterTest, CountsNegativeInfinitiesAsZeroInPairs) {
  const float filter[] = {-INFINITY, -3, 2, NAN};
  int8_t bytes[4];
  float scales[1], sums[1];
  QuantizeFilter({.out = 1, .in = 4, .pair_limited = true, .any_pair = true}, filter, bytes, scales,
                 sums);
  EXPECT_FLOAT_EQ(scales[0], 3.0f / 127);
  EXPECT_THAT(bytes, ElementsAre(0, -127, 85, 0));
  EXPECT_EQ(sums[0], -42);
}

TEST(Int8ConvPaysTest, NotForSmallMatricesOfOnePixel) {
  if (!WhyNoInt8Convs().empty()) GTEST_SKIP() << WhyNoInt8Convs();
  const Machine machine{.isa = Isa::kAvx512, .threads = 1};
  // 1 x 1 taps
  const auto pays = [&](int64_t in, int64_t out, int64_t side) {
    return Int8ConvPays({.in_channels = in, .out_channels = out, .out_h = side, .out_w = side},
                        machine, true);
  };
  EXPECT_TRUE(pays(512, 128, 2));
  EXPECT_FALSE(pays(512, 128, 1)) << "as in squeeze-and-excitation";
  EXPECT_TRUE(pays(4096, 4096, 1)) << "a classifier, whose time is that of reading its weights";
}

struct Int8Case {
  const char* name;
  NaiveImage image;
  int threads = 1;
  float min = 0;  // of the range of X, which ends at 1.5
  const char* activation = "Relu";
};

const Int8Case kCases[] = {
    {"pointwise", {1, 64, 7, 9, 32, 1, 1}},
    {"pointwise with a zero point on two threads", {1, 64, 25, 33, 64, 1, 1}, 2, -0.75f},
    {"window",
     {.batch = 1,
      .channels = 32,
      .height = 9,
      .width = 8,
      .filters = 48,
      .kernel_h = 3,
      .kernel_w = 3,
      .top = 1,
      .left = 1,
      .bottom = 1,
      .right = 1}},
    {"window with stride on two threads",
     {.batch = 2,
      .channels = 32,
      .height = 23,
      .width = 22,
      .filters = 64,
      .kernel_h = 3,
      .kernel_w = 3,
      .stride_h = 2,
      .stride_w = 2,
      .top = 1,
      .left = 1,
      .bottom = 1,
      .right = 1},
     2},
    {"window with a zero point",
     {.batch = 1,
      .channels = 24,
      .height = 11,
      .width = 10,
      .filters = 40,
      .kernel_h = 3,
      .kernel_w = 3},
     1,
     -2},
    {"an image",
     {.batch = 1,
      .channels = 3,
      .height = 21,
      .width = 20,
      .filters = 32,
      .kernel_h = 7,
      .kernel_w = 7,
      .stride_h = 2,
      .stride_w = 2,
      .top = 3,
      .left = 3,
      .bottom = 3,
      .right = 3}},
    {"an image with a zero point on two threads",
     {.batch = 3,
      .channels = 3,
      .height = 21,
      .width = 20,
      .filters = 32,
      .kernel_h = 7,
      .kernel_w = 7,
      .stride_h = 2,
      .stride_w = 2,
      .top = 3,
      .left = 3,
      .bottom = 3,
      .right = 3},
     2,
     -1.25f},
    {"uneven padding with a zero point",
     {.batch = 1,
      .channels = 16,
      .height = 9,
      .width = 12,
      .filters = 24,
      .kernel_h = 3,
      .kernel_w = 5,
      .stride_h = 1,
      .stride_w = 2,
      .top = 2,
      .left = 0,
      .bottom = 0,
      .right = 1},
     1,
     -0.5f},
    {"padding below with a zero point",
     {.batch = 1,
      .channels = 16,
      .height = 9,
      .width = 12,
      .filters = 24,
      .kernel_h = 3,
      .kernel_w = 3,
      .bottom = 2,
      .right = 0},
     1,
     -0.5f},
    {"padding at the right with a zero point",
     {.batch = 1,
      .channels = 16,
      .height = 9,
      .width = 12,
      .filters = 24,
      .kernel_h = 3,
      .kernel_w = 3,
      .bottom = 0,
      .right = 2},
     1,
     -0.5f},
    {"padding below and a column that is not read, with a zero point",
     {.batch = 1,
      .channels = 16,
      .height = 9,
      .width = 12,
      .filters = 24,
      .kernel_h = 3,
      .kernel_w = 3,
      .stride_h = 2,
      .stride_w = 2,
      .bottom = 1,
      .right = 0},
     1,
     -0.5f},
    {"channels on two threads", {1, 512, 4, 4, 1024, 1, 1}, 2},
    {"groups",
     {.batch = 1,
      .channels = 64,
      .height = 14,
      .width = 15,
      .filters = 64,
      .kernel_h = 3,
      .kernel_w = 3,
      .top = 1,
      .left = 1,
      .bottom = 1,
      .right = 1,
      .group = 4}},
    {"without activation", {1, 64, 7, 9, 32, 1, 1}, 1, 0, "Identity"},
    {"another activation", {1, 64, 7, 9, 32, 1, 1}, 1, 0, "Sigmoid"},
    {"bounds of both sides", {1, 64, 7, 9, 32, 1, 1}, 1, 0, "ReluN"},
    {"a bound below the bytes, and one within", {1, 64, 7, 9, 32, 1, 1}, 1, 0, "Clip"},
};

// What Y is kept in.
enum class Result { kFloat, kBfloat16, kBytes };

std::string OpText(const Int8Case& c, Result result, bool sum) {
  const NaiveImage& p = c.image;
  std::string text = MakeString(
      R"(type: "ConvFusion" input: "X" input: "W" input: "B" output: "Y")",
      " arg { name: \"kernel_h\" i: ", p.kernel_h, " } arg { name: \"kernel_w\" i: ", p.kernel_w,
      " } arg { name: \"stride_h\" i: ", p.stride_h, " } arg { name: \"stride_w\" i: ", p.stride_w,
      " } arg { name: \"pad_t\" i: ", p.top, " } arg { name: \"pad_l\" i: ", p.left,
      " } arg { name: \"pad_b\" i: ", p.bottom, " } arg { name: \"pad_r\" i: ", p.right,
      " } arg { name: \"group\" i: ", p.group,
      R"( } arg { name: "layout" s: "nhwc" } arg { name: "precision" s: "int8" })",
      " arg { name: \"input_min\" f: ", c.min, " } arg { name: \"input_max\" f: 1.5 }",
      " arg { name: \"output_min\" f: -3 } arg { name: \"output_max\" f: 5 }");
  if (c.activation != std::string("Identity")) {
    text += MakeString(" arg { name: \"activation\" s: \"", c.activation, "\" }");
  }
  if (c.activation == std::string("ReluN")) text += R"( arg { name: "activation_n" f: 1.25 })";
  if (c.activation == std::string("Clip")) {
    text += R"( arg { name: "activation_min" f: -10 } arg { name: "activation_max" f: 0.5 })";
  }
  if (result != Result::kFloat) {
    text += MakeString(" arg { name: \"output_precision\" s: \"",
                       result == Result::kBytes ? "int8" : "bf16", "\" }");
  }
  if (sum) text += R"( input: "S" arg { name: "sum" i: 1 })";
  return text + " device_option { device_type: 5 }";
}

// x to the bytes of a range, without their zero point.
std::vector<float> Bytes(const std::vector<float>& x, const OnednnQuantization& quantization) {
  std::vector<float> bytes(x.size());
  const auto zero = static_cast<float>(quantization.zero_point);
  for (size_t i = 0; i < x.size(); ++i) {
    bytes[i] = std::clamp(std::nearbyint(x[i] / quantization.scale), -zero, 255 - zero);
  }
  return bytes;
}

float Activate(const std::string& name, float x) {
  if (name == "Relu") return std::max(x, 0.0f);
  if (name == "ReluN") return std::clamp(x, 0.0f, 1.25f);
  if (name == "Clip") return std::clamp(x, -10.0f, 0.5f);
  return name == "Sigmoid" ? 1 / (1 + std::exp(-x)) : x;
}

class Int8ConvTest : public testing::TestWithParam<std::tuple<Int8Case, Result, bool>> {
 protected:
  void SetUp() override { SetNumThreads(std::get<0>(GetParam()).threads); }
  void TearDown() override { SetNumThreads(1); }

  std::vector<float> Feed(const char* name, const std::vector<int64_t>& dims, float low, float high,
                          uint32_t seed) {
    const Tensor* plain = FeedRandom(&ws_, name, dims, low, high, seed);
    return {plain->data<float>(), plain->data<float>() + plain->numel()};
  }
  void Place(const char* name, const char* from) {
    ws_.CreateBlob(name)->GetMutableTensor(IDEEP)->CopyFrom(ws_.GetBlob(from)->Get<Tensor>());
  }

  Workspace ws_;
};

TEST_P(Int8ConvTest, AddsProductsOfBytes) {
  const std::string reason = WhyNoInt8Convs();
  if (!reason.empty()) GTEST_SKIP() << reason;
  const auto& [c, result, sum] = GetParam();
  const NaiveImage& p = c.image;
  const int64_t in = p.channels / p.group, taps = p.kernel_h * p.kernel_w;
  const std::vector<int64_t> y_dims{p.batch, p.filters, p.out_h(), p.out_w()};
  // Beyond the range at both ends.
  const std::vector<float> x =
      Feed("x", {p.batch, p.channels, p.height, p.width}, c.min * 1.2f - 0.1f, 1.7f, 1);
  const std::vector<float> w = Feed("W", {p.filters, in, p.kernel_h, p.kernel_w}, -0.2f, 0.2f, 2);
  const std::vector<float> b = Feed("B", {p.filters}, -1, 1, 3);
  const std::vector<float> s = Feed("s", y_dims, -1, 1, 4);
  Place("X", "x");
  Place("S", "s");

  const OnednnQuantization of_x = QuantizationOfRange(c.min, 1.5f);
  std::vector<int8_t> w_bytes(w.size());
  std::vector<float> scales(static_cast<size_t>(p.filters)), sums(scales.size());
  QuantizeFilter({.out = p.filters, .in = in, .taps = taps, .pair_limited = !AddsBytesExactly()},
                 w.data(), w_bytes.data(), scales.data(), sums.data());
  std::vector<float> want =
      NaiveConv(p, Bytes(x, of_x), std::vector<float>(w_bytes.begin(), w_bytes.end()), {});
  const size_t plane = static_cast<size_t>(p.out_h() * p.out_w());
  for (size_t i = 0; i < want.size(); ++i) {
    const size_t filter = i / plane % scales.size();
    want[i] = want[i] * scales[filter] * of_x.scale + b[filter] + (sum ? s[i] : 0);
    want[i] = Activate(c.activation, want[i]);
  }
  for (int run = 0; run < 2; ++run) RunOp(&ws_, OpText(c, result, sum));
  const Tensor& Y = ws_.GetBlob("Y")->Get<Tensor>();
  EXPECT_EQ(IsQuantized(Y), result == Result::kBytes && !sum);
  const Tensor y(Y, CPU);
  ASSERT_EQ(y.dims(), y_dims);
  for (size_t i = 0; i < want.size(); ++i) {
    float tolerance = 2e-4f, value = want[i];
    if (result == Result::kBytes && !sum) {
      const float scale = 8.0f / 255;
      value = std::clamp(value, -3.0f, 5.0f);
      tolerance = scale;  // the zero point is rounded, too
    } else if (result != Result::kFloat) {
      tolerance += (std::abs(value) + (sum ? std::abs(s[i]) : 0)) / 128;
    }
    ASSERT_NEAR(y.data<float>()[i], value, tolerance) << i;
  }
}

// A filter of the same scales, whose bytes have other sums: those take the zero point of X into account.
TEST(ChangedInt8ConvTest, SubtractsTheZeroPointOfItsNewFilter) {
  const std::string reason = WhyNoInt8Convs();
  if (!reason.empty()) GTEST_SKIP() << reason;
  const Int8Case c{
      .name = "changed", .image = {1, 64, 7, 9, 32, 1, 1}, .min = -2, .activation = "Identity"};
  Workspace ws;
  FeedRandom(&ws, "x", {1, 64, 7, 9}, -2, 1.5f, 1);
  FeedRandom(&ws, "W", {32, 64, 1, 1}, -0.1f, 0.2f, 2);
  FeedRandom(&ws, "B", {32}, -1, 1, 3);
  ws.CreateBlob("X")->GetMutableTensor(IDEEP)->CopyFrom(ws.GetBlob("x")->Get<Tensor>());
  NetDef def;
  def.set_name("changed");
  *def.add_op() = ParseOp(OpText(c, Result::kFloat, false));
  ws.CreateNet(def);
  ASSERT_TRUE(ws.RunNet("changed"));
  const Tensor first(ws.GetBlob("Y")->Get<Tensor>(), CPU);
  Tensor* const w = ws.GetBlob("W")->GetMutable<Tensor>();
  float* const weights = w->mutable_data<float>();
  for (int64_t i = 0; i < w->numel(); ++i) weights[i] = -weights[i];
  ASSERT_TRUE(ws.RunNet("changed"));
  const Tensor second(ws.GetBlob("Y")->Get<Tensor>(), CPU);
  const float* const bias = ws.GetBlob("B")->Get<Tensor>().data<float>();
  ASSERT_EQ(first.numel(), 32 * 63);
  for (int64_t i = 0; i < first.numel(); ++i) {
    ASSERT_NEAR(first.data<float>()[i] + second.data<float>()[i], 2 * bias[i / 63], 5e-4) << i;
  }
}

// The bias is kept in another form, with the zero points of X and Y.
TEST(ChangedInt8ConvTest, AddsItsNewBias) {
  const std::string reason = WhyNoInt8Convs();
  if (!reason.empty()) GTEST_SKIP() << reason;
  const Int8Case c{
      .name = "bias", .image = {1, 64, 7, 9, 32, 1, 1}, .min = -2, .activation = "Identity"};
  Workspace ws;
  FeedRandom(&ws, "x", {1, 64, 7, 9}, -2, 1.5f, 1);
  FeedRandom(&ws, "W", {32, 64, 1, 1}, -0.1f, 0.1f, 2);
  FeedRandom(&ws, "B", {32}, -0.5f, 0.5f, 3);
  ws.CreateBlob("X")->GetMutableTensor(IDEEP)->CopyFrom(ws.GetBlob("x")->Get<Tensor>());
  NetDef def;
  def.set_name("bias");
  *def.add_op() = ParseOp(OpText(c, Result::kFloat, false));
  ws.CreateNet(def);
  ASSERT_TRUE(ws.RunNet("bias"));
  const Tensor first(ws.GetBlob("Y")->Get<Tensor>(), CPU);
  ASSERT_TRUE(ws.RunNet("bias"));
  float* const bias = ws.GetBlob("B")->GetMutable<Tensor>()->mutable_data<float>();
  bias[0] += 1;
  bias[31] -= 2;
  ASSERT_TRUE(ws.RunNet("bias"));
  const Tensor second(ws.GetBlob("Y")->Get<Tensor>(), CPU);
  ASSERT_EQ(first.numel(), 32 * 63);
  for (int64_t i = 0; i < first.numel(); ++i) {
    const float more = i < 63 ? 1.f : i >= 31 * 63 ? -2.f : 0.f;
    ASSERT_NEAR(second.data<float>()[i] - first.data<float>()[i], more, 1e-4) << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, Int8ConvTest,
                         testing::Combine(testing::ValuesIn(kCases),
                                          testing::Values(Result::kFloat, Result::kBfloat16,
                                                          Result::kBytes),
                                          testing::Bool()));

}  // namespace
}  // namespace caffe2rt::test::int8_conv_test
