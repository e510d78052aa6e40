// Checks the gradients that the rows of the tables of element functions register: the makers, and
// the schemas and element types of the gradient operators. Their values are tested by the tests of
// the individual operators.

#include <map>
#include <set>

#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "operators/elementwise/binary_functions.h"
#include "operators/elementwise/nary_kernels.h"
#include "operators/elementwise/unary_functions.h"
#include "operators/primitives/activation_functions.h"
#include "tests/support/gradient_test.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::function_table_gradient_test {
namespace {

using test::DescribeGradient;
using test::ExpectShapeInferred;
using test::ExpectTensor;
using test::ExpectThrows;
using test::Feed;
using test::FeedRange;
using test::RunOp;

template <class Visit>
void ForEachUnaryRow(const Visit& visit) {
  kActivations.ForEach(visit);
  kUnaryMath.ForEach(visit);
}
template <class Visit>
void ForEachRow(const Visit& visit) {
  ForEachUnaryRow(visit);
  kArithmetic.ForEach(visit);
  kComparisons.ForEach(visit);
  kLogic.ForEach(visit);
  kNary.ForEach(visit);
}

const OpSchema& SchemaOf(const std::string& type) {
  EnsureBuiltinOperators();
  const OpSchema* const schema = OpSchemaRegistry::Schema(type);
  CAFFE_ENFORCE(schema != nullptr, "no schema of \"", type, "\"");
  return *schema;
}

// The gradients of Caffe2 for inputs X (and B) and output Y (test::DescribeGradient), the error, or
// "missing" if there is no maker.
constexpr char kUndefined[] = "One should not call gradient for operator";
constexpr char kNotImplemented[] = "should have a gradient but is not implemented yet";
const std::map<std::string, std::string> kGradients = {
    {"Abs", "AbsGradient(X,Y_grad)->X_grad | X_grad"},
    {"Acos", "AcosGradient(X,Y_grad)->X_grad | X_grad"},
    {"Acosh", "AcoshGradient(X,Y_grad)->X_grad | X_grad"},
    {"Add", "AddGradient(Y_grad,X,B)->X_grad,B_grad | X_grad B_grad"},
    {"And", kUndefined},
    {"Asin", "AsinGradient(X,Y_grad)->X_grad | X_grad"},
    {"Asinh", "AsinhGradient(X,Y_grad)->X_grad | X_grad"},
    {"Atan", "AtanGradient(X,Y_grad)->X_grad | X_grad"},
    {"Atanh", "AtanhGradient(X,Y_grad)->X_grad | X_grad"},
    {"BitwiseAnd", kUndefined},
    {"BitwiseNot", kUndefined},
    {"BitwiseOr", kUndefined},
    {"BitwiseXor", kUndefined},
    {"Cbrt", "CbrtGradient(Y_grad,Y)->X_grad | X_grad"},
    {"Ceil", kNotImplemented},
    {"Clip", "ClipGradient(Y,Y_grad)->X_grad | X_grad"},
    {"Cos", "CosGradient(X,Y_grad)->X_grad | X_grad"},
    {"Cosh", "CoshGradient(Y_grad,X)->X_grad | X_grad"},
    {"Cube", "CubeGradient(Y_grad,X)->X_grad | X_grad"},
    {"Div", "DivGradient(Y_grad,X,B,Y)->X_grad,B_grad | X_grad B_grad"},
    {"EQ", kUndefined},
    {"Elu", "EluGradient(Y,Y_grad)->X_grad | X_grad"},
    {"Erf", "ErfGradient(X,Y_grad)->X_grad | X_grad"},
    {"Exp", "Mul(Y,Y_grad)->X_grad | X_grad"},
    {"FloatToHalf", "HalfToFloat(Y_grad)->X_grad | X_grad"},
    {"Floor", kNotImplemented},
    {"GE", kUndefined},
    {"GT", kUndefined},
    {"Gelu", "GeluGradient(Y_grad,X)->X_grad | X_grad"},
    {"HalfToFloat", "FloatToHalf(Y_grad)->X_grad | X_grad"},
    {"HardSigmoid", "HardSigmoidGradient(Y,Y_grad)->X_grad | X_grad"},
    {"IsInf", kUndefined},
    {"IsNaN", "missing"},
    {"LE", kUndefined},
    {"LT", kUndefined},
    {"LeakyRelu", "LeakyReluGradient(Y,Y_grad)->X_grad | X_grad"},
    {"Log", "Div(Y_grad,X)->X_grad | X_grad"},
    {"Logit", "LogitGradient(X,Y_grad)->X_grad | X_grad"},
    {"Max", "MaxGradient(Y,Y_grad,X)->X_grad | X_grad"},
    {"Mean", "MeanGradient(Y_grad)->X_grad | X_grad"},
    {"Min", "MinGradient(Y,Y_grad,X)->X_grad | X_grad"},
    {"Mish", "MishGradient(X,Y,Y_grad)->X_grad | X_grad"},
    {"Mod", "missing"},
    {"Mul", "MulGradient(Y_grad,X,B)->X_grad,B_grad | X_grad B_grad"},
    {"NE", kUndefined},
    {"Negative", "Negative(Y_grad)->X_grad | X_grad"},
    {"Not", kUndefined},
    {"Or", kUndefined},
    {"Reciprocal", "ReciprocalGradient(Y,Y_grad)->X_grad | X_grad"},
    {"Relu", "ReluGradient(Y,Y_grad)->X_grad | X_grad"},
    {"ReluN", "ReluNGradient(Y,Y_grad)->X_grad | X_grad"},
    {"ReplaceNaN", kUndefined},
    {"Round", " | -"},
    {"ONNXAbs", kNotImplemented},
    {"ONNXCeil", kNotImplemented},
    {"ONNXExp", kNotImplemented},
    {"ONNXFloor", kNotImplemented},
    {"ONNXLog", kNotImplemented},
    {"Rsqrt", "RsqrtGradient(Y_grad,Y)->X_grad | X_grad"},
    {"Scale", "Scale(Y_grad)->X_grad | X_grad"},
    {"Selu", "SeluGradient(Y,Y_grad)->X_grad | X_grad"},
    {"Sigmoid", "SigmoidGradient(Y,Y_grad)->X_grad | X_grad"},
    {"Sign", kUndefined},
    {"Sin", "SinGradient(X,Y_grad)->X_grad | X_grad"},
    {"Sinh", "SinhGradient(Y_grad,X)->X_grad | X_grad"},
    {"Softplus", "SoftplusGradient(Y,Y_grad)->X_grad | X_grad"},
    {"Softsign", "SoftsignGradient(X,Y_grad)->X_grad | X_grad"},
    {"Sqr", "Mul(Y_grad,X)->X_grad; Scale(X_grad)->X_grad scale=2 | X_grad"},
    {"Sqrt", "Scale(Y_grad)->X_grad scale=0.5; Div(X_grad,Y)->X_grad | X_grad"},
    {"StumpFunc", " | -"},
    {"Sub", "SubGradient(Y_grad,X,B)->X_grad,B_grad | X_grad B_grad"},
    {"Sum", " | Y_grad"},
    {"Swish", "SwishGradient(X,Y,Y_grad)->X_grad | X_grad"},
    {"Tan", "TanGradient(X,Y_grad)->X_grad | X_grad"},
    {"Tanh", "TanhGradient(Y,Y_grad)->X_grad | X_grad"},
    {"ThresholdedRelu", "ThresholdedReluGradient(Y,Y_grad)->X_grad | X_grad"},
    {"Xor", kUndefined},
};

TEST(FunctionTableGradientTest, RegistersTheGradientMakerOfEachRow) {
  ForEachRow([](const auto& row) {
    SCOPED_TRACE(row.type);
    const std::string& want = kGradients.at(row.type);
    ASSERT_EQ(GradientRegistry()->Has(row.type), want != "missing");
    if (want == "missing") return;
    const bool two = SchemaOf(row.type).min_input() == 2;
    const std::string op = MakeString("type: \"", row.type, R"(" output: "Y" input: "X" )",
                                      two ? R"(input: "B")" : "");
    if (want == kUndefined || want == kNotImplemented) {
      ExpectThrows([&] { DescribeGradient(op); }, want);
    } else {
      EXPECT_EQ(DescribeGradient(op), want);
    }
  });
}

