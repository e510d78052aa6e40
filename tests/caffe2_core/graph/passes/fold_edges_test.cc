// Constants folded into convolutions at the edges of what may be folded: images of one and three
// axes, channels last, older broadcasting, and values of other sizes and types.
#include <cmath>

#include "caffe2_core/graph/passes/fold_batch_norm.h"
#include "tests/caffe2_core/graph/passes/pass_run.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::fold_edges_test {
namespace {

using test::Feed;
using test::Fetch;
using test::Replaced;
using ::testing::ElementsAre;

class FoldEdgesTest : public testing::Test {
 protected:
  FoldEdgesTest() {
    Feed<float>(&run_.ws, "scale", {2}, {3, -1.5f});
    Feed<float>(&run_.ws, "bias", {2}, {1, 2});
    Feed<float>(&run_.ws, "mean", {2}, {5, 4});
    Feed<float>(&run_.ws, "var", {2}, {2, 0});
    Feed<float>(&run_.ws, "row", {1, 2}, {1, 1});
    Feed<float>(&run_.ws, "three", {3}, {1, 1, 1});
    Feed<double>(&run_.ws, "doubles", {2}, {1, 1});
    Feed<float>(&run_.ws, "w", {2, 1, 1, 2}, {1, 2, 3, 4});
    Feed<float>(&run_.ws, "b", {2}, {100, 10});
  }
  std::vector<std::string> Folded(const std::string& text) { return run_(FoldBatchNorm, text); }
  std::vector<float> Input(int i) { return Fetch<float>(run_.ws, run_.net.op(0).input(i)); }
  // Whether the convolution and the operator after it become one.
  bool Folds(const std::string& filter, const std::string& next, const std::string& args = "",
             const std::string& type = "Conv") {
    return Folded("op { type: \"" + type + "\" input: \"x\" input: \"" + filter +
                  R"(" input: "b" output: "t" )" + args + " } op { output: \"y\" " + next + " }")
               .size() == 1;
  }
  static constexpr char kNorm[] =
      R"(type: "SpatialBN" input: "t" input: "scale" input: "bias" input: "mean" input: "var" )";
  test::PassRun run_;
};

// factor = scale / sqrt(var + epsilon), term = bias - mean * factor
TEST_F(FoldEdgesTest, NormalizationNeedsItsModeAndAPositiveEpsilon) {
  const std::string mode = R"(arg { name: "is_test" i: 1 } )";
  ASSERT_TRUE(Folds("w", kNorm + mode));
  const double first = 3 / std::sqrt(2 + 1e-5), second = -1.5 / std::sqrt(1e-5);
  EXPECT_FLOAT_EQ(Input(1)[1], static_cast<float>(2 * first));
  EXPECT_FLOAT_EQ(Input(1)[2], static_cast<float>(3 * second));
  EXPECT_FLOAT_EQ(Input(2)[0], static_cast<float>(100 * first + 1 - 5 * first));
  EXPECT_FLOAT_EQ(Input(2)[1], static_cast<float>(10 * second + 2 - 4 * second));
  EXPECT_FALSE(Folds("w", kNorm));
  EXPECT_FALSE(Folds("w", kNorm + std::string(R"(arg { name: "is_test" i: 0 } )")));
  EXPECT_FALSE(Folds("w", kNorm + mode + R"(output: "m" output: "v" )"));
  Feed<float>(&run_.ws, "large", {2}, {2, 1});  // finite numbers for every epsilon
  for (const char* epsilon : {"0", "-0.25", "nan", "0.5"}) {
    EXPECT_EQ(Folds("w", Replaced(kNorm, "\"var\"", "\"large\"") + mode +
                             "arg { name: \"epsilon\" f: " + epsilon + " }"),
              std::string(epsilon) == "0.5")
        << epsilon;
  }
  for (const char* input : {"\"scale\"", "\"bias\"", "\"mean\"", "\"var\""}) {
    for (const char* other : {"\"three\"", "\"row\"", "\"doubles\"", "\"unknown\"", "\"t\""}) {
      EXPECT_FALSE(Folds("w", Replaced(kNorm, input, other) + mode)) << input << other;
    }
  }
}

