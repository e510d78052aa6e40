#include "caffe2_core/inspect/gradient_check.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "caffe2_core/runtime/workspace.h"
#include "contexts/cpu/cpu_context.h"
#include "tests/support/operator_test.h"
#include "tests/support/refusals.h"

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

// y = x^3 in doubles.
class GradientCheckTestCubeOp final : public Operator<CPUContext> {
 public:
  using Operator<CPUContext>::Operator;
  bool RunOnDevice() override {
    const Tensor& x = Input(0);
    auto* const y = Output(0, x.sizes(), TypeMeta::Make<double>())->mutable_data<double>();
    for (int64_t i = 0; i < x.numel(); ++i) y[i] = std::pow(x.data<double>()[i], 3);
    return true;
  }
};
class GradientCheckTestCubeGradientOp final : public Operator<CPUContext> {
 public:
  using Operator<CPUContext>::Operator;
  bool RunOnDevice() override {
    const Tensor &x = Input(0), &dy = Input(1);
    auto* const dx = Output(0, x.sizes(), TypeMeta::Make<double>())->mutable_data<double>();
    for (int64_t i = 0; i < x.numel(); ++i)
      dx[i] = 3 * x.data<double>()[i] * x.data<double>()[i] * dy.data<double>()[i];
    return true;
  }
};
class CubeGradient final : public GradientMakerBase {
  using GradientMakerBase::GradientMakerBase;
  std::vector<OperatorDef> GetGradientDefs() override {
    return SingleGradientDef("GradientCheckTestCubeGradient", "",
                             std::vector<std::string>{I(0), GO(0)},
                             std::vector<std::string>{GI(0)});
  }
};
REGISTER_CPU_OPERATOR(GradientCheckTestCube, GradientCheckTestCubeOp);
OPERATOR_SCHEMA(GradientCheckTestCube).NumInputs(1).NumOutputs(1);
REGISTER_CPU_OPERATOR(GradientCheckTestCubeGradient, GradientCheckTestCubeGradientOp);
OPERATOR_SCHEMA(GradientCheckTestCubeGradient).NumInputs(2).NumOutputs(1);
REGISTER_GRADIENT(GradientCheckTestCube, CubeGradient);

// Numbers that no float holds are read, moved and restored as they are: the slope of x^3 at x is 3 x^2,
// and central differences with a step h are at most h^2 beside it.
TEST(GradientCheckTest, DoublesKeepTheirDigits) {
  Workspace ws;
  const std::vector<double> x = {1.0 / 3};
  Feed<double>(&ws, "x", {1}, x);
  const auto checked = CheckGradients(
      ParseNet(R"(name: "n" op { type: "GradientCheckTestCube" input: "x" output: "y" })"), {"y"},
      {.step = 1e-5, .tolerance = 1e-8}, &ws);
  ASSERT_EQ(checked.size(), 1u);
  EXPECT_EQ(checked[0].elements, 1);
  EXPECT_EQ(checked[0].wrong, 0);
  EXPECT_EQ(checked[0].not_smooth, 0);
  EXPECT_NEAR(checked[0].worst.computed, 1.0 / 3, 1e-14);
  EXPECT_NEAR(checked[0].worst.quotient, 1.0 / 3, 1e-9);
  EXPECT_EQ(ws.GetBlob("x")->Get<Tensor>().data<double>()[0], x[0]);
}

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

// y = 3 x, whose slope is 3 for elements of any size, also where floats are farther apart than the
// step.
TEST(GradientCheckTest, LargeNumbersHaveNeighbours) {
  for (const float x : {1e-30f, 0.25f, 1e4f, 2e5f, -1e6f, 3e9f, -1e20f}) {
    SCOPED_TRACE(x);
    Workspace ws;
    Feed<float>(&ws, "x", {1}, {x});
    const auto checked =
        CheckGradients(ParseNet(R"(name: "n" op { type: "Scale" input: "x" output: "y"
                                   arg { name: "scale" f: 3 } })"),
                       {"y"}, {}, &ws);
    ASSERT_EQ(checked.size(), 1u);
    EXPECT_EQ(checked[0].elements, 1);
    EXPECT_EQ(checked[0].wrong, 0);
    EXPECT_EQ(checked[0].not_smooth, 0);
    EXPECT_EQ(checked[0].worst.computed, 3);
    EXPECT_NEAR(checked[0].worst.quotient, 3, 0.5);
    EXPECT_EQ(ws.GetBlob("x")->Get<Tensor>().data<float>()[0], x);
  }
}

