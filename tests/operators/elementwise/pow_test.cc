#include <cmath>
#include <limits>

#include "tests/support/gradient_test.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::pow_test {
namespace {

using test::ExpectShapeInferred;
using test::ExpectTensor;
using test::ExpectThrows;
using test::Feed;
using test::FeedRange;
using test::RunOp;

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

std::string WithExponent(float exponent, const std::string& output = "Y") {
  return R"(type: "Pow" input: "A" output: ")" + output + R"(" arg { name: "exponent" f: )" +
         std::to_string(exponent) + " }";
}
std::string WithInput(const std::string& args = "", const std::string& output = "Y") {
  return R"(type: "Pow" input: "A" input: "B" output: ")" + output + "\" " + args;
}

class ExponentTest : public testing::TestWithParam<float> {};

TEST_P(ExponentTest, RaisesEveryNumberAsTheStandardLibraryDoes) {
  const float exponent = GetParam();
  const std::vector<float> values = {-8, -1, 0, 4, kNaN, -0.0f, kInfinity, -kInfinity, 0.3f, 7};
  std::vector<float> want;
  for (const float x : values) {
    want.push_back(
        static_cast<float>(std::pow(static_cast<double>(x), static_cast<double>(exponent))));
  }
  Workspace ws;
  Feed<float>(&ws, "A", {10}, values);
  RunOp(&ws, WithExponent(exponent));
  ExpectTensor<float>(ws, "Y", {10}, want, 1e-6);
  ExpectShapeInferred(&ws, WithExponent(exponent));
  RunOp(&ws, WithExponent(exponent, "A"));
  ExpectTensor<float>(ws, "A", {10}, want, 1e-6);
}
INSTANTIATE_TEST_SUITE_P(All, ExponentTest,
                         testing::Values(0.0f, 0.5f, 1.0f, 2.0f, 3.0f, -1.0f, -2.0f, -0.5f, 2.5f));

TEST(PowTest, ReadsExponentsFromASecondInput) {
  Workspace ws;
  Feed<float>(&ws, "A", {2, 2}, {1, 2, 3, 4});
  Feed<float>(&ws, "B", {2, 2}, {5, -1, 0, 0.5f});
  RunOp(&ws, WithInput());
  ExpectTensor<float>(ws, "Y", {2, 2}, {1, 0.5f, 1, 2}, 1e-6);
  RunOp(&ws, WithInput("", "B"));
  ExpectTensor<float>(ws, "B", {2, 2}, {1, 0.5f, 1, 2}, 1e-6);
}

TEST(PowTest, BroadcastsExponentsByTheOlderRules) {
  const std::string broadcast = "arg { name: \"broadcast\" i: 1 } ";
  Workspace ws;
  Feed<float>(&ws, "A", {2, 2}, {1, 2, 3, 4});
  Feed<float>(&ws, "B", {2}, {2, 3});
  RunOp(&ws, WithInput(broadcast));
  ExpectTensor<float>(ws, "Y", {2, 2}, {1, 8, 9, 64}, 1e-6);
  ExpectShapeInferred(&ws, WithInput(broadcast));
  RunOp(&ws, WithInput(broadcast + "arg { name: \"axis\" i: 0 }", "A"));
  ExpectTensor<float>(ws, "A", {2, 2}, {1, 4, 27, 64}, 1e-6);
  ExpectThrows([&] { RunOp(&ws, WithInput()); },
               "input 1 (B) has shape [2], want [2, 2] as input 0 (A), or the argument broadcast");
  ExpectThrows([&] { RunOp(&ws, WithInput(broadcast, "B")); }, "only input 0 (A) may be");
  ExpectThrows([&] { RunOp(&ws, WithInput("arg { name: \"axis\" i: 0 }")); },
               "argument axis is 0 without the argument broadcast");
  ExpectThrows([&] { RunOp(&ws, WithInput("arg { name: \"axis_str\" s: \"C\" }")); },
               "argument axis_str is set without the argument broadcast");
}

TEST(PowTest, KeepsEmptyShapes) {
  Workspace ws;
  Feed<float>(&ws, "A", {0, 2}, {});
  RunOp(&ws, WithExponent(2));
  ExpectTensor<float>(ws, "Y", {0, 2}, {});
}

TEST(PowTest, RequiresAnExponentAndFloats) {
  Workspace ws;
  Feed<double>(&ws, "A", {1}, {2});
  ExpectThrows([&] { RunOp(&ws, R"(type: "Pow" input: "A" output: "Y")"); },
               "no exponent is given");
  ExpectThrows([&] { RunOp(&ws, WithExponent(2)); },
               "input 0 (A) has elements of type double, want float");
  Feed<float>(&ws, "A", {1}, {2});
  Feed<int32_t>(&ws, "B", {1}, {2});
  ExpectThrows([&] { RunOp(&ws, WithInput()); },
               "input 1 (B) has elements of type int32, want float");
}

TEST(PowGradientTest, ConsistsOfOtherOperators) {
  EXPECT_EQ(test::DescribeGradient(WithExponent(3)),
            "Pow(A)->A_grad exponent=2; Mul(A_grad,Y_grad)->A_grad; Scale(A_grad)->A_grad scale=3 "
            "| A_grad");
  EXPECT_EQ(test::DescribeGradient(
                WithInput("arg { name: \"broadcast\" i: 1 } arg { name: \"axis\" i: 0 }")),
            "ConstantFill(B)->B_grad value=1; Sub(B,B_grad)->B_grad; "
            "Pow(A,B_grad)->A_grad axis=0 axis_str=\"\" order=\"NCHW\" broadcast=1; "
            "Mul(A_grad,Y_grad)->A_grad; "
            "Mul(A_grad,B)->A_grad axis=0 axis_str=\"\" order=\"NCHW\" broadcast=1; "
            "Log(A)->B_grad_autogen_pre_red; "
            "Mul(B_grad_autogen_pre_red,Y)->B_grad_autogen_pre_red; "
            "Mul(B_grad_autogen_pre_red,Y_grad)->B_grad_autogen_pre_red; "
            "SumReduceLike(B_grad_autogen_pre_red,B)->B_grad axis=0 axis_str=\"\" order=\"NCHW\" "
            "| A_grad B_grad");
}

TEST(PowGradientTest, NeedsTheValueOfItsInputs) {
  for (const std::string& in_place :
       {WithInput("", "A"), WithInput("", "B"),
        std::string(R"(type: "Pow" input: "A" output: "A" arg { name: "exponent" f: 2 })")}) {
    ExpectThrows([&] { test::DescribeGradient(in_place); }, "that the operator read, but Pow");
  }
}

TEST(PowGradientTest, AgreesWithDifferences) {
  Workspace ws;
  Feed<float>(&ws, "A", {2, 2}, {1, 2, 0.5f, 1.5f});
  test::ExpectGradientMatches(&ws, WithExponent(2.5f));
  Feed<float>(&ws, "B", {2, 2}, {2, 0.5f, -1, 3});
  test::ExpectGradientMatches(&ws, WithInput());
  Feed<float>(&ws, "B", {2}, {2, -1});
  test::ExpectGradientMatches(
      &ws, WithInput("arg { name: \"broadcast\" i: 1 } arg { name: \"axis\" i: 0 }"));
}

}  // namespace
}  // namespace caffe2rt::pow_test