// The channels are axis 1 of as many axes as the filter has, or the last one.
TEST_F(FoldEdgesTest, ImagesHaveAsManyAxesAsTheirFilters) {
  Feed<float>(&run_.ws, "w1", {2, 1, 2}, {1, 2, 3, 4});
  Feed<float>(&run_.ws, "w3", {2, 1, 1, 1, 2}, {1, 2, 3, 4});
  Feed<float>(&run_.ws, "last", {2, 2, 1}, {1, 2, 3, 4});
  Feed<float>(&run_.ws, "flat", {2, 2}, {1, 2, 3, 4});
  Feed<float>(&run_.ws, "m0", {2}, {10, 100});
  Feed<float>(&run_.ws, "m1", {2, 1}, {10, 100});
  Feed<float>(&run_.ws, "m2", {2, 1, 1}, {10, 100});
  Feed<float>(&run_.ws, "m3", {2, 1, 1, 1}, {10, 100});
  const auto mul = [](int axes) {
    return MakeString(R"(type: "Mul" input: "t" input: "m)", axes, "\"");
  };
  for (int axes = 0; axes <= 3; ++axes) {
    EXPECT_EQ(Folds("w1", mul(axes)), axes == 1) << axes;
    EXPECT_EQ(Folds("w", mul(axes)), axes == 2) << axes;
    EXPECT_EQ(Folds("w3", mul(axes)), axes == 3) << axes;
    EXPECT_EQ(Folds("last", mul(axes), R"(arg { name: "order" s: "NHWC" })"), axes == 0) << axes;
    EXPECT_FALSE(Folds("flat", mul(axes))) << axes;
  }
  ASSERT_TRUE(Folds("w3", mul(3)));
  EXPECT_THAT(Input(1), ElementsAre(10, 20, 300, 400));
  EXPECT_THAT(Input(2), ElementsAre(1000, 1000));
  EXPECT_TRUE(Folds("w1", kNorm + std::string(R"(arg { name: "is_test" i: 1 })")));
  EXPECT_TRUE(
      Folds("last",
            kNorm + std::string(R"(arg { name: "is_test" i: 1 } arg { name: "order" s: "NHWC" })"),
            R"(arg { name: "order" s: "NHWC" })"));
  // ConvTranspose computes images of two axes only. Its filter is [C, M, kh, kw].
  Feed<float>(&run_.ws, "t1", {1, 2, 2}, {1, 2, 3, 4});
  Feed<float>(&run_.ws, "t2", {1, 2, 1, 2}, {1, 2, 3, 4});
  Feed<float>(&run_.ws, "t3", {1, 2, 1, 1, 2}, {1, 2, 3, 4});
  const std::string scale = R"(type: "Scale" input: "t" arg { name: "scale" f: 2 })";
  EXPECT_TRUE(Folds("t2", scale, "", "ConvTranspose"));
  EXPECT_FALSE(Folds("t1", scale, "", "ConvTranspose"));
  EXPECT_FALSE(Folds("t3", scale, "", "ConvTranspose"));
}

// Without the flag, an axis has no effect: the last dims meet.
TEST_F(FoldEdgesTest, AnAxisCountsWithBroadcastOnly) {
  const std::string add = R"(type: "Add" input: "t" input: "bias" arg { name: "axis" i: 1 } )",
                    flag = R"(arg { name: "broadcast" i: )";
  EXPECT_FALSE(Folds("w", add));
  EXPECT_FALSE(Folds("w", add + flag + "0 }"));
  ASSERT_TRUE(Folds("w", add + flag + "1 }"));
  EXPECT_THAT(Input(2), ElementsAre(101, 12));
  EXPECT_FALSE(Folds("w", Replaced(add, "i: 1", "i: 3") + flag + "1 }"));
}

// The numbers of AffineChannel are constant vectors, one number for each channel.
TEST_F(FoldEdgesTest, ScalesAndTermsAreVectorsOfFloats) {
  Feed<float>(&run_.ws, "column", {2, 1}, {1, 1});
  const std::string affine = R"(type: "AffineChannel" input: "t" input: "scale" input: "bias")",
                    norm = kNorm + std::string(R"(arg { name: "is_test" i: 1 })");
  EXPECT_TRUE(Folds("w", affine));
  for (const char* other : {"three", "row", "column", "doubles", "unknown", "t"}) {
    const std::string with = MakeString("\"", other, "\"");
    EXPECT_FALSE(Folds("w", Replaced(affine, "\"scale\"", with))) << other;
    EXPECT_FALSE(Folds("w", Replaced(affine, "\"bias\"", with))) << other;
  }
  EXPECT_FALSE(Folds("w", Replaced(norm, "\"mean\"", "\"column\"")));
  EXPECT_FALSE(Folds("w", affine + R"( arg { name: "order" s: "NHWC" })"));
  EXPECT_FALSE(Folds("w", affine + R"( control_input: "z")"));
  EXPECT_FALSE(Folds("w", affine + R"( input: "bias")"));
  EXPECT_FALSE(Folds("w", Replaced(affine, R"( input: "bias")", "")));
}

