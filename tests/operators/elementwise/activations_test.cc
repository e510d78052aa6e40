#include <algorithm>

#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "operators/common/fused_activation.h"
#include "tests/operators/elementwise/unary_cases.h"

namespace caffe2rt::activations_test {
namespace {

using test::ExpectTensor;
using test::ExpectThrows;
using test::Feed;
using test::RunOp;
using test::UnaryCase;

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

double Logistic(double x) { return 1 / (1 + std::exp(-x)); }

const UnaryCase kCases[] = {
    {"Relu", "", [](double x) { return std::max(x, 0.0); }, true},
    {"ReluN", "", [](double x) { return std::min(std::max(x, 0.0), 6.0); }, true},
    {"ReluN", "arg { name: \"n\" f: 1.5 }",
     [](double x) { return std::min(std::max(x, 0.0), 1.5); }, true},
    {"LeakyRelu", "", [](double x) { return x < 0 ? 0.01 * x : x; }, true},
    {"LeakyRelu", "arg { name: \"alpha\" f: 0.5 }", [](double x) { return x < 0 ? 0.5 * x : x; },
     true},
    {"ThresholdedRelu", "", [](double x) { return x > 1 ? x : 0; }, true},
    {"ThresholdedRelu", "arg { name: \"alpha\" f: -1 }", [](double x) { return x > -1 ? x : 0; },
     true, 4e-7, false},  // y does not show whether x is 0 or at most alpha
    {"Elu", "", [](double x) { return x < 0 ? std::expm1(x) : x; }, true},
    {"Elu", "arg { name: \"alpha\" f: 2 }", [](double x) { return x < 0 ? 2 * std::expm1(x) : x; },
     true},
    {"Selu", "",
     [](double x) { return 1.0507009873554805 * (x > 0 ? x : 1.6732632423543772 * std::expm1(x)); },
     true, 1e-6},
    {"Selu", "arg { name: \"alpha\" f: 1 } arg { name: \"scale\" f: 3 }",
     [](double x) { return 3 * (x > 0 ? x : std::expm1(x)); }, true, 1e-6},
    {"Sigmoid", "", Logistic, true},
    {"HardSigmoid", "", [](double x) { return std::min(std::max(0.2 * x + 0.5, 0.0), 1.0); }, true},
    {"HardSigmoid", "arg { name: \"alpha\" f: 1 } arg { name: \"beta\" f: 0 }",
     [](double x) { return std::min(std::max(x, 0.0), 1.0); }, true},
    {"Tanh", "", [](double x) { return std::tanh(x); }, true},
    {"Swish", "", [](double x) { return x * Logistic(x); }, false},
    {"Softplus", "", [](double x) { return std::log1p(std::exp(x)); }, true},
    {"Softsign", "", [](double x) { return x / (1 + std::abs(x)); }, true},
    {"Gelu", "", [](double x) { return x * 0.5 * std::erfc(-x / std::sqrt(2.0)); }, false, 1e-6},
    {"Gelu", "arg { name: \"fast_gelu\" i: 1 }",
     [](double x) {
       return x * 0.5 * (1 + std::tanh(0.7978845608028654 * (x + 0.044715 * x * x * x)));
     },
     false, 1e-6},
    {"Mish", "", [](double x) { return x * std::tanh(std::log1p(std::exp(x))); }, false},
    {"Clip", "", [](double x) { return x; }, true},
    {"Clip", "arg { name: \"min\" f: -0.5 } arg { name: \"max\" f: 1.25 }",
     [](double x) { return std::min(std::max(x, -0.5), 1.25); }, true},
    {"StumpFunc",
     "arg { name: \"threshold\" f: 0.25 } arg { name: \"low_value\" f: -2 } "
     "arg { name: \"high_value\" f: 7 }",
     [](double x) { return x <= 0.25 ? -2.0 : 7.0; }, false, 4e-7, false},
};

class ActivationTest : public testing::TestWithParam<UnaryCase> {};

TEST_P(ActivationTest, FollowsItsFormulaForEveryNumberOfElements) {
  std::vector<float> values;
  for (int i = 0; i < 77; ++i) values.push_back(-4.0f + 0.125f * static_cast<float>(i));
  test::ExpectUnaryBehaviour(GetParam(), values);
  if (GetParam().has_gradient) test::ExpectUnaryGradient(GetParam(), values);
}
INSTANTIATE_TEST_SUITE_P(All, ActivationTest, testing::ValuesIn(kCases), test::NameOfUnaryCase);

// Recorded from the original, for the inputs NaN, inf, -inf, 100, -100.
struct ExtremeCase {
  const char* type;
  std::vector<float> want;
};
class ExtremeTest : public testing::TestWithParam<ExtremeCase> {};

TEST_P(ExtremeTest, KeepsNaNAndReachesItsLimits) {
  Workspace ws;
  Feed<float>(&ws, "X", {5}, {kNaN, kInfinity, -kInfinity, 100, -100});
  RunOp(&ws, std::string("type: \"") + GetParam().type + "\" input: \"X\" output: \"Y\"");
  ExpectTensor<float>(ws, "Y", {5}, GetParam().want, 1e-6);
}
INSTANTIATE_TEST_SUITE_P(
    All, ExtremeTest,
    testing::Values(ExtremeCase{"Relu", {kNaN, kInfinity, 0, 100, 0}},
                    ExtremeCase{"Elu", {kNaN, kInfinity, -1, 100, -1}},
                    ExtremeCase{"Selu", {kNaN, kInfinity, -1.7580993f, 105.0701f, -1.7580993f}},
                    ExtremeCase{"Sigmoid", {kNaN, 1, 0, 1, 0}},
                    ExtremeCase{"Tanh", {kNaN, 1, -1, 1, -1}},
                    ExtremeCase{"Swish", {kNaN, kInfinity, kNaN, 100, 0}},
                    ExtremeCase{"Softplus", {kNaN, kInfinity, 0, kInfinity, 0}},
                    ExtremeCase{"Softsign", {kNaN, kNaN, kNaN, 100.0f / 101, -100.0f / 101}},
                    ExtremeCase{"HardSigmoid", {kNaN, 1, 0, 1, 0}},
                    ExtremeCase{"Gelu", {kNaN, kInfinity, kNaN, 100, 0}},
                    ExtremeCase{"Mish", {kNaN, kInfinity, kNaN, 100, 0}},
                    ExtremeCase{"ThresholdedRelu", {0, kInfinity, 0, 100, 0}},
                    ExtremeCase{"Clip",
                                {kNaN, std::numeric_limits<float>::max(),
                                 std::numeric_limits<float>::lowest(), 100, -100}}),
    [](const auto& info) { return info.param.type; });

// Caffe2's values at the kinks and outside the function's domain.
struct KinkCase {
  const char* type;
  const char* inputs;  // of the gradient operator
  std::vector<float> x, y, dx;
};
class KinkTest : public testing::TestWithParam<KinkCase> {};

TEST_P(KinkTest, HasTheGradientOfCaffe2) {
  const KinkCase& c = GetParam();
  const std::vector<int64_t> dims = {static_cast<int64_t>(c.x.size())};
  Workspace ws;
  Feed<float>(&ws, "X", dims, c.x);
  Feed<float>(&ws, "Y", dims, c.y);
  Feed<float>(&ws, "dY", dims, std::vector<float>(c.x.size(), 2));
  RunOp(&ws, std::string("type: \"") + c.type + "Gradient\" output: \"dX\" " + c.inputs);
  ExpectTensor<float>(ws, "dX", dims, c.dx, 1e-6);
}
constexpr char kXAndDy[] = R"(input: "X" input: "dY")";
constexpr char kYAndDy[] = R"(input: "Y" input: "dY")";
INSTANTIATE_TEST_SUITE_P(
    All, KinkTest,
    testing::Values(
        KinkCase{"Relu", kYAndDy, {0, 1, kNaN}, {0, 1, kNaN}, {0, 2, 0}},
        KinkCase{"ReluN", kYAndDy, {0, 6, kNaN}, {0, 6, kNaN}, {0, 0, 0}},
        KinkCase{"LeakyRelu", kYAndDy, {0, -1}, {0, -0.01f}, {2, 0.02f}},
        KinkCase{"ThresholdedRelu", kYAndDy, {0.5f, 2, -0.5f}, {0, 2, -0.5f}, {0, 2, 2}},
        KinkCase{"Elu", kYAndDy, {0}, {0}, {2}},
        KinkCase{"Selu", kYAndDy, {0}, {0}, {2 * 1.7580993f}},
        KinkCase{"HardSigmoid", kYAndDy, {-3, 3}, {0, 1}, {0, 0}},
        KinkCase{"Mish", R"(input: "X" input: "Y" input: "dY")", {0}, {0}, {1.2f}},
        KinkCase{"Logit", kXAndDy, {-1, 0, 0.5f, 1, 2}, {0, 0, 0, 0, 0}, {0, 0, 8, 0, 0}}),
    [](const auto& info) { return info.param.type; });

TEST(ClipGradientTest, IsZeroAtTheBounds) {
  Workspace ws;
  Feed<float>(&ws, "Y", {4}, {-1, 0.5f, 3, kNaN});
  Feed<float>(&ws, "dY", {4}, {2, 2, 2, 2});
  RunOp(
      &ws,
      R"(type: "ClipGradient" input: "Y" input: "dY" output: "dX" arg { name: "min" f: -1 } arg { name: "max" f: 3 })");
  ExpectTensor<float>(ws, "dX", {4}, {0, 2, 0, 0});
}

TEST(LogitGradientTest, RejectsScalarsAsCaffe2) {
  Workspace ws;
  Feed<float>(&ws, "X", {}, {0.5f});
  ExpectThrows([&] { RunOp(&ws, R"(type: "LogitGradient" input: "X" input: "X" output: "dX")"); },
               "rank of input 0 (X)");
}

TEST(ClipTest, GivesTheUpperBoundWhenTheLowerOneIsAboveIt) {
  Workspace ws;
  Feed<float>(&ws, "X", {3}, {-1, 0, 1});
  RunOp(
      &ws,
      R"(type: "Clip" input: "X" output: "Y" arg { name: "min" f: 0.5 } arg { name: "max" f: -0.5 })");
  ExpectTensor<float>(ws, "Y", {3}, {-0.5f, -0.5f, -0.5f});
}

TEST(LogitTest, HoldsItsInputWithinEps) {
  Workspace ws;
  Feed<float>(&ws, "X", {4}, {-1, 0.5f, 0.75f, 2});
  RunOp(&ws, R"(type: "Logit" input: "X" output: "Y" arg { name: "eps" f: 0.1 })");
  const float end = static_cast<float>(std::log(9.0));
  ExpectTensor<float>(ws, "Y", {4}, {-end, 0, static_cast<float>(std::log(3.0)), end}, 1e-6);
}

TEST(LogitTest, RejectsAnEpsOutOfRange) {
  Workspace ws;
  Feed<float>(&ws, "X", {1}, {0});
  ExpectThrows(
      [&] { RunOp(&ws, R"(type: "Logit" input: "X" output: "Y" arg { name: "eps" f: 0.5 })"); },
      "argument \"eps\" is 0.5, want above 0 and below 0.5");
}

TEST(SeluTest, RejectsAScaleOfAtMostOne) {
  Workspace ws;
  Feed<float>(&ws, "X", {1}, {0});
  ExpectThrows(
      [&] { RunOp(&ws, R"(type: "Selu" input: "X" output: "Y" arg { name: "scale" f: 1 })"); },
      "argument \"scale\" is 1, want above 1");
}

TEST(ReluNTest, RejectsABoundThatIsNotPositive) {
  Workspace ws;
  Feed<float>(&ws, "X", {1}, {0});
  ExpectThrows(
      [&] { RunOp(&ws, R"(type: "ReluN" input: "X" output: "Y" arg { name: "n" f: 0 })"); },
      "argument \"n\" is 0, want above 0");
}

TEST(ReluTest, AcceptsTheArgumentsOfOldNets) {
  Workspace ws;
  Feed<float>(&ws, "X", {2}, {-1, 2});
  RunOp(&ws, R"(type: "Relu" input: "X" output: "X" arg { name: "order" s: "NHWC" })");
  ExpectTensor<float>(ws, "X", {2}, {0, 2});
}

TEST(ReluTest, LeavesReadOnlyWeightsAlone) {
  Workspace ws;
  Tensor* X = Feed<float>(&ws, "X", {2}, {-1, 2});
  const Tensor weights = *X;
  X->MarkReadOnly();
  RunOp(&ws, R"(type: "Relu" input: "X" output: "X")");
  ExpectTensor<float>(ws, "X", {2}, {0, 2});
  EXPECT_EQ(weights.data<float>()[0], -1);
}

// The memory is replaced before the elements are read, and nothing else keeps the old memory.
TEST(ActivationsTest, RunInPlaceOnReadOnlyTensorsWithoutAnotherOwner) {
  for (const char* type : {"Relu", "Negative"}) {
    SCOPED_TRACE(type);
    Workspace ws;
    Feed<float>(&ws, "X", {4}, {-1, -2, -3, -4})->MarkReadOnly();
    RunOp(&ws, MakeString("type: \"", type, R"(" input: "X" output: "X")"));
    const float sign = std::string(type) == "Relu" ? 0.0f : 1.0f;
    ExpectTensor<float>(ws, "X", {4}, {sign * 1, sign * 2, sign * 3, sign * 4});
  }
}

TEST(ActivationsTest, ThreadsDoNotChangeTheResult) {
  Workspace ws;
  test::FeedRandom(&ws, "X", {3, 33331}, -3, 3);  // the last range ends in an incomplete vector
  for (const char* type : {"Relu", "Sigmoid", "Tanh", "Gelu", "Clip", "LeakyRelu"}) {
    test::ExpectSameBitsForAllThreads(&ws,
                                      MakeString("type: \"", type, R"(" input: "X" output: "Y")"));
  }
}

// Passes fuse the type with its arguments into these operators, and place it on IDEEP.
TEST(ActivationsTest, FusedTypesAreKnownToTheOperatorsThatApplyThem) {
  int fused = 0;
  for (const std::string& type : OpSchemaRegistry::Types()) {
    if (!TraitsOf(type).fused_activation) continue;
    SCOPED_TRACE(type);
    ++fused;
    EXPECT_TRUE(TraitsOf(type).same_shape);
    EXPECT_TRUE(HasOperator(IDEEP, type));
    OperatorDef applying = test::ParseOp("type: \"FCFusion\"");
    AddArgument("activation", type, &applying);
    EXPECT_NO_THROW(ReadActivation(ArgumentHelper(applying)));
    for (const OpSchema::Argument& argument : OpSchemaRegistry::Schema(type)->args()) {
      if (argument.type != "float" && argument.type != "bool") continue;
      for (const char* name : {"ConvFusion", "FCFusion"}) {
        const auto& declared = OpSchemaRegistry::Schema(name)->args();
        EXPECT_TRUE(std::any_of(
            declared.begin(), declared.end(),
            [&](const auto& other) { return other.name == "activation_" + argument.name; }))
            << name << " has no argument for " << argument.name;
      }
    }
  }
  EXPECT_EQ(fused, 17);  // the rows of kActivations
}

}  // namespace
}  // namespace caffe2rt::activations_test
