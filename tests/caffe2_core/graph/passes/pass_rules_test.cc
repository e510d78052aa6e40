// What fused operators inherit, and the operators, numbers and broadcasts that passes leave alone.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "caffe2_core/graph/arguments.h"
#include "caffe2_core/graph/passes/fuse_activation.h"
#include "caffe2_core/graph/passes/fuse_fc.h"
#include "caffe2_core/graph/passes/fuse_gelu.h"
#include "caffe2_core/graph/passes/fuse_layer_norm.h"
#include "caffe2_core/graph/passes/fuse_sum.h"
#include "caffe2_core/graph/passes/net_values.h"
#include "caffe2_core/graph/passes/remove_copies.h"
#include "caffe2_core/graph/passes/remove_dead_operators.h"
#include "caffe2_core/graph/passes/reshape_in_place.h"
#include "caffe2_core/graph/passes/user_operators.h"
#include "tests/caffe2_core/graph/passes/pass_run.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::pass_rules_test {
namespace {

using ::testing::ElementsAre;
using Lines = std::vector<std::string>;

// Without the fused operator of the type.
template <NetDef (*kPass)(NetDef, PassContext&)>
NetDef WithoutFusedTypes(NetDef net, PassContext& context) {
  context.has_operator = [](const std::string&, DeviceType) { return false; };
  return kPass(std::move(net), context);
}

std::string UsersOf(const OperatorDef& op) {
  std::string text;
  for (const UserOperator& user : UserOperatorsOf(op)) {
    text += MakeString(user.position, " ", user.text, "; ");
  }
  return text;
}

class GeluRulesTest : public testing::Test {
 protected:
  GeluRulesTest() {
    test::Feed<float>(&run_.ws, "root", {}, {1.41421354f});
    test::Feed<float>(&run_.ws, "one", {}, {1});
    test::Feed<float>(&run_.ws, "half", {}, {0.5f});
    test::Feed<float>(&run_.ws, "matrix", {1, 1}, {0.5f});
    test::Feed<double>(&run_.ws, "doubles", {}, {0.5});
  }
  static constexpr char kNet[] = R"(
    op { type: "Div" name: "first" input: "x" input: "root" output: "a" }
    op { type: "Erf" input: "a" output: "b" }
    op { type: "Add" input: "b" input: "one" output: "c" }
    op { type: "Mul" input: "x" input: "c" output: "d" }
    op { type: "Mul" name: "last" input: "d" input: "half" output: "y"
         device_option { device_type: 0 random_seed: 3 } })";
  size_t Left(const std::string& what, const std::string& with) {
    return run_(FuseGelu, test::Replaced(kNet, what, with)).size();
  }
  test::PassRun run_;
};

TEST_F(GeluRulesTest, TheResultHasTheNameTheDeviceAndTheUsersOperators) {
  NetDef marked = test::ParseNet(kNet);
  MarkUserOperators(&marked);
  EXPECT_THAT(run_(FuseGelu, marked.DebugString()), ElementsAre("Gelu(x) -> y"));
  EXPECT_EQ(run_.net.op(0).name(), "last");
  EXPECT_EQ(run_.net.op(0).device_option().random_seed(), 3u);
  EXPECT_EQ(UsersOf(run_.net.op(0)), "0 Div \"first\"; 1 Erf; 2 Add; 3 Mul; 4 Mul \"last\"; ");
  EXPECT_EQ(run_(WithoutFusedTypes<FuseGelu>, kNet).size(), 5u);
}

TEST_F(GeluRulesTest, OnlyNumbersThatBroadcastLikeNumpyCount) {
  const std::string half = R"(input: "d" input: "half")", one = R"(input: "b" input: "one")";
  EXPECT_EQ(Left(half, R"(input: "d" input: "matrix")"), 5u);
  EXPECT_EQ(Left(half, R"(input: "d" input: "doubles")"), 5u);
  EXPECT_EQ(Left(half, half + R"( arg { name: "broadcast" i: 1 })"), 1u);
  EXPECT_EQ(Left(half, half + R"( arg { name: "broadcast" i: 1 } arg { name: "axis" i: -1 })"), 1u);
  EXPECT_EQ(Left(half, half + R"( arg { name: "broadcast" i: 1 } arg { name: "axis" i: 1 })"), 5u);
  EXPECT_EQ(Left(half, half + R"( arg { name: "broadcast" i: 1 } arg { name: "axis_str" s: "C" })"),
            5u);
  EXPECT_EQ(Left(one, one + R"( arg { name: "broadcast" i: 1 } arg { name: "axis" i: 0 })"), 5u);
  // A scale that an operator states is a number too.
  EXPECT_EQ(Left(R"("Div" name: "first" input: "x" input: "root")",
                 R"("Scale" input: "x" arg { name: "scale" f: 0.70710677 })"),
            1u);
  EXPECT_EQ(Left(R"("Mul" name: "last" input: "d" input: "half")",
                 R"("Scale" input: "d" arg { name: "scale" f: 0.5 })"),
            5u);
}

