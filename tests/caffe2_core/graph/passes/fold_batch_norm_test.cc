#include "caffe2_core/graph/passes/fold_batch_norm.h"

#include <cmath>

#include "caffe2_core/graph/passes/user_operators.h"
#include "tests/caffe2_core/graph/passes/pass_run.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::fold_batch_norm_test {
namespace {

using test::Feed;
using test::Fetch;
using ::testing::ElementsAre;
using ::testing::FloatEq;
using ::testing::Pointwise;
using Lines = std::vector<std::string>;

constexpr char kBatchNorm[] = R"(op { type: "SpatialBN" input: "t" input: "scale" input: "bias"
    input: "mean" input: "var" output: "y" arg { name: "is_test" i: 1 }
    arg { name: "epsilon" f: 0.25 } })";

class FoldBatchNormTest : public testing::Test {
 protected:
  FoldBatchNormTest() {
    // factor = scale / sqrt(var + 0.25) = {2, -3}; term = bias - mean * factor = {1 - 10, 2 + 12}
    Feed<float>(&run_.ws, "scale", {2}, {3, -1.5f});
    Feed<float>(&run_.ws, "bias", {2}, {1, 2});
    Feed<float>(&run_.ws, "mean", {2}, {5, 4});
    Feed<float>(&run_.ws, "var", {2}, {2, 0});
    Feed<float>(&run_.ws, "w", {2, 1, 1, 2}, {1, 2, 3, 4});
    Feed<float>(&run_.ws, "b", {2}, {100, 10});
  }
  Lines Folded(const std::string& text) { return run_(FoldBatchNorm, text); }
  // The numbers of input `i` of the first operator.
  std::vector<float> Input(int i) { return Fetch<float>(run_.ws, run_.net.op(0).input(i)); }
  // Whether the net stays as it is.
  bool Stays(const std::string& text) {
    return Folded(text) == test::LinesOf(test::ParseNet(text));
  }
  test::PassRun run_;
};

// All numbers are exact in floats.
TEST_F(FoldBatchNormTest, ScalesFilterAndBias) {
  const std::string conv =
      R"(op { type: "Conv" input: "x" input: "w" input: "b" output: "t" name: "c1"
         arg { name: "kernel_h" i: 1 } arg { name: "kernel_w" i: 2 } })";
  EXPECT_THAT(Folded(conv + kBatchNorm), ElementsAre("Conv(x w_2 b_3) -> y"));
  EXPECT_THAT(Input(1), ElementsAre(2, 4, -9, -12));
  EXPECT_THAT(Input(2), ElementsAre(2 * 100 - 9, -3 * 10 + 14));
  EXPECT_EQ(run_.net.op(0).arg_size(), 2 + 1);  // with the list of the user's operators
  EXPECT_THAT(Fetch<float>(run_.ws, "w"), ElementsAre(1, 2, 3, 4));
}

TEST_F(FoldBatchNormTest, AddsAMissingBias) {
  const std::string conv =
      R"(op { type: "Conv" input: "x" input: "w" output: "t" arg { name: "kernels" ints: [1, 2] } })";
  EXPECT_THAT(Folded(conv + kBatchNorm), ElementsAre("Conv(x w_2 w_bias) -> y"));
  EXPECT_THAT(Input(2), ElementsAre(-9, 14));
}

TEST_F(FoldBatchNormTest, FoldsAChainInPlace) {
  Feed<float>(&run_.ws, "m", {2, 1, 1}, {10, 100});
  Feed<float>(&run_.ws, "a", {1}, {7});
  EXPECT_THAT(Folded(R"(
      op { type: "Conv" input: "x" input: "w" input: "b" output: "y" }
      op { type: "SpatialBN" input: "y" input: "scale" input: "bias" input: "mean" input: "var"
           output: "y" arg { name: "is_test" i: 1 } arg { name: "epsilon" f: 0.25 } }
      op { type: "Mul" input: "y" input: "m" output: "y" }
      op { type: "Add" input: "a" input: "y" output: "z" }
      op { type: "Scale" input: "z" output: "u" arg { name: "scale" f: 0.5 } }
      op { type: "Relu" input: "u" output: "y" })"),
              ElementsAre("Conv(x w_2 b_3) -> u", "Relu(u) -> y"));
  EXPECT_THAT(Input(1), ElementsAre(10, 20, -450, -600));
  EXPECT_THAT(Input(2), ElementsAre((191 * 10 + 7) / 2.0f, (-16 * 100 + 7) / 2.0f));
}