// The functions whose gradient operators may write dX over dY in Caffe2.
const std::set<std::string> kInplace = {"Cbrt",      "Clip",       "Elu",     "HardSigmoid",
                                        "LeakyRelu", "Reciprocal", "Relu",    "ReluN",
                                        "Rsqrt",     "Selu",       "Sigmoid", "Softplus",
                                        "Softsign",  "Swish",      "Tanh",    "ThresholdedRelu"};

// The inputs of the gradient operator of a row, with dY named "dY" and the others "X" and "Y".
std::string GradientOp(const std::string& type, GradientInputs inputs, const char* output = "dX") {
  const char* names = nullptr;
  switch (inputs) {
    case GradientInputs::kXAndDy:
      names = R"(input: "X" input: "dY")";
      break;
    case GradientInputs::kYAndDy:
      names = R"(input: "Y" input: "dY")";
      break;
    case GradientInputs::kDyAndX:
      names = R"(input: "dY" input: "X")";
      break;
    case GradientInputs::kDyAndY:
      names = R"(input: "dY" input: "Y")";
      break;
    case GradientInputs::kXAndYAndDy:
      names = R"(input: "X" input: "Y" input: "dY")";
      break;
  }
  return MakeString("type: \"", type, "Gradient\" output: \"", output, "\" ", names);
}

