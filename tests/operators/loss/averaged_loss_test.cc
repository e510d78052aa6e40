#include "tests/support/gradient_test.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::averaged_loss_test {
namespace {

const char* const kForward = R"(type: "AveragedLoss" input: "X" output: "Y")";
const char* const kGradient = R"(type: "AveragedLossGradient" input: "X" input: "dY" output: "dX")";

TEST(AveragedLossTest, ComputesTheMeanOfAllElements) {
  Workspace ws;
  FeedRange<float>(&ws, "X", {10, 10}, 1);
  RunOp(&ws, kForward);
  ExpectTensor<float>(ws, "Y", {}, {50.5f});
  ExpectShapeInferred(&ws, kForward);
  Feed<float>(&ws, "X", {}, {3});
  RunOp(&ws, kForward);
  ExpectTensor<float>(ws, "Y", {}, {3});
  Feed<float>(&ws, "X", {0, 3}, {});
  RunOp(&ws, kForward);
  ExpectTensor<float>(ws, "Y", {}, {0});
  ExpectShapeInferred(&ws, kForward);
}

// A sum of floats would stop growing at 2^24.
TEST(AveragedLossTest, IsExactForManyElements) {
  Workspace ws;
  Feed<float>(&ws, "X", {1 << 16}, std::vector<float>(1 << 16, 1000.25f));
  RunOp(&ws, kForward);
  ExpectTensor<float>(ws, "Y", {}, {1000.25f});
}

TEST(AveragedLossTest, RejectsOtherTypesAndWorkInPlace) {
  Workspace ws;
  FeedRange<float>(&ws, "X", {2});
  ExpectThrows([&] { RunOp(&ws, R"(type: "AveragedLoss" input: "X" output: "X")"); }, "in place");
  FeedRange<double>(&ws, "X", {2});
  ExpectThrows([&] { RunOp(&ws, kForward); }, "double");
}

TEST(AveragedLossGradientTest, GivesEveryElementItsShare) {
  Workspace ws;
  FeedRange<float>(&ws, "X", {2, 2});
  Feed<float>(&ws, "dY", {}, {6});
  RunOp(&ws, kGradient);
  ExpectTensor<float>(ws, "dX", {2, 2}, {1.5f, 1.5f, 1.5f, 1.5f});
  ExpectShapeInferred(&ws, kGradient);
  Feed<float>(&ws, "X", {0, 2}, {});
  RunOp(&ws, kGradient);
  ExpectTensor<float>(ws, "dX", {0, 2}, {});
  Feed<float>(&ws, "dY", {2}, {6, 6});
  ExpectThrows([&] { RunOp(&ws, kGradient); }, "elements of input 1 (dY) of shape [2]");
}

TEST(AveragedLossGradientTest, IsTheDerivative) {
  Workspace ws;
  FeedRandom(&ws, "X", {2, 3});
  ExpectGradientMatches(&ws, kForward);
  EXPECT_EQ(DescribeGradient(kForward), "AveragedLossGradient(X,Y_grad)->X_grad | X_grad");
}

}  // namespace
}  // namespace caffe2rt::test::averaged_loss_test