// An operator on the result of the convolution, and what it makes of filter and bias.
struct Folding {
  const char* op;
  std::vector<float> filter, bias;
};

TEST_F(FoldBatchNormTest, FoldsEachOperatorOfAChannel) {
  Feed<float>(&run_.ws, "m", {2, 1, 1}, {2, -4});
  Feed<float>(&run_.ws, "m4", {1, 2, 1, 1}, {2, -4});
  Feed<float>(&run_.ws, "a", {}, {7});
  const Folding foldings[] = {
      {R"(type: "Mul" input: "t" input: "m")", {2, 4, -12, -16}, {200, -40}},
      {R"(type: "Mul" input: "m" input: "t")", {2, 4, -12, -16}, {200, -40}},
      {R"(type: "Mul" input: "t" input: "m4")", {2, 4, -12, -16}, {200, -40}},
      {R"(type: "Div" input: "t" input: "m")", {0.5f, 1, -0.75f, -1}, {50, -2.5f}},
      {R"(type: "Add" input: "t" input: "m")", {1, 2, 3, 4}, {102, 6}},
      {R"(type: "Add" input: "m" input: "t")", {1, 2, 3, 4}, {102, 6}},
      {R"(type: "Sub" input: "t" input: "m")", {1, 2, 3, 4}, {98, 14}},
      {R"(type: "Sub" input: "t" input: "a")", {1, 2, 3, 4}, {93, 3}},
      {R"(type: "Scale" input: "t" arg { name: "scale" f: 0.5 })", {0.5f, 1, 1.5f, 2}, {50, 5}},
      {R"(type: "AffineChannel" input: "t" input: "scale" input: "bias")",
       {3, 6, -4.5f, -6},
       {301, -13}},
  };
  for (const Folding& folding : foldings) {
    SCOPED_TRACE(folding.op);
    const Lines lines = Folded(
        R"(op { type: "Conv" input: "x" input: "w" input: "b" output: "t" } op { output: "y" )" +
        std::string(folding.op) + " }");
    ASSERT_EQ(lines.size(), 1u);
    EXPECT_TRUE(lines[0].starts_with("Conv(x w") && lines[0].ends_with(" -> y")) << lines[0];
    EXPECT_EQ(Input(1), folding.filter);
    EXPECT_EQ(Input(2), folding.bias);
  }
}

TEST_F(FoldBatchNormTest, LeavesOperatorsThatDoMoreThanThat) {
  Feed<float>(&run_.ws, "m", {2, 1, 1}, {2, -4});
  Feed<float>(&run_.ws, "m5", {1, 1, 2, 1, 1}, {2, -4});
  Feed<float>(&run_.ws, "rows", {2, 1}, {2, -4});
  Feed<float>(&run_.ws, "images", {2, 1, 1, 1}, {2, -4});
  Feed<float>(&run_.ws, "three", {3}, {1, 2, 3});
  Feed<int32_t>(&run_.ws, "ints", {2, 1, 1}, {2, -4});
  Feed<float>(&run_.ws, "empty", {0}, {});
  for (const char* op : {
           R"(type: "Div" input: "m" input: "t")",
           R"(type: "Sub" input: "m" input: "t")",
           R"(type: "Mul" input: "t" input: "t")",
           R"(type: "Mul" input: "t" input: "m5")",
           R"(type: "Mul" input: "t" input: "rows")",
           R"(type: "Mul" input: "t" input: "images")",
           R"(type: "Mul" input: "t" input: "empty")",
           R"(type: "Mul" input: "t" input: "ints")",
           R"(type: "Mul" input: "t" input: "unknown")",
           R"(type: "Mul" input: "m" input: "t" arg { name: "broadcast" i: 1 })",
           R"(type: "AffineChannel" input: "t" input: "scale" input: "three")",
           R"(type: "AffineChannel" input: "t" input: "scale" input: "bias"
              arg { name: "order" s: "NHWC" })",
           R"(type: "AffineChannel" input: "scale" input: "t" input: "bias")",
           R"(type: "Scale" input: "t" arg { name: "scale" s: "two" })",
           R"(type: "Pow" input: "t" arg { name: "exponent" f: 1 })",
       }) {
    SCOPED_TRACE(op);
    EXPECT_TRUE(Stays(
        R"(op { type: "Conv" input: "x" input: "w" input: "b" output: "t" } op { output: "y" )" +
        std::string(op) + " }"));
  }
}

