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

TEST_F(FoldBatchNormTest, GivesAnOperatorItsOwnCopyOfASharedFilter) {
  const std::string convs = R"(op { type: "Conv" input: "x" input: "w" output: "z" }
                               op { type: "Conv" input: "x" input: "w" output: "t" })";
  run_.kept = {"y", "z"};
  EXPECT_THAT(Folded(convs + kBatchNorm), ElementsAre("Conv(x w) -> z", "Conv(x w_2 w_bias) -> y"));
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
  run_.kept.insert("t");
  EXPECT_TRUE(Stays(conv + kBatchNorm));
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
