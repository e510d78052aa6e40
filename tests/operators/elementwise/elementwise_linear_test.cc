#include "tests/support/gradient_test.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::elementwise_linear_test {
namespace {

const std::string kForward =
    R"(type: "ElementwiseLinear" input: "X" input: "w" input: "b" output: "Y")";
const std::string kGradient = R"(type: "ElementwiseLinearGradient" input: "dY" input: "X" input: "w"
    output: "dX" output: "dw" output: "db")";

std::string Axis(int axis) { return R"( arg { name: "axis" i: )" + std::to_string(axis) + " }"; }

TEST(ElementwiseLinearTest, MultipliesAndAddsColumnByColumn) {
  Workspace ws;
  Feed<float>(&ws, "X", {2, 1, 2}, {1, 2, 3, 4});
  Feed<float>(&ws, "w", {2}, {10, 100});
  Feed<float>(&ws, "b", {2}, {1, -1});
  for (const int axis : {1, 2, -1}) {
    RunOp(&ws, kForward + Axis(axis));
    ExpectTensor<float>(ws, "Y", {2, 1, 2}, {11, 199, 31, 399});
    ExpectShapeInferred(&ws, kForward + Axis(axis));
  }
  Feed<float>(&ws, "w", {4}, {1, 0, 2, -1});
  Feed<float>(&ws, "b", {4}, {0, 1, 2, 3});
  RunOp(&ws, kForward + Axis(0));
  ExpectTensor<float>(ws, "Y", {2, 1, 2}, {1, 1, 8, -1});
  Feed<float>(&ws, "X", {0, 4}, {});
  RunOp(&ws, kForward);
  ExpectTensor<float>(ws, "Y", {0, 4}, {});
}

TEST(ElementwiseLinearTest, HasGradientsOfAllInputs) {
  Workspace ws;
  Feed<float>(&ws, "X", {2, 2}, {1, 2, 3, 4});
  Feed<float>(&ws, "w", {2}, {10, 100});
  Feed<float>(&ws, "dY", {2, 2}, {1, 2, -1, 3});
  RunOp(&ws, kGradient);
  ExpectTensor<float>(ws, "dX", {2, 2}, {10, 200, -10, 300});
  ExpectTensor<float>(ws, "dw", {2}, {1 - 3, 4 + 12});
  ExpectTensor<float>(ws, "db", {2}, {0, 5});
  ExpectShapeInferred(&ws, kGradient);
  Feed<float>(&ws, "X", {0, 2}, {});
  Feed<float>(&ws, "dY", {0, 2}, {});
  RunOp(&ws, kGradient);
  ExpectTensor<float>(ws, "dX", {0, 2}, {});
  ExpectTensor<float>(ws, "dw", {2}, {0, 0});
  ExpectTensor<float>(ws, "db", {2}, {0, 0});
}

TEST(ElementwiseLinearTest, HasTheDerivativesAsGradients) {
  Workspace ws;
  FeedRandom(&ws, "X", {3, 2, 5}, -1, 1, 1);
  FeedRandom(&ws, "w", {10}, -1, 1, 2);
  FeedRandom(&ws, "b", {10}, -1, 1, 3);
  ExpectGradientMatches(&ws, kForward);
  EXPECT_EQ(DescribeGradient(kForward),
            "ElementwiseLinearGradient(Y_grad,X,w)->X_grad,w_grad,b_grad | X_grad w_grad b_grad");
}

TEST(ElementwiseLinearTest, RejectsWhatDoesNotFit) {
  Workspace ws;
  FeedRandom(&ws, "X", {2, 3});
  FeedRandom(&ws, "w", {4});
  FeedRandom(&ws, "b", {3});
  ExpectThrows([&] { RunOp(&ws, kForward); },
               "input 1 (w) has shape [4], want [3], the columns of X");
  FeedRandom(&ws, "w", {3});
  FeedRandom(&ws, "b", {1, 3});
  ExpectThrows([&] { RunOp(&ws, kForward); }, "input 2 (b) has shape [1, 3], want [3]");
  ExpectThrows([&] { RunOp(&ws, kForward + Axis(2)); },
               "argument axis is 2, want at least -2 and below 2, the rank of input 0 (X)");
  FeedRandom(&ws, "dY", {2, 2});
  ExpectThrows([&] { RunOp(&ws, kGradient); }, "elements of input 0 (dY) of shape [2, 2]");
  FeedRandom(&ws, "w", {2});
  ExpectThrows([&] { RunOp(&ws, kGradient); }, "input 2 (w) has shape [2], want [3]");
}

}  // namespace
}  // namespace caffe2rt::test::elementwise_linear_test