// The filter of Conv is [M, kh, kw, C], that of ConvTranspose [C, kh, kw, M].
TEST_F(FoldBatchNormTest, FoldsIntoFiltersWithChannelsLast) {
  const std::string nhwc = R"(arg { name: "order" s: "NHWC" } })";
  const std::string affine =
      R"(op { type: "AffineChannel" input: "t" input: "s" input: "zeros" output: "y" )" + nhwc;
  Feed<float>(&run_.ws, "s", {2}, {10, 100});
  Feed<float>(&run_.ws, "zeros", {2}, {0, 0});
  Feed<float>(&run_.ws, "last", {2, 1, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8});
  Folded(R"(op { type: "Conv" input: "x" input: "last" input: "b" output: "t" )" + nhwc + affine);
  EXPECT_THAT(Input(1), ElementsAre(10, 20, 30, 40, 500, 600, 700, 800));
  EXPECT_THAT(Input(2), ElementsAre(1000, 1000));
  Folded(R"(op { type: "ConvTranspose" input: "x" input: "last" input: "b" output: "t" )" + nhwc +
         affine);
  EXPECT_THAT(Input(1), ElementsAre(10, 200, 30, 400, 50, 600, 70, 800));
  EXPECT_THAT(Input(2), ElementsAre(1000, 1000));
}

// The convolution still reads its input when the result is written.
TEST_F(FoldBatchNormTest, LeavesAChainThatOverwritesAnInputOfTheConvolution) {
  run_.kept = {"x"};
  EXPECT_TRUE(Stays(R"(op { type: "Conv" input: "x" input: "w" output: "t" }
                       op { type: "Scale" input: "t" output: "x" })"));
}

TEST_F(FoldBatchNormTest, ReadsTheOlderBroadcastingRules) {
  Feed<float>(&run_.ws, "m", {2}, {10, 100});
  const std::string conv = R"(op { type: "Conv" input: "x" input: "w" input: "b" output: "t" })";
  EXPECT_THAT(Folded(conv + R"(op { type: "Mul" input: "t" input: "m" output: "y"
                                    arg { name: "broadcast" i: 1 } arg { name: "axis" i: 1 } })"),
              ElementsAre("Conv(x w_2 b_3) -> y"));
  EXPECT_THAT(Input(2), ElementsAre(1000, 1000));
  // m along the last axis, which is not that of the channels
  EXPECT_TRUE(Stays(conv + R"(op { type: "Mul" input: "t" input: "m" output: "y"
                                   arg { name: "broadcast" i: 1 } })"));
  EXPECT_TRUE(Stays(conv + R"(op { type: "Mul" input: "t" input: "m" output: "y" })"));
}

TEST_F(FoldBatchNormTest, FoldsIntoFC) {
  Feed<float>(&run_.ws, "fw", {2, 3}, {1, 2, 3, 4, 5, 6});
  Feed<float>(&run_.ws, "m", {2}, {10, 100});
  EXPECT_THAT(Folded(R"(op { type: "FC" input: "x" input: "fw" input: "b" output: "t" }
                        op { type: "Mul" input: "t" input: "m" output: "y" })"),
              ElementsAre("FC(x fw_2 b_3) -> y"));
  EXPECT_THAT(Input(1), ElementsAre(10, 20, 30, 400, 500, 600));
  EXPECT_THAT(Input(2), ElementsAre(1000, 1000));
}