// Rows of a table: y[k] = table[ids[k]]. The maker returns what the test asks for.
class GradientCheckTestRowsOp final : public Operator<CPUContext> {
 public:
  using Operator<CPUContext>::Operator;
  bool RunOnDevice() override {
    const Tensor &table = Input(0), &ids = Input(1);
    const int64_t length = table.size_from_dim(1);
    float* const y =
        Output(0, {ids.numel(), length}, TypeMeta::Make<float>())->mutable_data<float>();
    for (int64_t k = 0; k < ids.numel(); ++k) {
      std::copy_n(table.data<float>() + ids.data<int32_t>()[k] * length, length, y + k * length);
    }
    return true;
  }
};
std::pair<std::string, std::string> g_rows;  // indices and values; GO(0) if empty
class RowsGradient final : public GradientMakerBase {
  using GradientMakerBase::GradientMakerBase;
  std::vector<OperatorDef> GetGradientDefs() override {
    SetSparse(0, g_rows.first, g_rows.second.empty() ? GO(0) : g_rows.second);
    return {};
  }
};
REGISTER_CPU_OPERATOR(GradientCheckTestRows, GradientCheckTestRowsOp);
OPERATOR_SCHEMA(GradientCheckTestRows).NumInputs(2, 4).NumOutputs(1);
REGISTER_GRADIENT(GradientCheckTestRows, RowsGradient);

class SparseGradientCheckTest : public ::testing::Test {
 protected:
  std::vector<CheckedGradient> Check(const std::string& indices, const std::string& values = "") {
    g_rows = {indices, values};
    Feed<float>(&ws_, "table", {3, 2}, {1, 2, 3, 4, 5, 6});
    Feed<int32_t>(&ws_, "ids", {3}, {2, 0, 2});
    Feed<float>(&ws_, "short", {5}, {1, 2, 3, 4, 5});
    return CheckGradients(ParseNet(R"(name: "n" op { type: "GradientCheckTestRows" input: "table"
        input: ")" + indices + "\" output: \"y\" " +
                                   (values.empty() ? "" : "input: \"" + values + "\"") + "}"),
                          {"y"}, {.wrt = {"table"}}, &ws_);
  }
  // With other rows than those that are read, which are 2, 0 and 2.
  std::vector<CheckedGradient> CheckWithRows(const std::vector<int32_t>& others) {
    g_rows = {"others", ""};
    Feed<float>(&ws_, "table", {3, 2}, {1, 2, 3, 4, 5, 6});
    Feed<int32_t>(&ws_, "ids", {3}, {2, 0, 2});
    Feed<int32_t>(&ws_, "others", {3}, others);
    return CheckGradients(
        ParseNet(R"(name: "n" op { type: "GradientCheckTestRows" input: "table" input: "ids"
                    input: "others" output: "y" })"),
        {"y"}, {.wrt = {"table"}}, &ws_);
  }
  Workspace ws_;
};

TEST_F(SparseGradientCheckTest, AddsTheRowsOfOneIndex) {
  const auto checked = Check("ids");
  ASSERT_EQ(checked.size(), 1u);
  EXPECT_EQ(checked[0].blob, "table");
  EXPECT_EQ(checked[0].gradient, "y_check_weights");
  EXPECT_EQ(checked[0].elements, 6);
  EXPECT_EQ(checked[0].wrong, 0);
  EXPECT_EQ(checked[0].not_smooth, 0);
}

TEST_F(SparseGradientCheckTest, FindsRowsInAWrongPlace) {
  const auto checked = CheckWithRows({2, 1, 2});
  EXPECT_EQ(checked[0].wrong, 4);  // rows 0 and 1
  EXPECT_LT(checked[0].worst.index, 4);
}

TEST_F(SparseGradientCheckTest, RejectsIndicesAndValuesThatDoNotFit) {
  EXPECT_EQ(
      test::MessageOf([&] { Check("ids", "short"); }),
      "elements of gradient \"short\", want a row of \"table\" for each index (got 5, want 6)");
  for (const int32_t index : {-1, 3}) {
    EXPECT_EQ(test::MessageOf([&] {
                CheckWithRows({2, index, 2});
              }),
              MakeString("index ", index, " of gradient \"others\" is out of range, want 0 to 2"));
  }
}