// Feeds X, Y and dY for the gradient operator of a row, numbers in (0, 1) for floats.
template <class T>
void FeedOperands(Workspace* ws, const std::vector<int64_t>& dims) {
  constexpr bool kReal = std::is_floating_point_v<T>;
  FeedRange<T>(ws, "X", dims, kReal ? 0.125 : 1, kReal ? 0.015625 : 1);
  FeedRange<T>(ws, "Y", dims, kReal ? 0.25 : 1, kReal ? 0.0078125 : 1);
  FeedRange<T>(ws, "dY", dims, 1, 2);
}

template <class T>
void ExpectGradientRuns(const std::string& type, GradientInputs inputs) {
  SCOPED_TRACE(type + " of " + std::string(TypeMeta::Name<T>()));
  Workspace ws;
  FeedOperands<T>(&ws, {2, 20});
  ExpectShapeInferred(&ws, GradientOp(type, inputs));
  const std::vector<T> all = test::Fetch<T>(ws, "dX");
  ExpectTensor<T>(ws, "dX", {2, 20}, all);
  if (kInplace.count(type) > 0) {
    RunOp(&ws, GradientOp(type, inputs, "dY"));
    ExpectTensor<T>(ws, "dY", {2, 20}, all);
  } else {
    ExpectThrows([&] { RunOp(&ws, GradientOp(type, inputs, "dY")); }, "in place");
  }
  // Few elements are handled by a different code path than many.
  FeedOperands<T>(&ws, {3, 1});
  RunOp(&ws, GradientOp(type, inputs));
  ExpectTensor<T>(ws, "dX", {3, 1}, {all[0], all[1], all[2]}, 1e-6);
  FeedOperands<T>(&ws, {0, 3});
  RunOp(&ws, GradientOp(type, inputs));
  ExpectTensor<T>(ws, "dX", {0, 3}, {});
}

TEST(FunctionTableGradientTest, RunsOnEveryElementTypeAndSizeAndInPlaceWhereCaffe2Does) {
  int gradients = 0;
  ForEachUnaryRow([&]<class Function, class... Ts>(const UnaryRow<Function, Ts...>& row) {
    if constexpr (HasGradient<Function>) {
      ++gradients;
      (ExpectGradientRuns<Ts>(row.type, Function::kGradientInputs), ...);
    }
  });
  EXPECT_EQ(gradients, 33);
}

// The operators whose makers emit other operators, too, except the conversions, because a rounded
// number is not a smooth function. X is in the domain of the function, and no function has a kink
// near these numbers.
TEST(FunctionTableGradientTest, AgreesWithDifferences) {
  int compared = 0;
  ForEachUnaryRow([&](const auto& row) {
    const std::string& gradient = kGradients.at(row.type);
    if (gradient.find("->") == std::string::npos) return;
    if (gradient.find("Half") != std::string::npos) return;
    ++compared;
    SCOPED_TRACE(row.type);
    Workspace ws;
    Feed<float>(&ws, "X", {2, 3}, {0.1f, 0.25f, 0.4f, 0.55f, 0.7f, 0.85f});
    if (std::string(row.type) == "Acosh") FeedRange<float>(&ws, "X", {2, 3}, 1.5, 0.25);
    test::ExpectGradientMatches(&ws,
                                MakeString("type: \"", row.type, R"(" input: "X" output: "Y")"));
  });
  EXPECT_EQ(compared, 33 + 6);
}

TEST(FunctionTableGradientTest, DocumentsTheArgumentsOfTheFunction) {
  ForEachUnaryRow([]<class Function, class... Ts>(const UnaryRow<Function, Ts...>& row) {
    if constexpr (HasGradient<Function>) {
      const auto& want = SchemaOf(row.type).args();
      const auto& got = SchemaOf(MakeString(row.type, "Gradient")).args();
      ASSERT_EQ(got.size(), want.size()) << row.type;
      for (size_t i = 0; i < got.size(); ++i) EXPECT_EQ(got[i].name, want[i].name) << row.type;
    }
  });
}

TEST(FunctionTableGradientTest, RejectsOperandsThatDoNotFit) {
  ForEachUnaryRow([]<class Function, class... Ts>(const UnaryRow<Function, Ts...>& row) {
    if constexpr (HasGradient<Function>) {
      SCOPED_TRACE(row.type);
      const std::string op = GradientOp(row.type, Function::kGradientInputs);
      Workspace ws;
      FeedOperands<float>(&ws, {4});
      FeedRange<float>(&ws, "dY", {5});
      ExpectThrows([&] { RunOp(&ws, op); }, ", want as many as input");
      FeedRange<double>(&ws, "dY", {4});
      ExpectThrows([&] { RunOp(&ws, op); }, sizeof...(Ts) == 1
                                                ? "has elements of type double, want"
                                                : "has elements of type float, want");
    }
  });
}

}  // namespace
}  // namespace caffe2rt::function_table_gradient_test