// The channels of FC are its last axis, which `axis` places.
TEST_F(FoldBatchNormTest, FollowsTheAxisOfFC) {
  Feed<float>(&run_.ws, "fw", {2, 3}, {1, 2, 3, 4, 5, 6});
  Feed<float>(&run_.ws, "m", {2}, {10, 100});
  Feed<float>(&run_.ws, "column", {2, 1}, {10, 100});
  const auto net = [](int axis, const std::string& next) {
    return MakeString(R"(op { type: "FC" input: "x" input: "fw" input: "b" output: "t"
                              arg { name: "axis" i: )",
                      axis, " } } op { output: \"y\" ", next, " }");
  };
  const std::string legacy = R"(type: "Mul" input: "t" input: "m" arg { name: "broadcast" i: 1 }
                                arg { name: "axis" i: )";
  const std::string norm =
      R"(type: "SpatialBN" input: "t" input: "scale" input: "bias" input: "mean"
      input: "var" arg { name: "is_test" i: 1 } arg { name: "order" s: )";
  const struct {
    int axis;
    std::string next;
    bool folds;
  } rows[] = {
      {1, legacy + "1 }", true},
      {2, legacy + "1 }", false},
      {2, legacy + "2 }", true},
      {2, legacy + "3 }", false},
      {2, R"(type: "Mul" input: "t" input: "m")", true},
      {2, R"(type: "Mul" input: "t" input: "column")", false},
      {3, legacy + "3 }", true},
      {0, R"(type: "Mul" input: "t" input: "m")", false},
      {2, norm + "\"NCHW\" }", false},
      {2, norm + "\"NHWC\" }", true},
      {3, norm + "\"NHWC\" }", true},
  };
  for (const auto& row : rows) {
    EXPECT_EQ(Folded(net(row.axis, row.next)).size(), row.folds ? 1u : 2u)
        << row.axis << " " << row.next;
  }
}

// With axis_w 2, a filter [2, 2, 3] has 4 rows of 3.
TEST_F(FoldBatchNormTest, FollowsTheRowsOfTheFilterOfFC) {
  std::vector<float> numbers(12);
  for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<float>(i + 1);
  Feed<float>(&run_.ws, "rows", {2, 2, 3}, numbers);
  Feed<float>(&run_.ws, "b4", {4}, {1, 2, 3, 4});
  Feed<float>(&run_.ws, "m4", {4}, {1, 10, 100, 1000});
  Feed<float>(&run_.ws, "empty", {0, 3}, {});
  const auto net = [](const std::string& type, const std::string& filter, int axis_w) {
    return MakeString("op { type: \"", type, "\" input: \"x\" input: \"", filter,
                      R"(" input: "b4" output: "t" arg { name: "axis_w" i: )", axis_w,
                      R"( } } op { type: "Mul" input: "t" input: "m4" output: "y" })");
  };
  EXPECT_EQ(Folded(net("FC", "rows", 2)).size(), 1u);
  EXPECT_THAT(Input(1), ElementsAre(1, 2, 3, 40, 50, 60, 700, 800, 900, 10000, 11000, 12000));
  EXPECT_THAT(Input(2), ElementsAre(1, 20, 300, 4000));
  EXPECT_TRUE(Stays(net("FC", "rows", 1)));  // two rows, and a bias of four
  EXPECT_TRUE(Stays(net("FC", "rows", 3)));
  EXPECT_TRUE(Stays(net("FC", "rows", 0)));
  EXPECT_TRUE(Stays(net("FC", "empty", 1)));
  EXPECT_TRUE(Stays(net("FCTransposed", "rows", 2)));
}

// With 2 images, the vector fits both dimensions.
TEST_F(FoldBatchNormTest, LeavesAVectorThatIsAddedToTheImages) {
  Feed<float>(&run_.ws, "fw", {2, 3}, {1, 2, 3, 4, 5, 6});
  Feed<float>(&run_.ws, "m", {2}, {10, 100});
  const std::string fc = R"(op { type: "FC" input: "x" input: "fw" input: "b" output: "t" })";
  for (const char* const args :
       {R"(arg { name: "axis" i: 0 })",
        R"(arg { name: "axis_str" s: "N" } arg { name: "order" s: "NC" })"}) {
    for (const char* const type : {"Add", "Sub", "Mul", "Div"}) {
      EXPECT_TRUE(Stays(fc + "op { type: \"" + type + R"(" input: "t" input: "m" output: "y"
                             arg { name: "broadcast" i: 1 } )" +
                        args + " }"))
          << type << args;
    }
  }
}

// Group 0 has input channels 0 and 1 and writes output channels 0 and 1; group 1 the others.
TEST_F(FoldBatchNormTest, FoldsIntoTheGroupsOfConvTranspose) {
  Feed<float>(&run_.ws, "tw", {4, 2, 1, 1}, {1, 2, 3, 4, 5, 6, 7, 8});
  Feed<float>(&run_.ws, "s4", {4}, {1, 10, 100, 1000});
  Feed<float>(&run_.ws, "b4", {4}, {1, 2, 3, 4});
  EXPECT_THAT(Folded(R"(op { type: "ConvTranspose" input: "x" input: "tw" output: "t"
                             arg { name: "group" i: 2 } arg { name: "kernel" i: 1 } }
                        op { type: "AffineChannel" input: "t" input: "s4" input: "b4" output: "y" })"),
              ElementsAre("ConvTranspose(x tw_2 tw_bias) -> y"));
  EXPECT_THAT(Input(1), ElementsAre(1, 20, 3, 40, 500, 6000, 700, 8000));
  EXPECT_THAT(Input(2), ElementsAre(1, 2, 3, 4));
}

