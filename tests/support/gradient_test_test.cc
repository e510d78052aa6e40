// Tests that the helpers for gradients compare them and report failures. The operators are those of
// this file.
#include "tests/support/gradient_test.h"

#include <gtest/gtest-spi.h>

#include <algorithm>

#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::gradient_test_test {
namespace {

using Strings = std::vector<std::string>;

template <float (*kFunction)(float)>
class TestUnaryOp final : public Operator<CPUContext> {
 public:
  using Operator<CPUContext>::Operator;
  bool RunOnDevice() override {
    const Tensor& x = Input(0);
    Tensor* const y = Output(0);
    if (y != &x) y->ResizeLike(x);
    float* const values = y->mutable_data<float>();
    std::transform(x.data<float>(), x.data<float>() + x.numel(), values, kFunction);
    return true;
  }
};
float Square(float x) { return x * x; }
float Negate(float x) { return -x; }
float Ramp(float x) { return x > 0 ? x : 0; }

// dX = factor * dY * X, where a factor of 2 is right.
template <int kFactor>
class GetSquareGradient final : public GradientMakerBase {
 public:
  using GradientMakerBase::GradientMakerBase;

 protected:
  std::vector<OperatorDef> GetGradientDefs() override {
    return {CreateOperatorDef(
                "Scale", "", Strings{GO(0)}, Strings{GI(0)},
                std::vector<Argument>{MakeArgument("scale", static_cast<float>(kFactor))}),
            CreateOperatorDef("Mul", "", Strings{GI(0), I(0)}, Strings{GI(0)})};
  }
};
class GetNegateGradient final : public GradientMakerBase {
 public:
  using GradientMakerBase::GradientMakerBase;

 protected:
  std::vector<OperatorDef> GetGradientDefs() override {
    return SingleGradientDef("Negative", "", Strings{GO(0)}, Strings{GI(0)});
  }
};

OPERATOR_SCHEMA(TestSquare).NumInputs(1).NumOutputs(1);
REGISTER_CPU_OPERATOR(TestSquare, TestUnaryOp<&Square>);
REGISTER_GRADIENT(TestSquare, GetSquareGradient<2>);
OPERATOR_SCHEMA(TestWrongSquare).NumInputs(1).NumOutputs(1);
REGISTER_CPU_OPERATOR(TestWrongSquare, TestUnaryOp<&Square>);
REGISTER_GRADIENT(TestWrongSquare, GetSquareGradient<3>);
OPERATOR_SCHEMA(TestNegate).NumInputs(1).NumOutputs(1).AllowInplace({{0, 0}});
REGISTER_CPU_OPERATOR(TestNegate, TestUnaryOp<&Negate>);
REGISTER_GRADIENT(TestNegate, GetNegateGradient);
OPERATOR_SCHEMA(TestRamp).NumInputs(1).NumOutputs(1);
REGISTER_CPU_OPERATOR(TestRamp, TestUnaryOp<&Ramp>);
REGISTER_GRADIENT(TestRamp, GetNegateGradient);

// Rows of input 0 by the indices in input 1. The gradient is sparse.
class TestRowsOp final : public Operator<CPUContext> {
 public:
  using Operator<CPUContext>::Operator;
  bool RunOnDevice() override {
    const Tensor &x = Input(0), &indices = Input(1);
    Tensor* const y = Output(0, {indices.numel(), x.dim(1)}, TypeMeta::Make<float>());
    for (int64_t i = 0; i < indices.numel(); ++i) {
      std::copy_n(x.data<float>() + indices.data<int32_t>()[i] * x.dim(1), x.dim(1),
                  y->mutable_data<float>() + i * x.dim(1));
    }
    return true;
  }
};
class GetRowsGradient final : public GradientMakerBase {
 public:
  using GradientMakerBase::GradientMakerBase;

 protected:
  std::vector<OperatorDef> GetGradientDefs() override {
    SetSparse(0, I(1), GO(0));
    return {};
  }
};
OPERATOR_SCHEMA(TestRows).NumInputs(2).NumOutputs(1);
REGISTER_CPU_OPERATOR(TestRows, TestRowsOp);
REGISTER_GRADIENT(TestRows, GetRowsGradient);

std::string Op(const char* type, const char* output = "Y") {
  return std::string("type: \"") + type + "\" input: \"X\" output: \"" + output + '"';
}
constexpr char kRows[] = R"(type: "TestRows" input: "X" input: "I" output: "Y")";

TEST(ExpectGradientMatchesTest, AcceptsAGradientAndRestoresTheInputs) {
  Workspace ws;
  Feed<float>(&ws, "X", {2, 2}, {0.5f, -1, 2, 8});
  ExpectGradientMatches(&ws, Op("TestSquare"));
  ExpectGradientMatches(&ws, Op("TestNegate", "X"));
  ExpectTensor<float>(ws, "X", {2, 2}, {0.5f, -1, 2, 8});
}

TEST(ExpectGradientMatchesTest, AddsUpASparseGradient) {
  Workspace ws;
  FeedRange<float>(&ws, "X", {3, 2});
  Feed<int32_t>(&ws, "I", {3}, {2, 0, 2});
  ExpectGradientMatches(&ws, kRows);
}

TEST(ExpectGradientMatchesTest, ReportsAWrongGradient) {
  static Workspace ws;
  Feed<float>(&ws, "X", {1}, {3});
  EXPECT_NONFATAL_FAILURE(ExpectGradientMatches(&ws, Op("TestWrongSquare")), "element 0 is ");
}

TEST(ExpectGradientMatchesTest, ReportsAKinkAndAComparisonOfNothing) {
  static Workspace ws;
  Feed<float>(&ws, "X", {1}, {0.0075f});
  EXPECT_NONFATAL_FAILURE(ExpectGradientMatches(&ws, Op("TestRamp")), "is not smooth");
  EXPECT_NONFATAL_FAILURE(ExpectGradientMatches(&ws, Op("StopGradient")),
                          "no gradient was compared");
  EXPECT_FATAL_FAILURE(ExpectGradientMatches(&ws, Op("StopGradient"), {.inputs = {"X"}}),
                       "the maker returns none");
}

TEST(DescribeGradientTest, ListsOperatorsArgumentsAndGradients) {
  EXPECT_EQ(DescribeGradient(Op("TestSquare")),
            "Scale(Y_grad)->X_grad scale=2; Mul(X_grad,X)->X_grad | X_grad");
  EXPECT_EQ(DescribeGradient(kRows), " | I+Y_grad -");
  EXPECT_EQ(DescribeGradient(Op("TestNegate"), {{"G", "", ""}}), "Negative(G)->X_grad | X_grad");
}

}  // namespace
}  // namespace caffe2rt::test::gradient_test_test