// The sum or product has more channels than the convolution.
TEST_F(FoldEdgesTest, ConstantsDoNotWidenTheResult) {
  Feed<float>(&run_.ws, "one", {1, 1, 1, 2}, {1, 2});
  Feed<float>(&run_.ws, "m", {2, 1, 1}, {10, 100});
  Feed<float>(&run_.ws, "number", {1, 1, 1}, {10});
  const auto folds = [&](const std::string& type, const std::string& m) {
    return Folded(
               MakeString(R"(op { type: "Conv" input: "x" input: "one" output: "t" } op { type: ")",
                          type, R"(" input: "t" input: ")", m, R"(" output: "y" })"))
               .size() == 1;
  };
  for (const char* type : {"Mul", "Add", "Sub", "Div"}) {
    EXPECT_TRUE(folds(type, "number")) << type;
    EXPECT_FALSE(folds(type, "m")) << type;
  }
}

// What the convolution will report is not hidden.
TEST_F(FoldEdgesTest, FiltersAndBiasesAreFloatsOfTheRightSizes) {
  const std::string scale = R"(type: "Scale" input: "t" output: "y" arg { name: "scale" f: 2 })";
  const auto folds = [&](const std::string& inputs, const std::string& type = "Conv") {
    return Folded("op { type: \"" + type + "\" input: \"x\" " + inputs + R"( output: "t" } op { )" +
                  scale + " }")
               .size() == 1;
  };
  Feed<float>(&run_.ws, "flat", {2, 2}, {1, 2, 3, 4});
  Feed<double>(&run_.ws, "double", {2, 1, 1, 2}, {1, 2, 3, 4});
  Feed<float>(&run_.ws, "column", {2, 1}, {1, 1});
  EXPECT_TRUE(folds(R"(input: "w")"));
  EXPECT_TRUE(folds(R"(input: "w" input: "b")"));
  for (const char* filter : {"flat", "double", "b", "unknown"}) {
    EXPECT_FALSE(folds(MakeString("input: \"", filter, "\""))) << filter;
    EXPECT_FALSE(folds(MakeString("input: \"", filter, "\""), "ConvTranspose")) << filter;
  }
  for (const char* bias : {"three", "row", "column", "doubles", "unknown"}) {
    EXPECT_FALSE(folds(MakeString(R"(input: "w" input: ")", bias, "\""))) << bias;
    EXPECT_FALSE(folds(MakeString(R"(input: "flat" input: ")", bias, "\""), "FC")) << bias;
  }
  EXPECT_TRUE(folds(R"(input: "flat" input: "b")", "FC"));
  EXPECT_TRUE(folds(R"(input: "flat" input: "b" arg { name: "axis_w" i: 1 })", "FC"));
  for (const int axis : {0, 2, -1}) {
    EXPECT_FALSE(
        folds(MakeString(R"(input: "flat" input: "b" arg { name: "axis_w" i: )", axis, " }"), "FC"))
        << axis;
  }
  for (const char* type : {"Conv", "ConvTranspose"}) {
    EXPECT_FALSE(folds(R"(input: "w" arg { name: "order" s: "HWCN" })", type)) << type;
  }
  for (const int groups : {0, -1}) {
    EXPECT_FALSE(
        folds(MakeString(R"(input: "w" arg { name: "group" i: )", groups, " }"), "ConvTranspose"))
        << groups;
  }
}

// A filter that is not scaled is not copied.
TEST_F(FoldEdgesTest, ATermChangesTheBiasOnly) {
  Feed<float>(&run_.ws, "m", {2, 1, 1}, {2, -4});
  const std::string conv = R"(op { type: "Conv" input: "x" input: "w" input: "b" output: "t" })";
  EXPECT_THAT(Folded(conv + R"(op { type: "Add" input: "t" input: "m" output: "y" })"),
              ElementsAre("Conv(x w b_2) -> y"));
  EXPECT_THAT(Input(2), ElementsAre(102, 6));
  EXPECT_THAT(Folded(conv + R"(op { type: "Mul" input: "t" input: "m" output: "u" }
                               op { type: "Sub" input: "u" input: "m" output: "v" }
                               op { type: "Div" input: "v" input: "m" output: "y" })"),
              ElementsAre(testing::StartsWith("Conv(x w b_")));
  EXPECT_THAT(Input(2), ElementsAre(99, 9));
}

