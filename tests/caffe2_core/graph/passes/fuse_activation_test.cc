#include "caffe2_core/graph/passes/fuse_activation.h"

#include "caffe2_core/graph/arguments.h"
#include "tests/caffe2_core/graph/passes/pass_run.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::fuse_activation_test {
namespace {

using ::testing::ElementsAre;

TEST(FuseActivationTest, ExtendsConvAndFC) {
  test::PassRun run;
  run.kept = {"y", "z"};
  EXPECT_THAT(run(FuseActivation, R"(
      op { type: "Conv" input: "x" input: "w" output: "a" arg { name: "kernel" i: 3 } }
      op { type: "Clip" input: "a" output: "y" arg { name: "min" f: 0 } arg { name: "max" f: 6 } }
      op { type: "FC" input: "y" input: "v" input: "b" output: "z" }
      op { type: "Relu" input: "z" output: "z" })"),
              ElementsAre("ConvFusion(x w) -> y", "FCFusion(y v b) -> z"));
  const ArgumentHelper conv(run.net.op(0)), fc(run.net.op(1));
  EXPECT_EQ(conv.GetSingleArgument<int>("kernel", 0), 3);
  EXPECT_EQ(conv.GetSingleArgument<std::string>("activation", ""), "Clip");
  EXPECT_EQ(conv.GetSingleArgument<float>("activation_min", -1), 0);
  EXPECT_EQ(conv.GetSingleArgument<float>("activation_max", -1), 6);
  EXPECT_EQ(fc.GetSingleArgument<std::string>("activation", ""), "Relu");
}

TEST(FuseActivationTest, ExtendsSpatialBNInTestMode) {
  const std::string inputs = R"(op { type: "SpatialBN" input: "x" input: "s" input: "b" input: "m"
                                     input: "v" output: "t" )";
  const std::string relu = R"(op { type: "Relu" input: "t" output: "y" })";
  test::PassRun run;
  run.kept = {"y"};
  EXPECT_THAT(run(FuseActivation, inputs + R"(arg { name: "is_test" i: 1 }
                                              arg { name: "epsilon" f: 0.5 } } )" +
                                      relu),
              ElementsAre("SpatialBNFusion(x s b m v) -> y"));
  const ArgumentHelper args(run.net.op(0));
  EXPECT_EQ(args.GetSingleArgument<float>("epsilon", 0), 0.5f);
  EXPECT_EQ(args.GetSingleArgument<std::string>("activation", ""), "Relu");
  EXPECT_THAT(run(FuseActivation, inputs + R"(output: "m" output: "v" output: "sm" output: "sv"
                                              arg { name: "is_test" i: 0 } } )" +
                                      relu),
              ElementsAre("SpatialBN(x s b m v) -> t m v sm sv", "Relu(t) -> y"));
}

TEST(FuseActivationTest, CopiesTheDefaultSlope) {
  test::PassRun run;
  run(FuseActivation, R"(op { type: "Conv" input: "x" input: "w" output: "a" }
                         op { type: "LeakyRelu" input: "a" output: "y" })");
  EXPECT_FLOAT_EQ(ArgumentHelper(run.net.op(0)).GetSingleArgument<float>("activation_alpha", 0),
                  0.01f);
}

TEST(FuseActivationTest, LeavesOtherNetsAlone) {
  test::PassRun run;
  run.kept = {"y"};
  for (const char* text :
       {// read twice
        R"(op { type: "Conv" input: "x" input: "w" output: "a" }
              op { type: "Relu" input: "a" output: "b" } op { type: "Sum" input: "a" input: "b" output: "y" })",
        // the activation writes the convolution's input
        R"(op { type: "Conv" input: "x" input: "w" output: "a" }
              op { type: "Relu" input: "a" output: "x" } op { type: "Relu" input: "x" output: "y" })",
        // the input is overwritten in between
        R"(op { type: "Conv" input: "x" input: "w" output: "a" }
              op { type: "Tanh" input: "v" output: "x" } op { type: "Relu" input: "a" output: "y" })",
        // an activation already
        R"(op { type: "ConvFusion" input: "x" input: "w" output: "a"
                   arg { name: "activation" s: "Relu" } }
              op { type: "Relu" input: "a" output: "y" })",
        // another device
        R"(op { type: "Conv" input: "x" input: "w" output: "a" device_option { device_type: 1 } }
              op { type: "Relu" input: "a" output: "y" })",
        // a wrong argument
        R"(op { type: "Conv" input: "x" input: "w" output: "a" }
              op { type: "Clip" input: "a" output: "y" arg { name: "min" s: "no" } })"}) {
    EXPECT_EQ(run(FuseActivation, text), test::LinesOf(test::ParseNet(text)));
  }
}

TEST(FuseActivationTest, NeedsTheFusedOperator) {
  const char* const text = R"(op { type: "Conv" input: "x" input: "w" output: "a" }
                              op { type: "Relu" input: "a" output: "y" })";
  test::PassRun run;
  const auto without = [](NetDef net, PassContext& context) {
    context.has_operator = [](const std::string& type, DeviceType) { return type != "ConvFusion"; };
    return FuseActivation(std::move(net), context);
  };
  EXPECT_EQ(run(without, text).size(), 2u);
}

}  // namespace
}  // namespace caffe2rt::fuse_activation_test
