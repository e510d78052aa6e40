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

// y = a + b, where a is a convolution of 3 x 3 with padding, and b a convolution of a that has `args`
// and the filter `w`, after the operator `between`.
std::string AddOfConvolutions(
    const std::string& args, const std::string& w = "w3",
    const std::string& between = R"(type: "Relu" input: "a" output: "r")") {
  return R"(op { type: "Conv" input: "x" input: "w1" output: "a" arg { name: "kernel" i: 3 }
                 arg { name: "pad" i: 1 } }
            op { )" +
         between + " } op { type: \"Conv\" input: \"r\" input: \"" + w + "\" output: \"b\" " +
         args + R"(} op { type: "Add" input: "a" input: "b" output: "y" })";
}

class FuseAddTest : public testing::Test {
 protected:
  FuseAddTest() {
    test::FeedRandom(&run_.ws, "w1", {8, 4, 3, 3});
    test::FeedRandom(&run_.ws, "w3", {8, 8, 3, 3});
    test::FeedRandom(&run_.ws, "point", {8, 8, 1, 1});
    test::FeedRandom(&run_.ws, "more", {10, 8, 3, 3});
    test::Feed<float>(&run_.ws, "s", {1}, {2});
    test::Feed<float>(&run_.ws, "scalar", {}, {2});
    test::Feed<float>(&run_.ws, "matrix", {1, 1}, {2});
    test::Feed<float>(&run_.ws, "channels", {8, 1, 1}, std::vector<float>(8, 2));
  }
  // Whether the pass fuses the sum.
  bool Fuses(const std::string& text) {
    return run_(FuseSum, text).back().starts_with("ConvFusion");
  }
  test::PassRun run_;
};

TEST_F(FuseAddTest, FusesIfEveryWindowKeepsTheSize) {
  for (
      const char* args : {
          R"(arg { name: "pad" i: 1 })",
          R"(arg { name: "pads" ints: [1, 1, 1, 1] })",
          R"(arg { name: "pads" ints: [0, 2, 2, 0] })",
          R"(arg { name: "pad" i: 2 } arg { name: "dilation" i: 2 })",
          R"(arg { name: "pads" ints: [1, 2, 1, 2] } arg { name: "dilations" ints: [1, 2] })",
          R"(arg { name: "pad" i: 1 } arg { name: "strides" ints: [1, 1] })",
          R"(arg { name: "pad" i: 1 } arg { name: "stride_h" i: 1 } arg { name: "stride_w" i: 1 })",
          R"(arg { name: "pads" ints: [2, 1, 2, 1] } arg { name: "dilation_h" i: 2 }
             arg { name: "dilation_w" i: 1 })",
          R"(arg { name: "pads" ints: [2, 3, 2, 3] } arg { name: "dilation_h" i: 2 }
             arg { name: "dilation_w" i: 3 })",
      }) {
    EXPECT_TRUE(Fuses(AddOfConvolutions(args))) << args;
  }
}

TEST_F(FuseAddTest, LeavesConvolutionsThatMayChangeTheSize) {
  for (
      const char* args : {
          "",
          R"(arg { name: "pad" i: 2 })",
          R"(arg { name: "pads" ints: [1, 1, 0, 1] })",
          R"(arg { name: "pads" ints: [1, 1] })",
          R"(arg { name: "pad_t" i: 1 } arg { name: "pad_l" i: 1 } arg { name: "pad_b" i: 1 }
              arg { name: "pad_r" i: 1 })",
          R"(arg { name: "pad" i: 1 } arg { name: "pads" ints: [1, 1, 1, 1] })",
          R"(arg { name: "pad" i: 1 } arg { name: "stride" i: 2 })",
          R"(arg { name: "pad" i: 1 } arg { name: "global_pooling" i: 1 })",
          R"(arg { name: "pad" i: 1 } arg { name: "strides" ints: [1, 2] })",
          R"(arg { name: "pad" i: 1 } arg { name: "stride_h" i: 1 })",
          R"(arg { name: "pad" i: 1 } arg { name: "stride_w" i: 1 })",
          R"(arg { name: "pad" i: 1 } arg { name: "stride_h" i: 2 } arg { name: "stride_w" i: 2 })",
          R"(arg { name: "pad" i: 1 } arg { name: "stride_h" i: 1 } arg { name: "stride_w" i: 2 })",
          R"(arg { name: "pad" i: 1 } arg { name: "dilation_h" i: 2 }
              arg { name: "dilation_w" i: 1 })",
          R"(arg { name: "pad" i: 1 } arg { name: "dilation_h" i: 1 }
              arg { name: "dilation_w" i: 2 })",
          R"(arg { name: "pad" i: 1 } arg { name: "stride" i: 1 } arg { name: "strides" ints: [1, 1] })",
          R"(arg { name: "pad" i: 1 } arg { name: "stride" i: 1 } arg { name: "stride_h" i: 1 }
              arg { name: "stride_w" i: 1 })",
          R"(arg { name: "pad" i: 1 } arg { name: "strides" ints: 1 })",
          R"(arg { name: "pad" i: 1 } arg { name: "dilations" ints: [1, 1, 1] })",
          R"(arg { name: "pad" i: 1 } arg { name: "dilation" i: 2 })",
          R"(arg { name: "pad" i: 1 } arg { name: "legacy_pad" i: 3 })",
          R"(arg { name: "pad" i: 1 } arg { name: "order" s: "NHWC" })",
          R"(arg { name: "pad" i: 1 } arg { name: "order" s: "CHWN" })",
      }) {
    EXPECT_FALSE(Fuses(AddOfConvolutions(args))) << args;
  }
  // A window of one pixel would keep the size without them.
  for (const char* pad : {"pad_t", "pad_l", "pad_b", "pad_r"}) {
    const std::string args = MakeString("arg { name: \"", pad, "\" i: 1 }");
    EXPECT_FALSE(Fuses(AddOfConvolutions(args, "point"))) << pad;
  }
  EXPECT_TRUE(Fuses(AddOfConvolutions("", "point")));
  EXPECT_FALSE(Fuses(AddOfConvolutions(R"(arg { name: "pad" i: 1 })", "more")));
  EXPECT_FALSE(Fuses(AddOfConvolutions(R"(arg { name: "pad" i: 1 })", "unknown")));
}