TEST(PassRulesTest, LayersKeepTheirLeastPrecisionAndTheirAxes) {
  test::PassRun run;
  test::FeedRandom(&run.ws, "w", {4, 3});
  test::FeedRandom(&run.ws, "cube", {2, 3, 4});
  test::FeedRandom(&run.ws, "b", {4});
  const auto args = [&](const std::string& op) {
    run(FuseFC, "op { " + op + R"( output: "y" })");
    std::string text = run.net.op(0).type();
    for (const Argument& arg : run.net.op(0).arg()) {
      if (arg.name() == kUserOperators) continue;
      text += MakeString(" ", arg.name(), " ", arg.has_s() ? arg.s() : MakeString(arg.i()));
    }
    return text;
  };
  EXPECT_EQ(args(R"(type: "FC" input: "x" input: "w" input: "b"
                    arg { name: "least_precision" s: "f32" })"),
            "FCFusion axis 1 least_precision f32");
  EXPECT_EQ(args(R"(type: "FC" input: "x" input: "cube" input: "b" arg { name: "axis" i: 2 }
                    arg { name: "axis_w" i: 2 })"),
            "FCFusion axis 2 axis_w 2");
  EXPECT_EQ(args(R"(type: "FCTransposed" input: "x" input: "w" input: "b")"),
            "FCFusion axis 1 transposed 1");
  EXPECT_EQ(args(R"(type: "MatMul" input: "x" input: "cube" arg { name: "axis_b" i: -1 })"),
            "FCFusion axis 1 axis_w -1 transposed 1");
  EXPECT_EQ(args(R"(type: "MatMul" input: "x" input: "w" arg { name: "trans_b" i: 1 }
                    arg { name: "least_precision" s: "bf16" })"),
            "FCFusion axis 1 least_precision bf16");
  EXPECT_EQ(args(R"(type: "BatchMatMul" input: "x" input: "w" arg { name: "broadcast" i: 1 })"),
            "FCFusion axis -1 transposed 1");
  EXPECT_EQ(args(R"(type: "BatchMatMul" input: "x" input: "w" arg { name: "trans_b" i: 1 })"),
            "FCFusion axis -1 one_matrix 1");
  for (const int axis : {3, -4}) {
    EXPECT_EQ(args(MakeString(R"(type: "MatMul" input: "x" input: "cube" arg { name: "axis_b" i: )",
                              axis, " }")),
              MakeString("MatMul axis_b ", axis));
  }
}

