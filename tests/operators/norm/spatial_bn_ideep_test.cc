#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "caffe2_core/graph/passes/conv_layouts.h"
#include "tests/operators/common/onednn_run.h"

namespace caffe2rt::spatial_bn_ideep_test {
namespace {

using namespace test;  // used throughout this file

class OnednnNormTest : public OnednnTest {};

TEST_P(OnednnNormTest, SpatialBNScalesAndShiftsEachChannel) {
  FeedImage("X");
  const std::vector<int64_t> channels = {GetParam().channels};
  FeedWeights("scale", channels, -2, 2, 3);
  FeedWeights("bias", channels, -1, 1, 4);
  FeedWeights("mean", channels, -1, 1, 5);
  FeedWeights("var", channels, 0.1f, 2, 6);
  const std::string start = R"(type: "SpatialBN" input: "X" input: "scale" input: "bias"
      input: "mean" input: "var" arg { name: "is_test" i: 1 } output: )";
  ExpectSameAsCpu(start + "\"Y\"", 2e-6);
  FeedWeights("scale", channels, -2, 2, 13);  // new values in the same memory
  ExpectSameAsCpu(start + "\"Y\"", 2e-6);
  ExpectSameAsCpu(start + "\"X\"", 2e-6, "X");
}

// SpatialBN in test mode and an activation. `more` holds more arguments.
std::string Fusion(const std::string& activation, const std::string& more = "") {
  return R"(type: "SpatialBNFusion" input: "X" input: "scale" input: "bias" input: "mean" input: "var"
            output: "Y" arg { name: "is_test" i: 1 } arg { name: "activation" s: ")" +
         activation + "\" } " + more;
}

class OnednnNormFusionTest : public OnednnTest {
 protected:
  void FeedAll() {
    FeedImage("X");
    const std::vector<int64_t> channels = {GetParam().channels};
    FeedWeights("scale", channels, -2, 2, 3);
    FeedWeights("bias", channels, -1, 1, 4);
    FeedWeights("mean", channels, -1, 1, 5);
    FeedWeights("var", channels, 0.1f, 2, 6);
  }
  std::vector<float> Plain(const char* name) const {
    const Tensor y(onednn_.GetBlob(name)->Get<Tensor>(), CPU);
    return {y.data<float>(), y.data<float>() + y.numel()};
  }
  // Expects that Y on IDEEP, widened, is `round` of the values on the CPU, within `tolerance`, which
  // allows for products that are rounded once or twice, and that a second run gives the same.
  template <class Round>
  void ExpectRounded(const std::string& op, const Round& round, float tolerance) {
    SCOPED_TRACE(op);
    RunOp(&cpu_, op);
    RunOnednn(op);
    const std::vector<float> exact = Fetch<float>(cpu_, "Y"), got = Plain("Y");
    ASSERT_EQ(got.size(), exact.size());
    for (size_t i = 0; i < got.size(); ++i) {
      ASSERT_NEAR(got[i], round(exact[i]), tolerance * std::max(1.0f, std::abs(exact[i]))) << i;
    }
    RunOnednn(op);
    EXPECT_EQ(Plain("Y"), got);
  }
};

TEST_P(OnednnNormFusionTest, AppliesTheActivation) {
  FeedAll();
  ExpectSameAsCpu(Fusion("Relu"), 2e-6);
  ExpectSameAsCpu(Fusion("LeakyRelu", R"(arg { name: "activation_alpha" f: 0.3 })"), 2e-6);
  // Bounds, and another function, that are not 0 for 0: the padding stays 0.
  ExpectSameAsCpu(Fusion("Clip", R"(arg { name: "activation_min" f: 0.5 }
                                    arg { name: "activation_max" f: 1.5 })"),
                  2e-6);
  ExpectSameAsCpu(Fusion("Clip", R"(arg { name: "activation_min" f: -1.5 }
                                    arg { name: "activation_max" f: -0.5 })"),
                  2e-6);
  ExpectSameAsCpu(Fusion("Sigmoid"), 2e-6);
}

// A bf16 has 8 digits.
TEST_P(OnednnNormFusionTest, WritesBf16) {
  if (!WhyNoBf16Convs().empty()) GTEST_SKIP() << WhyNoBf16Convs();
  FeedAll();
  const std::string bf16 = R"(arg { name: "output_precision" s: "bf16" } )";
  const auto same = [](float x) { return x; };
  for (const char* clip : {"", R"(arg { name: "activation_min" f: 0.5 })"}) {
    ExpectRounded(Fusion(*clip == 0 ? "Relu" : "Clip", bf16 + clip), same, 1.0f / 256 + 1e-5f);
    const Tensor& y = onednn_.GetBlob("Y")->Get<Tensor>();
    EXPECT_TRUE(IsReduced(y));
    const std::optional<ChannelPlanes> planes = ReducedPlanesOf(y, dnnl::memory::data_type::bf16);
    ASSERT_TRUE(planes);
    if (!planes->blocked || planes->batch == 0) continue;
    const auto* const memory = static_cast<const uint16_t*>(OnednnMemory(y));
    for (int64_t c = planes->channels; c < planes->padded_channels(); ++c) {
      for (int64_t p = 0; p < planes->pixels(); ++p)
        EXPECT_EQ(memory[IndexIn(*planes, 0, c, p)], 0);
    }
  }
  // Not in place, and not with a function that does more than to bound.
  RunOnednn(Fusion("Sigmoid", bf16));
  EXPECT_FALSE(IsReduced(onednn_.GetBlob("Y")->Get<Tensor>()));
}

// Steps of 0.01 from 0 to 2.55.
TEST_P(OnednnNormFusionTest, WritesBytes) {
  FeedAll();
  const auto round = [](float x) { return std::clamp(std::nearbyint(x * 100) / 100, 0.0f, 2.55f); };
  ExpectRounded(Fusion("Relu", R"(arg { name: "output_precision" s: "int8" }
                                  arg { name: "output_max" f: 2.55 })"),
                round, 0.0101f);
  EXPECT_TRUE(IsBytesInNhwc(onednn_.GetBlob("Y")->Get<Tensor>()));
}

// What it reads of an X in bytes or bf16 are the numbers that those stand for.
TEST_P(OnednnNormFusionTest, ReadsBytesAndBf16) {
  FeedAll();
  for (const char* elements : {R"(arg { name: "output_precision" s: "int8" }
                                  arg { name: "output_max" f: 2.55 })",
                               R"(arg { name: "output_precision" s: "bf16" })"}) {
    RunOnednn(Fusion("Relu", elements));
    Feed<float>(&cpu_, "Y", dims(), Plain("Y"));
    for (const char* type : {"SpatialBN", "SpatialBNFusion"}) {
      ExpectSameAsCpu(MakeString("type: \"", type, "\" ", R"(
          input: "Y" input: "scale" input: "bias" input: "mean" input: "var" output: "Z"
          arg { name: "is_test" i: 1 })"),
                      2e-6, "Z");
    }
  }
}

TEST_P(OnednnNormFusionTest, WritesFloatsInPlace) {
  FeedAll();
  std::string op = Fusion("Relu", R"(arg { name: "output_precision" s: "bf16" })");
  op.replace(op.find("\"Y\""), 3, "\"X\"");
  ExpectSameAsCpu(op, 2e-6, "X");
}

INSTANTIATE_TEST_SUITE_P(Layouts, OnednnNormFusionTest, testing::ValuesIn(OnednnCases()));

// Halves are rounded to even; a NaN stays, and becomes the smallest byte.
TEST(OnednnNormFusionRoundingTest, RoundsToEvenAndKeepsNan) {
  if (!WhyNoBf16Convs().empty()) GTEST_SKIP() << WhyNoBf16Convs();
  Workspace ws;
  const float nan = std::numeric_limits<float>::quiet_NaN();
  Tensor* const x = ws.CreateBlob("X")->GetMutableTensor(IDEEP);
  const float inf = std::numeric_limits<float>::infinity();
  const std::vector<float> values = {1.00390625f, 1.01171875f, 3.4e38f, nan, 0.25f, -1, inf};
  std::copy(values.begin(), values.end(), PrepareOutput(x, {1, 1, 1, 7}, nullptr));
  for (const char* name : {"scale", "var"}) Feed<float>(&ws, name, {1}, {1});
  for (const char* name : {"bias", "mean"}) Feed<float>(&ws, name, {1}, {0});
  const auto run = [&](const std::string& more) {
    RunOp(&ws, Fusion("Relu", more + R"( arg { name: "epsilon" f: 1e-30 }
                                         device_option { device_type: 5 } )"));
    const Tensor y(ws.GetBlob("Y")->Get<Tensor>(), CPU);
    return std::vector<float>(y.data<float>(), y.data<float>() + 7);
  };
  const std::vector<float> bf16 = run(R"(arg { name: "output_precision" s: "bf16" })");
  EXPECT_EQ(bf16[0], 1.0f);
  EXPECT_EQ(bf16[1], 1.015625f);
  EXPECT_EQ(bf16[2], inf);
  EXPECT_TRUE(std::isnan(bf16[3]));
  EXPECT_EQ(bf16[4], 0.25f);
  EXPECT_EQ(bf16[5], 0.0f);
  EXPECT_EQ(bf16[6], inf);
  const std::vector<float> bytes =
      run(R"(arg { name: "output_precision" s: "int8" } arg { name: "output_max" f: 127.5 })");
  EXPECT_EQ(bytes, (std::vector<float>{1, 1, 127.5f, 0, 0, 0, 127.5f}));
}

TEST_P(OnednnNormTest, SpatialBNRejectsTraining) {
  FeedImage("X");
  for (const char* name : {"s", "b", "m", "v"}) FeedWeights(name, {GetParam().channels});
  ExpectThrows(
      [&] {
        RunOnednn(R"(type: "SpatialBN" input: "X" input: "s" input: "b" input: "m" input: "v"
                     output: "Y" output: "m" output: "v" output: "sm" output: "sv"
                     arg { name: "is_test" i: 0 })");
      },
      "argument is_test is 0, want 1");
}

TEST_P(OnednnNormTest, SpatialBNRejectsChannelsLast) {
  FeedImage("X");
  for (const char* name : {"s", "b", "m", "v"}) FeedWeights(name, {GetParam().channels});
  ExpectThrows(
      [&] {
        RunOnednn(R"(type: "SpatialBN" input: "X" input: "s" input: "b" input: "m" input: "v"
                     output: "Y" arg { name: "is_test" i: 1 } arg { name: "order" s: "NHWC" })");
      },
      "argument order is NHWC");
}

TEST_P(OnednnNormTest, SoftmaxAddsUpToOneInEachRow) {
  FeedImage("X");
  for (const int axis : {0, 1, 2, -1}) {
    if (axis == 0 && GetParam().batch == 0) continue;
    ExpectSameAsCpu(
        MakeString(R"(type: "Softmax" input: "X" output: "Y" arg { name: "axis" i: )", axis, " }"),
        1e-6);
  }
}

INSTANTIATE_TEST_SUITE_P(Layouts, OnednnNormTest, testing::ValuesIn(OnednnCases()));

}  // namespace
}  // namespace caffe2rt::spatial_bn_ideep_test