TEST_F(FuseAddTest, FollowsOperatorsThatKeepTheShape) {
  for (const char* between : {
           R"(type: "Mul" input: "a" input: "s" output: "r")",
           R"(type: "Mul" input: "s" input: "a" output: "r")",
           R"(type: "Sub" input: "a" input: "scalar" output: "r")",
           R"(type: "Mul" input: "a" input: "s" output: "r" arg { name: "broadcast" i: 1 })",
           R"(type: "Mul" input: "a" input: "a" output: "r")",
           R"(type: "Dropout" input: "a" output: "r" output: "mask" arg { name: "is_test" i: 1 })",
       }) {
    EXPECT_TRUE(Fuses(AddOfConvolutions("", "point", between))) << between;
  }
  for (const char* between : {
           R"(type: "Mul" input: "s" input: "a" output: "r" arg { name: "broadcast" i: 1 })",
           R"(type: "Mul" input: "a" input: "matrix" output: "r")",
           R"(type: "Mul" input: "a" input: "channels" output: "r")",
           R"(type: "Mul" input: "a" input: "unknown" output: "r")",
           R"(type: "MaxPool" input: "a" output: "r" arg { name: "kernel" i: 1 })",
       }) {
    EXPECT_FALSE(Fuses(AddOfConvolutions("", "point", between))) << between;
  }
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
              op { type: "Sum" input: "a" input: "b" output: "y" })",
           // the sum writes the convolution's input
           R"(op { type: "Conv" input: "x" input: "w" output: "a" }
              op { type: "Sum" input: "a" input: "b" output: "x" }
              op { type: "Relu" input: "x" output: "y" })",
           // an added tensor already
           R"(op { type: "ConvFusion" input: "x" input: "w" input: "r" output: "a"
                   arg { name: "sum" i: 1 } }
              op { type: "Sum" input: "a" input: "b" output: "y" })",
           R"(op { type: "Conv" input: "x" input: "w" output: "a" device_option { device_type: 1 } }
              op { type: "Sum" input: "a" input: "b" output: "y" })"}) {
    EXPECT_EQ(run(FuseSum, text), test::LinesOf(test::ParseNet(text)));
  }
}

// The later convolution has an activation already, or adds a tensor, or another layer comes later.
TEST(FuseSumTest, UsesTheEarlierConvolutionIfTheLaterCannotAdd) {
  test::PassRun run;
  const std::string conv = R"(op { type: "Conv" input: "x" input: "w1" output: "a" })";
  for (const std::string later : {
           R"(type: "ConvFusion" input: "x" input: "w2" output: "c"
              arg { name: "activation" s: "Relu" })",
           R"(type: "ConvFusion" input: "x" input: "w2" input: "r" output: "c"
              arg { name: "sum" i: 1 })",
           R"(type: "Relu" input: "x" output: "c")",
           R"(type: "FC" input: "x" input: "w2" input: "b" output: "c")",
       }) {
    for (const std::string sum : {R"(input: "a" input: "c")", R"(input: "c" input: "a")"}) {
      const auto lines = run(
          FuseSum, conv + "op { " + later + " } op { type: \"Sum\" " + sum + " output: \"y\" }");
      ASSERT_EQ(lines.size(), 2u) << later;
      EXPECT_EQ(lines[1], "ConvFusion(x w1 c) -> y") << later;
    }
  }
}

}  // namespace
}  // namespace caffe2rt::fuse_sum_test