// A factor of one channel scales the filter, whichever channel it is.
TEST_F(FoldEdgesTest, FactorsOfOneChannelScaleTheFilter) {
  Feed<float>(&run_.ws, "first", {2, 1, 1}, {2, 1});
  Feed<float>(&run_.ws, "second", {2, 1, 1}, {1, 2});
  ASSERT_TRUE(Folds("w", R"(type: "Mul" input: "t" input: "first")"));
  EXPECT_THAT(Input(1), ElementsAre(2, 4, 3, 4));
  EXPECT_THAT(Input(2), ElementsAre(200, 10));
  ASSERT_TRUE(Folds("w", R"(type: "Mul" input: "t" input: "second")"));
  EXPECT_THAT(Input(1), ElementsAre(1, 2, 6, 8));
  EXPECT_THAT(Input(2), ElementsAre(100, 20));
}

// The groups of a ConvTranspose divide its input channels; the operator reports others.
TEST_F(FoldEdgesTest, GroupsDivideTheInputChannels) {
  Feed<float>(&run_.ws, "tw", {4, 2, 1, 1}, {1, 2, 3, 4, 5, 6, 7, 8});
  for (const int groups : {1, 2, 3, 4, 5}) {
    const int64_t channels = 2 * groups;
    Feed<float>(&run_.ws, "s", {channels}, std::vector<float>(static_cast<size_t>(channels), 2));
    Feed<float>(&run_.ws, "t0", {channels}, std::vector<float>(static_cast<size_t>(channels), 1));
    const auto lines = Folded(MakeString(
        R"(op { type: "ConvTranspose" input: "x" input: "tw" output: "t" arg { name: "group" i: )",
        groups, R"( } }
        op { type: "AffineChannel" input: "t" input: "s" input: "t0" output: "y" })"));
    EXPECT_EQ(lines.size(), groups == 3 || groups == 5 ? 2u : 1u) << groups;
  }
}

// Without an axis, the older broadcasting is along the last axis.
TEST_F(FoldEdgesTest, OlderBroadcastsEndWithTheLastAxis) {
  const std::string add = R"(type: "Add" input: "t" input: "bias" arg { name: "broadcast" i: 1 })";
  EXPECT_FALSE(Folds("w", add));
  Feed<float>(&run_.ws, "last", {2, 2, 1, 1}, {1, 2, 3, 4});
  ASSERT_TRUE(Folds("last", add, R"(arg { name: "order" s: "NHWC" })"));
  EXPECT_THAT(Input(2), ElementsAre(101, 12));
}

// x is written between the operators of the chain: the convolution must run before.
TEST_F(FoldEdgesTest, ChainsEndWhereAnInputOfTheConvolutionChanges) {
  Feed<float>(&run_.ws, "m", {2, 1, 1}, {2, -4});
  const auto lines = Folded(R"(
      op { type: "Conv" input: "x" input: "w" input: "b" output: "t" }
      op { type: "Mul" input: "t" input: "m" output: "u" }
      op { type: "Relu" input: "z" output: "x" }
      op { type: "Add" input: "u" input: "m" output: "y" })");
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_THAT(lines[0], testing::EndsWith("-> u"));
  EXPECT_EQ(lines[1], "Relu(z) -> x");
  EXPECT_EQ(lines[2], "Add(u m) -> y");
}

// The convolution would write its own input.
TEST_F(FoldEdgesTest, ChainsEndBeforeTheInputOfTheConvolutionIsWritten) {
  Feed<float>(&run_.ws, "m", {2, 1, 1}, {2, -4});
  const auto lines = Folded(R"(
      op { type: "Conv" input: "x" input: "w" input: "b" output: "t" }
      op { type: "Mul" input: "t" input: "m" output: "u" }
      op { type: "Add" input: "u" input: "m" output: "x" }
      op { type: "Relu" input: "x" output: "y" })");
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_THAT(lines[0], testing::EndsWith("-> u"));
  EXPECT_EQ(lines[1], "Add(u m) -> x");
  EXPECT_THAT(Input(1), ElementsAre(2, 4, -12, -16));
  EXPECT_THAT(Input(2), ElementsAre(200, -40));
}

}  // namespace
}  // namespace caffe2rt::fold_edges_test
