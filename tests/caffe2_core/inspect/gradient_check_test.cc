#include "caffe2_core/inspect/gradient_check.h"

#include <gtest/gtest.h>

#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "caffe2_core/runtime/workspace.h"
#include "contexts/cpu/cpu_context.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::gradient_check_test {
namespace {

using test::ExpectThrows;
using test::Feed;
using test::ParseNet;

// y = x * x, whose gradient maker forgets the factor 2.
class GradientCheckTestSquareOp final : public Operator<CPUContext> {
 public:
  using Operator<CPUContext>::Operator;
  bool RunOnDevice() override {
    const Tensor& x = Input(0);
    Tensor* const y = Output(0, x.sizes(), TypeMeta::Make<float>());
    for (int64_t i = 0; i < x.numel(); ++i)
      y->mutable_data<float>()[i] = x.data<float>()[i] * x.data<float>()[i];
    return true;
  }
};
class WrongSquareGradient final : public GradientMakerBase {
  using GradientMakerBase::GradientMakerBase;
  std::vector<OperatorDef> GetGradientDefs() override {
    return SingleGradientDef("Mul", "", std::vector<std::string>{I(0), GO(0)},
                             std::vector<std::string>{GI(0)});
  }
};
REGISTER_CPU_OPERATOR(GradientCheckTestSquare, GradientCheckTestSquareOp);
OPERATOR_SCHEMA(GradientCheckTestSquare).NumInputs(1).NumOutputs(1);
REGISTER_GRADIENT(GradientCheckTestSquare, WrongSquareGradient);

TEST(GradientCheckTest, FindsAWrongGradient) {
  Workspace ws;
  Feed<float>(&ws, "x", {3}, {1, 0, -2});
  const auto checked = CheckGradients(
      ParseNet(R"(name: "n" op { type: "GradientCheckTestSquare" input: "x" output: "y" })"), {"y"},
      {}, &ws);
  ASSERT_EQ(checked.size(), 1u);
  EXPECT_EQ(checked[0].blob, "x");
  EXPECT_EQ(checked[0].gradient, "x_grad");
  EXPECT_EQ(checked[0].elements, 3);
  EXPECT_EQ(checked[0].wrong, 2);  // 0 is right
  EXPECT_NEAR(checked[0].worst.quotient, 2 * checked[0].worst.computed, 1e-3);
  test::ExpectTensor<float>(ws, "x", {3}, {1, 0, -2});
}

// Of 12 elements 4 are checked: those at 0, 3, 6 and 9. The gradient is right where x is 0.
TEST(GradientCheckTest, SpreadsTheElementsThatItChecksOverTheBlob) {
  Workspace ws;
  Feed<float>(&ws, "x", {12}, {0, 0, 0, 0, 0, 0, 1, 0, 0, 1, 0, 0});
  const auto checked = CheckGradients(
      ParseNet(R"(name: "n" op { type: "GradientCheckTestSquare" input: "x" output: "y" })"), {"y"},
      {.most_elements = 4}, &ws);
  ASSERT_EQ(checked.size(), 1u);
  EXPECT_EQ(checked[0].elements, 4);
  EXPECT_EQ(checked[0].wrong, 2);
}

// y = x, whose gradient maker mixes up rows and columns. A sum of y with equal weights hides it.
class GradientCheckTestCopyOp final : public Operator<CPUContext> {
 public:
  using Operator<CPUContext>::Operator;
  bool RunOnDevice() override {
    Output(0)->CopyFrom(Input(0));
    return true;
  }
};
class TransposedGradient final : public GradientMakerBase {
  using GradientMakerBase::GradientMakerBase;
  std::vector<OperatorDef> GetGradientDefs() override {
    return SingleGradientDef("Transpose", "", std::vector<std::string>{GO(0)},
                             std::vector<std::string>{GI(0)});
  }
};
REGISTER_CPU_OPERATOR(GradientCheckTestCopy, GradientCheckTestCopyOp);
OPERATOR_SCHEMA(GradientCheckTestCopy).NumInputs(1).NumOutputs(1);
REGISTER_GRADIENT(GradientCheckTestCopy, TransposedGradient);

TEST(GradientCheckTest, FindsGradientsInTheWrongOrder) {
  Workspace ws;
  Feed<float>(&ws, "x", {2, 2}, {1, 2, 3, 4});
  const auto checked = CheckGradients(
      ParseNet(R"(name: "n" op { type: "GradientCheckTestCopy" input: "x" output: "y" })"), {"y"},
      {}, &ws);
  ASSERT_EQ(checked.size(), 1u);
  EXPECT_EQ(checked[0].wrong, 2);  // the diagonal is right
}

TEST(GradientCheckTest, AcceptsRightGradientsOfAWholeNet) {
  Workspace ws;
  test::FeedRandom(&ws, "x", {4, 3});
  const auto checked =
      CheckGradients(ParseNet(R"(name: "n" external_input: "x" external_output: "loss"
      op { type: "XavierFill" output: "w" arg { name: "shape" ints: 2 ints: 3 } }
      op { type: "ConstantFill" output: "b" arg { name: "shape" ints: 2 } }
      op { type: "FC" input: "x" input: "w" input: "b" output: "y" }
      op { type: "Tanh" input: "y" output: "y" }
      op { type: "AveragedLoss" input: "y" output: "loss" })"),
                     {"loss"}, {}, &ws);
  ASSERT_EQ(checked.size(), 3u);
  for (const CheckedGradient& gradient : checked) EXPECT_EQ(gradient.wrong, 0) << gradient.blob;
}

TEST(GradientCheckTest, LeavesOutWhereTheFunctionIsNotSmooth) {
  Workspace ws;
  Feed<float>(&ws, "x", {2}, {0.003f, 2});
  const auto checked = CheckGradients(
      ParseNet(R"(name: "n" op { type: "Relu" input: "x" output: "y" })"), {"y"}, {}, &ws);
  EXPECT_EQ(checked[0].not_smooth, 1);
  EXPECT_EQ(checked[0].wrong, 0);
}

// A gradient of another shape.
TEST(GradientCheckTest, RejectsGradientsOfAnotherShape) {
  Workspace ws;
  Feed<float>(&ws, "x", {2, 3}, {1, 2, 3, 4, 5, 6});
  ExpectThrows(
      [&] {
        CheckGradients(
            ParseNet(R"(name: "n" op { type: "GradientCheckTestCopy" input: "x" output: "y" })"),
            {"y"}, {}, &ws);
      },
      "gradient \"x_grad\" has the shape [3, 2], want [2, 3], as \"x\"");
}

TEST(GradientCheckTest, RejectsInvalidArguments) {
  Workspace ws;
  Feed<float>(&ws, "x", {1}, {1});
  const NetDef net = ParseNet(R"(name: "n" op { type: "Tanh" input: "x" output: "y" })");
  ExpectThrows([&] { CheckGradients(net, {}, {}, &ws); },
               "argument losses of CheckGradients is empty");
  ExpectThrows([&] { CheckGradients(net, {"y"}, {}, nullptr); },
               "argument ws of CheckGradients is null");
  ExpectThrows([&] { CheckGradients(net, {"y"}, {.step = 0}, &ws); },
               "step, tolerance and most_elements");
  ExpectThrows([&] { CheckGradients(net, {"y"}, {.tolerance = -1}, &ws); },
               "step, tolerance and most_elements");
  ExpectThrows([&] { CheckGradients(net, {"y"}, {.most_elements = 0}, &ws); },
               "step, tolerance and most_elements");
}

TEST(GradientCheckTest, RejectsWhatCannotBeChecked) {
  Workspace ws;
  Feed<float>(&ws, "x", {8}, {1, 1, 1, 1, 1, 1, 1, 1});
  ExpectThrows(
      [&] {
        CheckGradients(
            ParseNet(
                R"(name: "n" op { type: "Dropout" input: "x" output: "y" output: "m" arg { name: "is_test" i: 0 }
                        device_option { random_seed: 7 } })"),
            {"y"}, {}, &ws);
      },
      "random operators cannot be checked");
  ExpectThrows(
      [&] {
        CheckGradients(ParseNet(R"(name: "n" op { type: "Tanh" input: "x" output: "h" }
            op { type: "Tanh" input: "h" output: "y" })"),
                       {"y"}, {.wrt = {"h"}}, &ws);
      },
      "blob \"h\" is not an input of float or double");
}

// Near 2^18 the floats are 1/32 apart: x + c changes by one such step for x +- 1/64 and for x +- 1/128, so that the two
// quotients are 1 and 2. The difference is rounding, not a kink.
TEST(GradientCheckTest, RoundingIsNoKink) {
  Workspace ws;
  Feed<float>(&ws, "x", {1}, {0.3f / 32});
  Feed<float>(&ws, "c", {1}, {262144});
  const auto checked =
      CheckGradients(ParseNet(R"(name: "n" op { type: "Add" input: "x" input: "c" output: "y" })"),
                     {"y"}, {.wrt = {"x"}}, &ws);
  ASSERT_EQ(checked.size(), 1u);
  EXPECT_EQ(checked[0].elements, 1);
  EXPECT_EQ(checked[0].not_smooth, 0);
  EXPECT_EQ(checked[0].wrong, 0);
}

}  // namespace
}  // namespace caffe2rt::gradient_check_test