// A run is the window of a filter [C, M / group, kh, kw].
TEST_F(FoldBatchNormTest, FoldsIntoTheWindowsOfConvTranspose) {
  Feed<float>(&run_.ws, "tw", {2, 2, 1, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12});
  Feed<float>(&run_.ws, "s2", {2}, {10, 100});
  const auto net = [](const std::string& args) {
    return R"(op { type: "ConvTranspose" input: "x" input: "tw" input: "b" output: "t" )" + args +
           R"( } op { type: "AffineChannel" input: "t" input: "s2" input: "bias" output: "y" })";
  };
  EXPECT_EQ(Folded(net("")).size(), 1u);
  EXPECT_THAT(Input(1), ElementsAre(10, 20, 30, 400, 500, 600, 70, 80, 90, 1000, 1100, 1200));
  EXPECT_THAT(Input(2), ElementsAre(1001, 1002));
  for (const char* args : {R"(arg { name: "group" i: 3 })", R"(arg { name: "group" i: 0 })",
                           R"(arg { name: "order" s: "CHWN" })"}) {
    EXPECT_TRUE(Stays(net(args))) << args;
  }
}

TEST_F(FoldBatchNormTest, GivesAnOperatorItsOwnCopyOfASharedFilter) {
  const std::string convs = R"(op { type: "Conv" input: "x" input: "w" output: "z" }
                               op { type: "Conv" input: "x" input: "w" output: "t" })";
  run_.kept = {"y", "z"};
  EXPECT_THAT(Folded(convs + kBatchNorm), ElementsAre("Conv(x w) -> z", "Conv(x w_2 w_bias) -> y"));
}

// Two copies of 40 MiB would exceed the limit of 64 MiB.
TEST_F(FoldBatchNormTest, LimitsTheCopiesOfSharedFilters) {
  Tensor* const big = run_.ws.CreateBlob("big")->GetMutableTensor(CPU);
  big->Resize(1, 10 << 20, 1, 1);
  (void)big->mutable_data<float>();
  run_.kept = {"y", "z"};
  EXPECT_THAT(Folded(R"(op { type: "Conv" input: "x" input: "big" output: "s" }
                        op { type: "Scale" input: "s" output: "z" arg { name: "scale" f: 2 } }
                        op { type: "Conv" input: "x" input: "big" output: "t" }
                        op { type: "Scale" input: "t" output: "y" arg { name: "scale" f: 3 } })"),
              ElementsAre("Conv(x big_2 big_bias) -> z", "Conv(x big) -> t", "Scale(t) -> y"));
}

TEST_F(FoldBatchNormTest, LeavesOtherNetsAlone) {
  const std::string conv = R"(op { type: "Conv" input: "x" input: "w" output: "t" })";
  const std::string training = R"(op { type: "SpatialBN" input: "t" input: "scale" input: "bias"
      input: "mean" input: "var" output: "y" arg { name: "is_test" i: 0 } })";
  EXPECT_TRUE(Stays(conv + training));
  EXPECT_TRUE(Stays(conv + kBatchNorm + R"(op { type: "Relu" input: "t" output: "z" })"));
  EXPECT_TRUE(Stays(R"(op { type: "Conv" input: "x" input: "unknown" output: "t" })" +
                    std::string(kBatchNorm)));
  EXPECT_TRUE(Stays(R"(op { type: "Conv" input: "x" input: "w" output: "t" engine: "FAST" })" +
                    std::string(kBatchNorm)));
  EXPECT_TRUE(Stays(R"(op { type: "Conv" input: "x" input: "w" output: "t"
                            arg { name: "order" s: "NHWC" } })" +
                    std::string(kBatchNorm)));
  EXPECT_TRUE(Stays(conv + R"(op { type: "Relu" input: "z" output: "x" })" + kBatchNorm));
  EXPECT_TRUE(Stays(R"(op { type: "Conv" input: "x" input: "w" output: "t"
                            device_option { device_id: 1 } })" +
                    std::string(kBatchNorm)));
  run_.kept.insert("t");
  EXPECT_TRUE(Stays(conv + kBatchNorm));
}

