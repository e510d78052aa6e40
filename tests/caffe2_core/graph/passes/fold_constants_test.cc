#include "caffe2_core/graph/passes/fold_constants.h"

#include "tests/caffe2_core/graph/passes/pass_run.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::fold_constants_test {
namespace {

using ::testing::ElementsAre;

class FoldConstantsTest : public testing::Test {
 protected:
  FoldConstantsTest() {
    test::Feed<float>(&run_.ws, "w", {2}, {2, 3});
    test::Feed<float>(&run_.ws, "s", {1}, {10});
  }
  std::vector<std::string> Lines(const std::string& text) { return run_(FoldConstants, text); }
  test::PassRun run_;
};

TEST_F(FoldConstantsTest, ComputesChainsOnce) {
  EXPECT_THAT(Lines(R"(
    op { type: "Mul" input: "w" input: "s" output: "t" }
    op { type: "Add" input: "t" input: "w" output: "u" }
    op { type: "Add" input: "x" input: "u" output: "y" })"),
              ElementsAre("Add(x u_3) -> y"));
  EXPECT_THAT(test::Fetch<float>(run_.ws, "u_3"), ElementsAre(22, 33));
  EXPECT_FALSE(run_.ws.HasBlob("t_2"));
}

TEST_F(FoldConstantsTest, ComputesFillsOnce) {
  EXPECT_THAT(Lines(R"(
    op { type: "ConstantFill" output: "c" arg { name: "shape" ints: 2 }
         arg { name: "value" f: 0.5 } }
    op { type: "Add" input: "x" input: "c" output: "y" })"),
              ElementsAre("Add(x c_2) -> y"));
  EXPECT_THAT(test::Fetch<float>(run_.ws, "c_2"), ElementsAre(0.5f, 0.5f));
}

TEST_F(FoldConstantsTest, KeepsWhatIsReadAfterTheRun) {
  EXPECT_THAT(Lines(R"(op { type: "Mul" input: "w" input: "s" output: "y" })"),
              ElementsAre("Mul(w s) -> y"));
}

TEST_F(FoldConstantsTest, KeepsWhatTheNetWrites) {
  EXPECT_THAT(Lines(R"(
    op { type: "Relu" input: "w" output: "t" }
    op { type: "Add" input: "x" input: "t" output: "y" }
    op { type: "Add" input: "w" input: "s" output: "w" })"),
              ElementsAre("Relu(w) -> t", "Add(x t) -> y", "Add(w s) -> w"));
}

TEST_F(FoldConstantsTest, KeepsWhatANestedNetWrites) {
  EXPECT_EQ(Lines(R"(
    op { type: "Relu" input: "w" output: "t" }
    op { type: "Add" input: "x" input: "t" output: "y" }
    op { type: "If" input: "c"
         arg { name: "then_net" n { op { type: "Copy" input: "x" output: "w" } } } })")
                .size(),
            3u);
}

TEST_F(FoldConstantsTest, KeepsRandomNumbersAndErrors) {
  test::Feed<float>(&run_.ws, "v", {3}, {1, 2, 3});
  EXPECT_EQ(Lines(R"(
    op { type: "UniformFill" output: "r" arg { name: "shape" ints: 2 } }
    op { type: "Dropout" input: "w" output: "d" output: "m" arg { name: "is_test" i: 0 } }
    op { type: "Mul" input: "w" input: "v" output: "e" }
    op { type: "Sum" input: "r" input: "d" input: "e" output: "y" })")
                .size(),
            4u);
}

// Each run counts the elements once more.
TEST_F(FoldConstantsTest, KeepsOperatorsThatRememberEarlierRuns) {
  EXPECT_EQ(Lines(R"(
    op { type: "AccumulateHistogram" input: "w" output: "now" output: "y"
         arg { name: "num_buckets" i: 2 } arg { name: "upper_bound" f: 1 } })")
                .size(),
            1u);
}

// Each result has 400 times as many numbers as its input.
TEST_F(FoldConstantsTest, LimitsTheGrowthOfConstants) {
  test::FeedRandom(&run_.ws, "big", {1000, 50});
  std::string text;
  for (int i = 0; i < 3; ++i) {
    const std::string n = std::to_string(i);
    text += R"(op { type: "Tile" input: "big" output: "t)" + n +
            R"(" arg { name: "tiles" i: 200 } arg { name: "axis" i: 1 } }
               op { type: "Add" input: "x" input: "t)" +
            n + R"(" output: "y)" + n + "\" }";
  }
  EXPECT_EQ(Lines(text).size(), 5u);  // one of three 40 MB tensors fits
}

}  // namespace
}  // namespace caffe2rt::fold_constants_test
