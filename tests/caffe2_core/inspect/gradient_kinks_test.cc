// CheckGradients where the function is not smooth.

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "caffe2_core/graph/arguments.h"
#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/inspect/gradient_check.h"
#include "caffe2_core/runtime/net.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "caffe2_core/runtime/workspace.h"
#include "contexts/cpu/cpu_context.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::gradient_kinks_test {
namespace {

using test::Feed;
using test::ParseNet;

// The slope of a max with 0, whose gradient is three times as large.
class GradientKinksTestRampOp final : public Operator<CPUContext> {
 public:
  using Operator<CPUContext>::Operator;
  bool RunOnDevice() override {
    const Tensor& x = Input(0);
    Tensor* const y = Output(0, x.sizes(), TypeMeta::Make<float>());
    for (int64_t i = 0; i < x.numel(); ++i)
      y->mutable_data<float>()[i] = std::max(x.data<float>()[i], 0.0f);
    return true;
  }
};
class SteepGradient final : public GradientMakerBase {
  using GradientMakerBase::GradientMakerBase;
  std::vector<OperatorDef> GetGradientDefs() override {
    return SingleGradientDef("Scale", "", std::vector<std::string>{GO(0)},
                             std::vector<std::string>{GI(0)},
                             std::vector<Argument>{MakeArgument("scale", 3.0f)});
  }
};
REGISTER_CPU_OPERATOR(GradientKinksTestRamp, GradientKinksTestRampOp);
OPERATOR_SCHEMA(GradientKinksTestRamp).NumInputs(1).NumOutputs(1);
REGISTER_GRADIENT(GradientKinksTestRamp, SteepGradient);

// At and near a kink the difference quotient is between the slopes of both sides, of which the
// operator returns one, or one between them. Elements that are farther away than the step of 1/64
// are compared.
TEST(GradientKinksTest, AreNotWrong) {
  const std::string clip = R"(type: "Clip" arg { name: "min" f: 0 } arg { name: "max" f: 1 })";
  const std::string pool = R"(type: "MaxPool" arg { name: "kernel_h" i: 1 }
      arg { name: "kernel_w" i: 2 } arg { name: "stride_w" i: 2 })";
  const struct {
    std::string op, inputs;
    std::vector<int64_t> dims;
    std::vector<float> x;
    int64_t kinks, wrong;
  } rows[] = {
      {R"(type: "Relu")", R"(input: "x")", {4}, {0, 0.001f, 0.5f, -0.5f}, 2, 0},
      // The slope of Abs at 0 is between both, 0, which is the difference quotient as well.
      {R"(type: "Abs")", R"(input: "x")", {4}, {0, -0.0005f, 0.5f, -0.5f}, 1, 0},
      {clip, R"(input: "x")", {5}, {0, 1, 0.9995f, 0.5f, 2}, 3, 0},
      {R"(type: "Max")", R"(input: "x" input: "c")", {3}, {1, 2, 3}, 1, 0},
      {pool, R"(input: "x")", {1, 1, 1, 6}, {1, 1.001f, 3, 2.9995f, 5, 4}, 4, 0},
      // A gradient that neither side has is wrong.
      {R"(type: "GradientKinksTestRamp")", R"(input: "x")", {3}, {0, 0.0005f, 0.5f}, 0, 3},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.op);
    Workspace ws;
    Feed<float>(&ws, "x", row.dims, row.x);
    Feed<float>(&ws, "c", {3}, {1, 0, 4});
    const auto checked = CheckGradients(
        ParseNet(R"(name: "n" op { )" + row.op + " " + row.inputs + R"( output: "y" })"), {"y"},
        {.wrt = {"x"}}, &ws);
    ASSERT_EQ(checked.size(), 1u);
    EXPECT_EQ(checked[0].elements, static_cast<int64_t>(row.x.size()));
    EXPECT_EQ(checked[0].not_smooth, row.kinks);
    EXPECT_EQ(checked[0].wrong, row.wrong);
  }
}

// The nets that are run for a check have the name of the net and "_forward" or "_backward" behind it.
TEST(GradientCheckNetsTest, KeepsNetsOfTheWorkspace) {
  Workspace ws;
  Feed<float>(&ws, "x", {1}, {1});
  const std::vector<std::string> names = {"n", "n_fills", "n_forward", "n_forward_backward"};
  for (const std::string& name : names) {
    ws.CreateNet(ParseNet("name: '" + name + "' op { type: 'Negative' input: 'x' output: 'z' }"));
  }
  CheckGradients(ParseNet(R"(name: "n" op { type: "ConstantFill" output: "c" }
                             op { type: "Add" input: "x" input: "c" output: "y" })"),
                 {"y"}, {}, &ws);
  EXPECT_EQ(ws.Nets().size(), names.size());
  for (const std::string& name : names) {
    ASSERT_NE(ws.GetNet(name), nullptr) << name;
    EXPECT_EQ(ws.GetNet(name)->GetOperators().at(0)->type(), "Negative") << name;
  }
}

}  // namespace
}  // namespace caffe2rt::gradient_kinks_test
