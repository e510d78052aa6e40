#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/support/gradient_test.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::moments_test {
namespace {

std::string Op(const std::string& args = "") {
  return R"(type: "Moments" input: "X" output: "m" output: "v" )" + args;
}

// Shapes as in Caffe2. X is 1 2 4 / 3 6 8.
TEST(MomentsTest, AreMeanAndBiasedVarianceOverTheAxes) {
  Workspace ws;
  Feed<float>(&ws, "X", {2, 3, 1}, {1, 2, 4, 3, 6, 8});
  const auto expect = [&](const std::string& args, const std::vector<int64_t>& dims,
                          const std::vector<float>& mean, const std::vector<float>& variance) {
    RunOp(&ws, Op(args));
    ExpectTensor<float>(ws, "m", dims, mean, 1e-6);
    ExpectTensor<float>(ws, "v", dims, variance, 1e-6);
    ExpectShapeInferred(&ws, Op(args));
  };
  const std::string flat = R"(arg { name: "keepdims" i: 0 } )";
  expect("", {1, 1, 1}, {4}, {34.0f / 6});
  expect(flat, {}, {4}, {34.0f / 6});
  expect(R"(arg { name: "axes" ints: 0 })", {1, 3, 1}, {2, 4, 6}, {1, 4, 4});
  expect(flat + R"(arg { name: "axes" ints: 2 ints: 1 })", {2}, {7.0f / 3, 17.0f / 3},
         {14.0f / 9, 38.0f / 9});
  expect(R"(arg { name: "axes" ints: 1 } )", {2, 1, 1}, {7.0f / 3, 17.0f / 3},
         {14.0f / 9, 38.0f / 9});
  expect(flat + R"(arg { name: "axes" ints: 2 })", {2, 3}, {1, 2, 4, 3, 6, 8}, {0, 0, 0, 0, 0, 0});
}

// A sum of squares in float would lose the variance.
TEST(MomentsTest, KeepTheVarianceOfLargeNumbers) {
  Workspace ws;
  Feed<float>(&ws, "X", {2, 2}, {1e6f, 3, 1e6f + 1, 3});
  RunOp(&ws, Op(R"(arg { name: "axes" ints: 0 })"));
  ExpectTensor<float>(ws, "m", {1, 2}, {1000000.5f, 3}, 0.1);
  ExpectTensor<float>(ws, "v", {1, 2}, {0.25f, 0}, 1e-6);
}

// Recorded from the original.
TEST(MomentsTest, OfNoElementsAreZero) {
  Workspace ws;
  Feed<float>(&ws, "X", {0, 3}, {});
  RunOp(&ws, Op(R"(arg { name: "axes" ints: 0 })"));
  ExpectTensor<float>(ws, "m", {1, 3}, {0, 0, 0});
  ExpectTensor<float>(ws, "v", {1, 3}, {0, 0, 0});
  RunOp(&ws, Op(R"(arg { name: "axes" ints: 1 })"));
  ExpectTensor<float>(ws, "m", {0, 1}, {});
  ExpectTensor<float>(ws, "v", {0, 1}, {});
}

// (dm + 2 dv (x - mean)) / 2, for means 2 and 5.
TEST(MomentsTest, HaveTheGradientOfBothOutputs) {
  Workspace ws;
  Feed<float>(&ws, "X", {2, 2}, {1, 3, 4, 6});
  Feed<float>(&ws, "m", {2, 1}, {2, 5});
  Feed<float>(&ws, "dm", {2, 1}, {10, 20});
  Feed<float>(&ws, "dv", {2, 1}, {1, 2});
  const std::string op = R"(type: "MomentsGradient" input: "dm" input: "dv" input: "X" input: "m"
      output: "dX" arg { name: "axes" ints: 1 })";
  RunOp(&ws, op);
  ExpectTensor<float>(ws, "dX", {2, 2}, {4, 6, 8, 12});
  ExpectShapeInferred(&ws, op);
  Feed<float>(&ws, "dv", {1, 1}, {1});
  ExpectThrows([&] { RunOp(&ws, op); },
               "elements of input 1 (dvariance) of shape [1, 1], want one for each mean of input 2 "
               "(X) (got 1, want 2)");
}

// As in Caffe2.
TEST(MomentsTest, NeedGradientsOfBothOutputs) {
  EXPECT_EQ(DescribeGradient(Op(R"(arg { name: "keepdims" i: 0 })")),
            "MomentsGradient(m_grad,v_grad,X,m)->X_grad keepdims=0 | X_grad");
  ExpectThrows([] { DescribeGradient(Op(), {{}, {"dv", "", ""}}); }, "gradient of output m");
  ExpectThrows([] { DescribeGradient(Op(), {{"dm", "", ""}, {}}); }, "gradient of output v");
  Workspace ws;
  FeedRandom(&ws, "X", {2, 3, 2});
  ExpectGradientMatches(&ws, Op(R"(arg { name: "axes" ints: 0 ints: 2 })"));
}

TEST(MomentsTest, RejectsOtherTypesAndAxes) {
  Workspace ws;
  FeedRange<double>(&ws, "X", {2, 3});
  ExpectThrows([&] { RunOp(&ws, Op()); }, "double");
  FeedRange<float>(&ws, "X", {2, 3});
  ExpectThrows([&] { RunOp(&ws, Op(R"(arg { name: "axes" ints: 2 })")); },
               "argument axes contains 2, want -2 to 1 for an input of rank 2");
  ExpectThrows([&] { RunOp(&ws, Op(R"(arg { name: "axes" ints: 0 ints: -1 })")); },
               "element of argument axes");
}

}  // namespace
}  // namespace caffe2rt::test::moments_test