// A filter, or a bias, that is too large for floats then. A bias of another size is left to the operator.
TEST_F(FoldBatchNormTest, LeavesNumbersThatDoNotFit) {
  Feed<float>(&run_.ws, "large_w", {2, 1, 1, 2}, {3e38f, 1, 1, 1});
  Feed<float>(&run_.ws, "large_b", {2}, {1, 3e38f});
  Feed<float>(&run_.ws, "three", {3}, {1, 1, 1});
  Feed<float>(&run_.ws, "row", {1, 2}, {1, 1});
  const auto conv = [](const std::string& inputs) {
    return "op { type: \"Conv\" input: \"x\" " + inputs + " output: \"t\" }" + kBatchNorm;
  };
  EXPECT_FALSE(Stays(conv(R"(input: "w" input: "b")")));
  EXPECT_TRUE(Stays(conv(R"(input: "large_w" input: "b")")));
  EXPECT_TRUE(Stays(conv(R"(input: "large_w")")));
  EXPECT_TRUE(Stays(conv(R"(input: "w" input: "large_b")")));
  EXPECT_TRUE(Stays(conv(R"(input: "w" input: "three")")));
  EXPECT_TRUE(Stays(conv(R"(input: "w" input: "row")")));
}

// By the older rules, the constant lies within the axes of the images.
TEST_F(FoldBatchNormTest, LeavesConstantsThatReachBeyondTheLastAxis) {
  Feed<float>(&run_.ws, "ones", {1, 1}, {2});
  const auto multiply = [](int axis) {
    return MakeString(R"(op { type: "Conv" input: "x" input: "w" output: "t" }
                         op { type: "Mul" input: "t" input: "ones" output: "y"
                              arg { name: "broadcast" i: 1 } arg { name: "axis" i: )",
                      axis, " } }");
  };
  for (const int axis : {-1, 0, 1, 2}) EXPECT_FALSE(Stays(multiply(axis))) << axis;
  for (const int axis : {3, 4, -2}) EXPECT_TRUE(Stays(multiply(axis))) << axis;
}

// The net computes a filter or a bias, or a caller gives it: no other operator may take its place.
TEST_F(FoldBatchNormTest, LeavesOperatorsWhoseNumbersAreNotConstant) {
  for (const char* inputs : {"input: \"w\" input: \"computed\"", "input: \"computed\"",
                             "input: \"computed\" input: \"b\""}) {
    EXPECT_TRUE(Stays(std::string(R"(
        op { type: "Relu" input: "z" output: "computed" }
        op { type: "Conv" input: "x" output: "t" arg { name: "kernels" ints: [1, 2] } )") +
                      inputs + " }" + kBatchNorm))
        << inputs;
    EXPECT_TRUE(Stays(std::string(R"(op { type: "Conv" input: "x" output: "t" )") + inputs +
                      " arg { name: \"kernels\" ints: [1, 2] } }" + kBatchNorm))
        << inputs;
  }
}

TEST_F(FoldBatchNormTest, LeavesNumbersAloneThatWouldNotBeFinite) {
  Feed<float>(&run_.ws, "var", {2}, {-0.25f, 0});  // 1 / 0
  const std::string conv = R"(op { type: "Conv" input: "x" input: "w" output: "t" })";
  EXPECT_TRUE(Stays(conv + kBatchNorm));
  Feed<float>(&run_.ws, "var", {2}, {-1, 0});  // the root of a negative number
  EXPECT_TRUE(Stays(conv + kBatchNorm));
}

TEST_F(FoldBatchNormTest, NamesTheUsersOperators) {
  NetDef net =
      test::ParseNet(R"(op { type: "Conv" input: "x" input: "w" output: "t" name: "c1" })" +
                     std::string(kBatchNorm));
  MarkUserOperators(&net);
  (void)Folded(net.DebugString());
  const std::vector<UserOperator> users = UserOperatorsOf(run_.net.op(0));
  ASSERT_EQ(users.size(), 2u);
  EXPECT_EQ(users[0].position, 0);
  EXPECT_EQ(users[0].text, "Conv \"c1\"");
  EXPECT_EQ(users[1].position, 1);
  EXPECT_EQ(users[1].text, "SpatialBN");
}

}  // namespace
}  // namespace caffe2rt::fold_batch_norm_test
