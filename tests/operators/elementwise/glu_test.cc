#include <cmath>
#include <string>

#include "tests/support/gradient_test.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::glu_test {
namespace {

std::string Op(const std::string& args = "") {
  return R"(type: "Glu" input: "X" output: "Y" )" + args;
}

TEST(GluTest, MultipliesOneHalfByTheSigmoidOfTheOther) {
  const auto s = [](double x) { return static_cast<float>(1 / (1 + std::exp(-x))); };
  Workspace ws;
  Feed<float>(&ws, "X", {2, 2, 2}, {1, 2, 0, 1, -3, 4, -2, 200});
  RunOp(&ws, Op());  // the last dimension
  ExpectTensor<float>(ws, "Y", {2, 2, 1}, {s(2), 0, -3 * s(4), -2}, 1e-6);
  ExpectShapeInferred(&ws, Op());
  for (const char* const dim : {"1", "-2"}) {
    const std::string op = Op(std::string("arg { name: \"dim\" i: ") + dim + " }");
    RunOp(&ws, op);
    ExpectTensor<float>(ws, "Y", {2, 1, 2}, {0.5f, 2 * s(1), -3 * s(-2), 4}, 1e-6);
    ExpectShapeInferred(&ws, op);
  }
  Feed<float>(&ws, "X", {0, 4}, {});
  RunOp(&ws, Op());
  ExpectTensor<float>(ws, "Y", {0, 2}, {});
}

TEST(GluTest, RejectsOddDimensionsAndOtherTypes) {
  Workspace ws;
  FeedRange<float>(&ws, "X", {3, 4});
  ExpectThrows([&] { RunOp(&ws, Op("arg { name: \"dim\" i: 0 }")); },
               "dim 0 of input 0 (X) of shape [3, 4] divided by 2, want no remainder");
  FeedRange<double>(&ws, "X", {2, 4});
  ExpectThrows([&] { RunOp(&ws, Op()); }, "double");
}

TEST(GluTest, HasNoGradientAsInCaffe2) { EXPECT_THROW(DescribeGradient(Op()), EnforceNotMet); }

}  // namespace
}  // namespace caffe2rt::test::glu_test