// All numbers of a report: the gradient of the wrong square is x instead of 2 x, times the weights of
// the elements, which are (1, -1, ...) times 0.25 to 1.
TEST(GradientCheckReportTest, NamesTheElementThatDiffersMost) {
  Workspace ws;
  Feed<float>(&ws, "x", {3}, {0.5f, 8, 1});
  const auto checked = CheckGradients(
      ParseNet(R"(name: "n" op { type: "GradientCheckTestSquare" input: "x" output: "y" })"), {"y"},
      {}, &ws);
  ASSERT_EQ(checked.size(), 1u);
  EXPECT_EQ(checked[0].worst.index, 1);
  // The weight of element 1 of 3: -(0.25 + 0.75 * frac(2 * 0.618034)).
  const double weight = -(0.25 + 0.75 * 0.2360679775);
  EXPECT_NEAR(checked[0].worst.computed, 8 * weight, 1e-4);
  EXPECT_NEAR(checked[0].worst.quotient, 16 * weight, 1e-2);
  EXPECT_EQ(checked[0].wrong, 3);
  EXPECT_EQ(checked[0].not_smooth, 0);
  test::ExpectTensor<float>(
      ws, "y_check_weights", {3},
      {static_cast<float>(0.25 + 0.75 * 0.6180339887), static_cast<float>(weight),
       static_cast<float>(0.25 + 0.75 * 0.8541019662)},
      1e-6);
}

TEST(GradientCheckReportTest, LossesOfOneElementCountAsTheyAre) {
  Workspace ws;
  Feed<float>(&ws, "x", {1}, {3});
  Feed<float>(&ws, "z", {1}, {2});
  const auto checked = CheckGradients(
      ParseNet(R"(name: "n" op { type: "GradientCheckTestSquare" input: "x" output: "y" }
                  op { type: "Tanh" input: "z" output: "t" })"),
      {"y", "t"}, {}, &ws);
  ASSERT_EQ(checked.size(), 2u);
  EXPECT_EQ(checked[0].blob, "x");
  EXPECT_NEAR(checked[0].worst.computed, 3, 1e-6);
  EXPECT_NEAR(checked[0].worst.quotient, 6, 1e-3);
  EXPECT_EQ(checked[1].blob, "z");
  EXPECT_NEAR(checked[1].worst.quotient, 1 - std::tanh(2) * std::tanh(2), 1e-3);
  EXPECT_EQ(checked[1].wrong, 0);
}

// The tolerance is a part of the largest value in the gradient: a gradient of half the slope is
// within 1/2 and a little, and beyond 1/2 less a little.
TEST(GradientCheckReportTest, TheToleranceIsAPartOfTheLargestValue) {
  for (const auto& [tolerance, wrong] : {std::pair(0.52, 0), {0.48, 1}}) {
    Workspace ws;
    Feed<float>(&ws, "x", {1}, {3});
    const auto checked = CheckGradients(
        ParseNet(R"(name: "n" op { type: "GradientCheckTestSquare" input: "x" output: "y" })"),
        {"y"}, {.tolerance = tolerance}, &ws);
    EXPECT_EQ(checked[0].wrong, wrong) << tolerance;
  }
}

// Operators that only fill count as inputs, also where the net lists its inputs; a net that writes
// over its input finds it as it was in every run, and so does the caller.
TEST(GradientCheckReportTest, RestoresWhatTheNetOverwrites) {
  Workspace ws;
  Feed<float>(&ws, "x", {2}, {0.5f, -1});
  const auto checked =
      CheckGradients(ParseNet(R"(name: "n" external_input: "x" external_output: "none"
        op { type: "ConstantFill" output: "w" arg { name: "shape" ints: 2 } arg { name: "value" f: 2 } }
        op { type: "Sum" input: "x" input: "w" output: "y" }
        op { type: "Tanh" input: "y" output: "y" } op { type: "Copy" input: "y" output: "x" })"),
                     {"y"}, {}, &ws);
  ASSERT_EQ(checked.size(), 2u);
  EXPECT_EQ(checked[0].blob, "w");
  EXPECT_EQ(checked[1].blob, "x");
  for (const CheckedGradient& gradient : checked) {
    EXPECT_EQ(gradient.wrong, 0) << gradient.blob;
    EXPECT_EQ(gradient.elements, 2);
  }
  test::ExpectTensor<float>(ws, "x", {2}, {0.5f, -1});
  test::ExpectTensor<float>(ws, "w", {2}, {2, 2});
}

