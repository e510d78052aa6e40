#include "tests/support/gradient_test.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::lp_norm_test {
namespace {

using test::ExpectShapeInferred;
using test::ExpectTensor;
using test::ExpectThrows;
using test::Feed;
using test::FeedRandom;
using test::RunOp;

std::string Args(int p, bool average) {
  return " arg { name: \"p\" i: " + std::to_string(p) +
         " } arg { name: \"average\" i: " + std::to_string(average ? 1 : 0) + " }";
}
const std::string kNorm = R"(type: "LpNorm" input: "X" output: "Z")";
const std::string kGradient = R"(type: "LpNormGradient" input: "X" input: "dZ" output: "dX")";

TEST(LpNormTest, SumsPowers) {
  const struct {
    int p;
    bool average;
    float norm;
    std::vector<float> gradient;  // for dZ 2
  } kCases[] = {
      {1, false, 6, {2, -2, 0, 2}},
      {1, true, 1.5f, {0.5f, -0.5f, 0, 0.5f}},
      {2, false, 14, {4, -8, 0, 12}},
      {2, true, 3.5f, {1, -2, 0, 3}},
  };
  for (const auto& c : kCases) {
    Workspace ws;
    Feed<float>(&ws, "X", {2, 2}, {1, -2, 0, 3});
    Feed<float>(&ws, "dZ", {1}, {2});
    ExpectShapeInferred(&ws, kNorm + Args(c.p, c.average));
    ExpectTensor<float>(ws, "Z", {1}, {c.norm}, 1e-6);
    ExpectShapeInferred(&ws, kGradient + Args(c.p, c.average));
    ExpectTensor<float>(ws, "dX", {2, 2}, c.gradient, 1e-6);
  }
}

TEST(LpNormTest, SumsWholeVectorsAndTheirRest) {
  Workspace ws;
  std::vector<float> x(10000);
  for (size_t i = 0; i < x.size(); ++i) x[i] = i % 2 == 0 ? 0.5f : -2;
  Feed<float>(&ws, "X", {10000}, x);
  RunOp(&ws, kNorm + Args(1, false));
  ExpectTensor<float>(ws, "Z", {1}, {12500}, 1e-6);
  RunOp(&ws, kNorm);
  ExpectTensor<float>(ws, "Z", {1}, {21250}, 1e-6);
}

TEST(LpNormTest, NothingHasNormZeroAndNoAverage) {
  Workspace ws;
  Feed<float>(&ws, "X", {0}, {});
  Feed<float>(&ws, "dZ", {1}, {2});
  RunOp(&ws, kNorm);
  ExpectTensor<float>(ws, "Z", {1}, {0});
  RunOp(&ws, kGradient);
  ExpectTensor<float>(ws, "dX", {0}, {});
  ExpectThrows([&] { RunOp(&ws, kNorm + Args(2, true)); }, "elements of input 0 (X) of shape [0]");
}

TEST(LpNormTest, NamesWhatDoesNotFit) {
  Workspace ws;
  FeedRandom(&ws, "X", {3});
  Feed<float>(&ws, "dZ", {2}, {1, 2});
  ExpectThrows([&] { RunOp(&ws, kNorm + Args(3, false)); }, R"(argument "p" is 3, want 1 or 2)");
  ExpectThrows([&] { RunOp(&ws, kGradient); }, "elements of input 1 (dout) of shape [2]");
}

TEST(LpNormTest, GradientAgreesWithDifferences) {
  Workspace ws;
  Feed<float>(&ws, "X", {5}, {1, -2, 0.5f, 3, -0.25f});
  for (const int p : {1, 2}) {
    for (const bool average : {false, true}) {
      test::ExpectGradientMatches(&ws, kNorm + Args(p, average));
    }
  }
  EXPECT_EQ(test::DescribeGradient(kNorm), "LpNormGradient(X,Z_grad)->X_grad | X_grad");
}

}  // namespace
}  // namespace caffe2rt::lp_norm_test