TEST(PassRulesTest, BiasesAreAsLongAsTheOutputs) {
  test::PassRun run;
  test::FeedRandom(&run.ws, "w", {3, 5});
  test::FeedRandom(&run.ws, "cube", {2, 3, 4});
  for (const int size : {3, 4, 5, 6, 12}) {
    test::FeedRandom(&run.ws, MakeString("b", size), {size});
  }
  const auto biases = [&](const std::string& op) {
    std::string found;
    for (const int size : {3, 4, 5, 6, 12}) {
      const Lines lines = run(FuseFC, MakeString("op { ", op, R"( output: "a" }
          op { type: "Add" input: "a" input: "b)",
                                                 size, R"(" output: "y" })"));
      if (lines.size() == 1) found += MakeString(size, " ");
    }
    return found;
  };
  EXPECT_EQ(biases(R"(type: "MatMul" input: "x" input: "w")"), "5 ");
  EXPECT_EQ(biases(R"(type: "MatMul" input: "x" input: "w" arg { name: "trans_b" i: 1 })"), "3 ");
  EXPECT_EQ(biases(R"(type: "MatMul" input: "x" input: "cube")"), "12 ");
  EXPECT_EQ(biases(R"(type: "MatMul" input: "x" input: "cube" arg { name: "axis_b" i: 2 })"), "4 ");
  EXPECT_EQ(biases(R"(type: "MatMul" input: "x" input: "cube" arg { name: "axis_b" i: 2 }
                      arg { name: "trans_b" i: 1 })"),
            "6 ");
  EXPECT_EQ(biases(R"(type: "BatchMatMul" input: "x" input: "w")"), "5 ");
  EXPECT_EQ(biases(R"(type: "BatchMatMul" input: "x" input: "w" arg { name: "trans_b" i: 1 })"),
            "3 ");
}

TEST(PassRulesTest, ActivationsFollowSumsAndKeepTheirArguments) {
  test::PassRun run;
  EXPECT_THAT(run(FuseActivation, R"(
      op { type: "ConvFusion" name: "conv" input: "x" input: "w" input: "r" output: "a"
           arg { name: "sum" i: 1 } }
      op { type: "Clip" name: "clip" input: "a" output: "y" arg { name: "max" f: 6 } })"),
              ElementsAre("ConvFusion(x w r) -> y"));
  const ArgumentHelper args(run.net.op(0));
  EXPECT_EQ(args.GetSingleArgument<int>("sum", 0), 1);
  EXPECT_EQ(args.GetSingleArgument<std::string>("activation", ""), "Clip");
  EXPECT_EQ(args.GetSingleArgument<float>("activation_max", 0), 6);
  EXPECT_EQ(args.GetSingleArgument<float>("activation_min", 0),
            std::numeric_limits<float>::lowest());
  EXPECT_EQ(run.net.op(0).name(), "conv");
  const char* const conv = R"(op { type: "Conv" input: "x" input: "w" output: "a" )";
  const std::string relu = R"(op { type: "Relu" input: "a" output: "y" )";
  for (const std::string& text :
       {std::string(conv) + "is_gradient_op: true } " + relu + "}",
        std::string(conv) + "} " + relu + R"(control_input: "x" })",
        std::string(conv) + "} " + relu + R"(engine: "FAST" })",
        std::string(conv) + R"(device_option { device_id: 1 } } )" + relu + "}",
        std::string(conv) + R"(} op { type: "Exp" input: "a" output: "y" })"}) {
    EXPECT_EQ(run(FuseActivation, text).size(), 2u) << text;
  }
  EXPECT_EQ(run(FuseActivation, std::string(conv) + "} " + relu + "}").size(), 1u);
}

TEST(PassRulesTest, SumsNeedConvolutionsThatOnlyTheyRead) {
  test::PassRun run;
  const char* const conv = R"(op { type: "Conv" name: "conv" input: "x" input: "w" output: "a" )";
  const std::string sum = R"(op { type: "Sum" name: "sum" input: "a" input: "r" output: "y" )";
  EXPECT_THAT(run(FuseSum, std::string(conv) + "} " + sum + "}"),
              ElementsAre("ConvFusion(x w r) -> y"));
  EXPECT_EQ(run.net.op(0).name(), "conv");
  EXPECT_EQ(run(WithoutFusedTypes<FuseSum>, std::string(conv) + "} " + sum + "}").size(), 2u);
  for (const std::string& text :
       {std::string(conv) + "is_gradient_op: true } " + sum + "}",
        std::string(conv) + "} " + sum + R"(control_input: "x" })",
        std::string(conv) + R"(device_option { device_id: 1 } } )" + sum + "}"}) {
    EXPECT_EQ(run(FuseSum, text).size(), 2u) << text;
  }
  run.kept = {"a", "y"};
  EXPECT_EQ(run(FuseSum, std::string(conv) + "} " + sum + "}").size(), 2u);
}

TEST(PassRulesTest, DeadOperatorsNeedAllOutputsDead) {
  test::PassRun run;
  const std::string net = R"(op { type: "Split" input: "x" output: "a" output: "b" }
                             op { type: "Relu" input: "x" output: "y" } )";
  EXPECT_THAT(run(RemoveDeadOperators, net), ElementsAre("Relu(x) -> y"));
  for (const char* kept : {"a", "b"}) {
    run.kept = {"y", kept};
    EXPECT_EQ(run(RemoveDeadOperators, net).size(), 2u) << kept;
  }
  run.kept = {"y"};
  // An operator that stays reads an output; one that reads it twice goes.
  EXPECT_EQ(run(RemoveDeadOperators, net + R"(op { type: "Print" input: "b" })").size(), 3u);
  EXPECT_THAT(run(RemoveDeadOperators, net + R"(op { type: "Sum" input: "b" input: "b" output: "c" }
                  op { type: "Sum" input: "c" input: "a" output: "d" })"),
              ElementsAre("Relu(x) -> y"));
  // The next run reads the state.
  EXPECT_EQ(run(RemoveDeadOperators, R"(op { type: "Relu" input: "state" output: "y" }
                op { type: "Tanh" input: "y" output: "state" })")
                .size(),
            2u);
}

class PlainRulesTest : public testing::Test {
 protected:
  struct NoConstants final : NetConstants {
    const Tensor* Find(std::string_view) const override { return nullptr; }
    std::string Add(const std::string& name, Tensor) override { return name; }
    std::vector<Tensor> Evaluate(const OperatorDef&) override { return {}; }
  };
  bool IsPlain(const std::string& net) {
    const NetDef def = test::ParseNet(net);
    return NetValues(def, context_).is_plain(0);
  }
  NoConstants constants_;
  PassContext context_{.constants = constants_};
};

