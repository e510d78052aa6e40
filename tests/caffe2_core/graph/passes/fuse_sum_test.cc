#include "caffe2_core/graph/passes/fuse_sum.h"

#include "tests/caffe2_core/graph/passes/pass_run.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::fuse_sum_test {
namespace {

using ::testing::ElementsAre;

TEST(FuseSumTest, FusesIntoTheLaterConvolution) {
  test::PassRun run;
  EXPECT_THAT(run(FuseSum, R"(
      op { type: "Conv" input: "x" input: "w1" output: "a" }
      op { type: "Conv" input: "x" input: "w2" input: "b" output: "c" }
      op { type: "Sum" input: "c" input: "a" output: "y" })"),
              ElementsAre("Conv(x w1) -> a", "ConvFusion(x w2 b a) -> y"));
  EXPECT_EQ(run.net.op(1).arg(0).name(), "sum");
}

TEST(FuseSumTest, AddsTheInputOfTheConvolution) {
  test::PassRun run;
  EXPECT_THAT(run(FuseSum, R"(op { type: "Conv" input: "x" input: "w" output: "a" }
                              op { type: "Sum" input: "a" input: "x" output: "a" }
                              op { type: "Relu" input: "a" output: "y" })"),
              ElementsAre("ConvFusion(x w x) -> a", "Relu(a) -> y"));
}

TEST(FuseSumTest, UsesTheEarlierConvolutionIfTheLaterIsReadTwice) {
  test::PassRun run;
  EXPECT_THAT(run(FuseSum, R"(
      op { type: "Conv" input: "x" input: "w1" output: "a" }
      op { type: "Conv" input: "x" input: "w2" output: "c" }
      op { type: "Sum" input: "c" input: "a" output: "z" }
      op { type: "Sum" input: "c" input: "z" output: "y" })"),
              ElementsAre("Conv(x w2) -> c", "ConvFusion(x w1 c) -> z", "Sum(c z) -> y"));
}

TEST(FuseSumTest, FusesAddIfTheShapesAreEqual) {
  test::PassRun run;
  test::FeedRandom(&run.ws, "w1", {8, 4, 3, 3});
  test::FeedRandom(&run.ws, "w2", {8, 8, 1, 1});
  test::FeedRandom(&run.ws, "w3", {8, 8, 3, 3});
  EXPECT_THAT(
      run(FuseSum, R"(
      op { type: "Conv" input: "x" input: "w1" output: "a" arg { name: "pad" i: 1 }
           arg { name: "stride" i: 2 } arg { name: "kernel" i: 3 } }
      op { type: "Relu" input: "a" output: "a" }
      op { type: "Conv" input: "a" input: "w2" output: "b" arg { name: "kernel" i: 1 } }
      op { type: "Conv" input: "b" input: "w3" output: "c" arg { name: "kernel" i: 3 }
           arg { name: "pads" ints: [1, 1, 1, 1] } }
      op { type: "Add" input: "a" input: "c" output: "y" })"),
      ElementsAre("Conv(x w1) -> a", "Relu(a) -> a", "Conv(a w2) -> b", "ConvFusion(b w3 a) -> y"));
}

TEST(FuseSumTest, LeavesAddThatMayBroadcast) {
  test::PassRun run;
  test::FeedRandom(&run.ws, "w1", {8, 4, 3, 3});
  test::FeedRandom(&run.ws, "w2", {8, 8, 1, 1});
  for (const char* text : {
           R"(op { type: "Conv" input: "x" input: "w1" output: "a" arg { name: "kernel" i: 3 } }
              op { type: "Add" input: "a" input: "s" output: "y" })",
           R"(op { type: "Conv" input: "x" input: "w1" output: "a" arg { name: "kernel" i: 3 } }
              op { type: "Conv" input: "a" input: "w2" output: "b" arg { name: "stride" i: 2 } }
              op { type: "Add" input: "a" input: "b" output: "y" })"}) {
    EXPECT_EQ(run(FuseSum, text), test::LinesOf(test::ParseNet(text)));
  }
}

TEST(FuseSumTest, LeavesOtherNetsAlone) {
  test::PassRun run;
  run.kept = {"y"};
  for (const char* text : {
           R"(op { type: "Conv" input: "x" input: "w" output: "a" }
              op { type: "Sum" input: "a" input: "a" output: "y" })",
           R"(op { type: "Conv" input: "x" input: "w" output: "a" }
              op { type: "Sum" input: "a" input: "b" input: "c" output: "y" })",
           R"(op { type: "Conv" input: "x" input: "w" output: "a" }
              op { type: "Relu" input: "a" output: "b" }
              op { type: "Sum" input: "b" input: "c" output: "y" })",
           R"(op { type: "ConvFusion" input: "x" input: "w" output: "a"
                   arg { name: "activation" s: "Relu" } }
              op { type: "Sum" input: "a" input: "b" output: "y" })",
           R"(op { type: "Conv" input: "x" input: "w" output: "a" }
              op { type: "Tanh" input: "z" output: "x" }
              op { type: "Sum" input: "a" input: "b" output: "y" })"}) {
    EXPECT_EQ(run(FuseSum, text), test::LinesOf(test::ParseNet(text)));
  }
}

}  // namespace
}  // namespace caffe2rt::fuse_sum_test