TEST(GradientCheckReportTest, StatesWhatCannotBeChecked) {
  Workspace ws;
  Feed<float>(&ws, "x", {2}, {1, 2});
  Feed<int32_t>(&ws, "i", {2}, {1, 2});
  const auto error = [&](const std::string& net, const std::vector<std::string>& losses,
                         const GradientCheckOptions& options = {}) {
    return test::MessageOf(
        [&] { CheckGradients(ParseNet("name: 'n' " + net), losses, options, &ws); });
  };
  const std::string tanh = R"(op { type: "Tanh" input: "x" output: "y" } )";
  EXPECT_EQ(error(tanh, {"none"}),
            "blob \"none\" is not a tensor of float or double, which a gradient needs");
  EXPECT_EQ(error(tanh + R"(op { type: "Copy" input: "i" output: "j" })", {"j"}),
            "blob \"j\" is not a tensor of float or double, which a gradient needs");
  Tensor* const later = ws.CreateBlob("later")->GetMutable<Tensor>();  // floats, without memory
  later->Resize(2);
  later->mutable_data<float>();
  later->FreeMemory();
  EXPECT_EQ(error(tanh, {"later"}),
            "blob \"later\" is not a tensor of float or double, which a gradient needs");
  EXPECT_EQ(
      error(tanh, {"y"}, {.wrt = {"y"}}),
      "blob \"y\" is not an input of float or double of net \"n_forward\", so that its gradient "
      "cannot be checked");
  EXPECT_EQ(error(R"(type: "nosuch" )" + tanh, {"y"}),
            "net \"n_forward\" has type \"nosuch\", which is not known");
  EXPECT_EQ(error(R"(op { type: "StopGradient" input: "x" output: "s" }
                     op { type: "Tanh" input: "s" output: "y" })",
                  {"y"}),
            "no input of net \"n_forward\" has a gradient that can be checked, want a float input");
  EXPECT_EQ(error(R"(op { type: "GradientCheckTestCopy" input: "x" output: "y" })", {"y"},
                  {.step = 0, .tolerance = 2, .most_elements = 3}),
            "step, tolerance and most_elements of CheckGradients are 0, 2 and 3, want more than 0");
  // Errors of operators name the part of the net. Those at its beginning without inputs are a net of their own.
  const auto starts = [&](const std::string& net, const std::string& frame) {
    const std::string text = error(net, {"y"});
    EXPECT_NE(text.find(frame), std::string::npos) << text;
  };
  const std::string fill = R"(op { type: "GivenTensorFill" output: "w" arg { name: "shape" ints: 3 }
      arg { name: "values" floats: 1 } } )";
  starts(fill + tanh, "net \"n_fills\", operator 0 (GivenTensorFill, output \"w\")");
  starts(tanh + fill, "net \"n_forward\", operator 1 (GivenTensorFill, output \"w\")");
  starts(R"(op { type: "Tanh" input: "absent" output: "y" })",
         "net \"n_forward\", operator 0 (Tanh");
}

// Numbers of 64 bits are stepped and compared as they are: a float would not hold 2^30 + 1/64.
TEST(GradientCheckReportTest, ChecksDoubles) {
  Workspace ws;
  Feed<double>(&ws, "x", {2}, {1073741824, -3});
  Feed<double>(&ws, "c", {2}, {0.5, 4});
  const auto checked =
      CheckGradients(ParseNet(R"(name: "n" op { type: "Mul" input: "x" input: "c" output: "y" })"),
                     {"y"}, {}, &ws);
  ASSERT_EQ(checked.size(), 2u);
  EXPECT_EQ(checked[0].blob, "c");
  EXPECT_EQ(checked[1].blob, "x");
  EXPECT_EQ(checked[1].wrong, 0);
  EXPECT_EQ(checked[1].elements, 2);
  test::ExpectTensor<double>(ws, "x", {2}, {1073741824, -3});
  test::ExpectTensor<double>(ws, "c", {2}, {0.5, 4});
  EXPECT_TRUE(ws.GetBlob("y_check_weights")->Get<Tensor>().IsType<double>());
  // A large double needs no larger step, beside which 1/2 is little.
  Feed<double>(&ws, "large", {2}, {4000000.5, -30000000.5});
  Feed<double>(&ws, "near", {2}, {4000000, -30000000});
  const auto cube = CheckGradients(
      ParseNet(R"(name: "m" op { type: "Sub" input: "large" input: "near" output: "z" }
                  op { type: "GradientCheckTestCube" input: "z" output: "q" })"),
      {"q"}, {.wrt = {"large"}}, &ws);
  ASSERT_EQ(cube.size(), 1u);
  EXPECT_EQ(cube[0].wrong, 0);
  EXPECT_EQ(cube[0].not_smooth, 0);
}

}  // namespace
}  // namespace caffe2rt::gradient_check_test