TEST_F(PlainRulesTest, OperatorsThatDoMoreThanTheirOutputsAreNotPlain) {
  const std::string relu = R"(op { type: "Relu" input: "x" output: "y" )";
  EXPECT_TRUE(IsPlain(relu + "}"));
  EXPECT_TRUE(IsPlain(relu + "device_option { device_type: 0 } }"));
  for (const char* more :
       {R"(device_option { device_type: 1 } })", R"(device_option { node_name: "host" } })",
        R"(} device_option { device_type: 1 })", R"(} device_option { node_name: "host" })",
        R"(control_input: "x" })", R"(engine: "E" })", R"(arg { name: "n" n { } } })"}) {
    EXPECT_FALSE(IsPlain(relu + more)) << more;
  }
  EXPECT_TRUE(
      IsPlain(relu + R"(device_option { device_type: 0 } } device_option { device_type: 1 })"));
  for (const char* op : {R"(type: "CountUp" input: "x" output: "y")", R"(type: "Print" input: "x")",
                         R"(type: "UniformFill" output: "y" arg { name: "shape" ints: 2 })",
                         R"(type: "Relu" output: "y")",
                         R"(type: "Clip" input: "x" output: "y" arg { name: "min" s: "a" })",
                         R"(type: "ConstantFill" output: "y" arg { name: "a" i: 1 }
                            arg { name: "a" i: 2 })"}) {
    EXPECT_FALSE(IsPlain(MakeString("op { ", op, " }"))) << op;
  }
  EXPECT_TRUE(IsPlain(R"(op { type: "ConstantFill" output: "y" arg { name: "shape" ints: 2 } })"));
}

// The runtime knows which engines it would use; it gets the device, but no arguments.
TEST_F(PlainRulesTest, EnginesCountIfTheyAreUsed) {
  OperatorDef asked;
  bool answer = false;
  context_.uses_engine = [&](const OperatorDef& op) {
    asked = op;
    return answer;
  };
  const char* const net = R"(op { type: "Relu" input: "x" output: "y" engine: "E"
      arg { name: "a" i: 1 } } device_option { random_seed: 7 })";
  EXPECT_TRUE(IsPlain(net));
  EXPECT_EQ(asked.type(), "Relu");
  EXPECT_EQ(asked.engine(), "E");
  EXPECT_EQ(asked.device_option().random_seed(), 7u);
  EXPECT_EQ(asked.arg_size(), 0);
  answer = true;
  EXPECT_FALSE(IsPlain(net));
}

TEST_F(PlainRulesTest, WritesAndUsesAreFoundBetweenOperators) {
  const NetDef net = test::ParseNet(R"(
      op { type: "Relu" input: "x" output: "a" }
      op { type: "CountUp" input: "n" output: "old" }
      op { type: "If" input: "c" output: "d" arg { name: "then_net" n {
           op { type: "Relu" input: "v" output: "a" } } } }
      op { type: "Relu" input: "a" output: "b" }
      op { type: "Relu" input: "x" output: "x" })");
  context_.kept = {"b"};
  const NetValues values(net, context_);
  const auto blob = [&](const char* name) { return values.blobs().Find(name); };
  EXPECT_TRUE(values.IsWrittenBetween(blob("n"), 0, 2));   // CountUp modifies its input
  EXPECT_FALSE(values.IsWrittenBetween(blob("n"), 1, 2));  // without the ends
  EXPECT_TRUE(values.IsWrittenBetween(blob("a"), 0, 3));   // by the nested net
  EXPECT_FALSE(values.IsWrittenBetween(blob("a"), 2, 4));
  EXPECT_TRUE(values.IsWrittenBetween(blob("c"), 0, 4));  // the net may write its inputs
  EXPECT_TRUE(values.IsUsedBetween(blob("a"), 2, 4));
  EXPECT_TRUE(values.IsUsedBetween(blob("a"), 1, 3));
  EXPECT_FALSE(values.IsUsedBetween(blob("a"), 3, 5));
  EXPECT_FALSE(values.InputsLastUntil(0, 5));  // x is written by operator 4
  EXPECT_TRUE(values.InputsLastUntil(0, 4));
  EXPECT_TRUE(values.is_observable(values.input(1, 0)));
  EXPECT_TRUE(values.is_only_kept(values.output(3, 0)));
  EXPECT_TRUE(values.is_only_kept(values.output(4, 0)));  // the next run reads x
  EXPECT_FALSE(values.is_observable(values.output(1, 0)));
}

}  // namespace
}  // namespace caffe2rt::pass_rules_test
