#include <cmath>

#include "tests/support/gradient_test.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::normalize_test {
namespace {

using test::ExpectShapeInferred;
using test::ExpectTensor;
using test::ExpectThrows;
using test::Feed;
using test::FeedRandom;
using test::FeedRange;
using test::Fetch;
using test::RunOp;

std::string Op(const std::string& type, int axis = -1) {
  return "type: \"" + type + R"(" input: "X" output: "Y" arg { name: "axis" i: )" +
         std::to_string(axis) + " }";
}

TEST(NormalizeTest, DividesRunsByTheirNorm) {
  Workspace ws;
  Feed<float>(&ws, "X", {2, 2}, {3, -4, 0, 2});
  ExpectShapeInferred(&ws, Op("Normalize"));
  ExpectTensor<float>(ws, "Y", {2, 2}, {0.6f, -0.8f, 0, 1}, 1e-6);
  RunOp(&ws, R"(type: "Normalize" input: "X" output: "Y")");
  ExpectTensor<float>(ws, "Y", {2, 2}, {0.6f, -0.8f, 0, 1}, 1e-6);
  ExpectShapeInferred(&ws, Op("NormalizeL1", 1));
  ExpectTensor<float>(ws, "Y", {2, 2}, {3 / 7.0f, -4 / 7.0f, 0, 1}, 1e-6);
  RunOp(&ws, Op("NormalizeL1", 0));
  ExpectTensor<float>(ws, "Y", {2, 2}, {1, -4 / 6.0f, 0, 2 / 6.0f}, 1e-6);
  RunOp(&ws, Op("Normalize", -2));
  const float root = std::sqrt(20.0f);
  ExpectTensor<float>(ws, "Y", {2, 2}, {1, -4 / root, 0, 2 / root}, 1e-6);
}

TEST(NormalizeTest, KeepsZeros) {
  Workspace ws;
  Feed<float>(&ws, "X", {2, 2}, {0, 0, 0, 0});
  for (const char* type : {"Normalize", "NormalizeL1"}) {
    for (const int axis : {0, 1}) {
      RunOp(&ws, Op(type, axis));
      ExpectTensor<float>(ws, "Y", {2, 2}, {0, 0, 0, 0});
    }
  }
  for (const std::vector<int64_t>& dims : {std::vector<int64_t>{0, 3}, {3, 0}}) {
    Feed<float>(&ws, "X", dims, {});
    RunOp(&ws, Op("Normalize"));
    ExpectTensor<float>(ws, "Y", dims, {});
    RunOp(&ws, Op("NormalizeL1", 0));
    ExpectTensor<float>(ws, "Y", dims, {});
  }
}

// Without elements, even very many runs take no time.
TEST(NormalizeTest, AcceptsManyRunsWithoutElements) {
  const std::vector<int64_t> dims = {int64_t{1} << 60, 0};
  Workspace ws;
  Feed<float>(&ws, "X", dims, {});
  for (const char* type : {"Normalize", "NormalizeL1"}) {
    for (const int axis : {0, 1}) {
      RunOp(&ws, Op(type, axis));
      ExpectTensor<float>(ws, "Y", dims, {});
    }
  }
  RunOp(&ws, R"(type: "NormalizeGradient" input: "X" input: "X" output: "dX")");
  ExpectTensor<float>(ws, "dX", dims, {});
}

// More than one tile of runs, and runs of more than one vector.
TEST(NormalizeTest, IsTheDefinitionForEveryAxis) {
  constexpr int64_t kDims[] = {2, 37, 70};
  Workspace ws;
  FeedRandom(&ws, "X", {2, 37, 70}, -2, 2);
  const std::vector<float> x = Fetch<float>(ws, "X");
  for (int axis = 0; axis < 3; ++axis) {
    int64_t step = 1;
    for (int d = axis + 1; d < 3; ++d) step *= kDims[d];
    std::vector<float> l1(x.size()), l2(x.size());
    for (int64_t i = 0; i < static_cast<int64_t>(x.size()); ++i) {
      const int64_t start = i - i / step % kDims[axis] * step;
      double sum = 0, squares = 0;
      for (int64_t j = 0; j < kDims[axis]; ++j) {
        const double value = x[start + j * step];
        sum += std::fabs(value);
        squares += value * value;
      }
      l1[i] = static_cast<float>(x[i] / sum);
      l2[i] = static_cast<float>(x[i] / std::sqrt(squares));
    }
    RunOp(&ws, Op("NormalizeL1", axis));
    ExpectTensor<float>(ws, "Y", {2, 37, 70}, l1, 1e-6);
    RunOp(&ws, Op("Normalize", axis));
    ExpectTensor<float>(ws, "Y", {2, 37, 70}, l2, 1e-6);
  }
}

TEST(NormalizeGradientTest, RemovesThePartAlongX) {
  const std::string op = R"(type: "NormalizeGradient" input: "X" input: "dY" output: "dX")";
  Workspace ws;
  Feed<float>(&ws, "X", {2, 2}, {3, 4, 3, 4});
  Feed<float>(&ws, "dY", {2, 2}, {5, 0, 6, 8});
  ExpectShapeInferred(&ws, op);
  ExpectTensor<float>(ws, "dX", {2, 2}, {0.64f, -0.48f, 0, 0}, 1e-6);
  Feed<float>(&ws, "dY", {1}, {1});
  ExpectThrows([&] { RunOp(&ws, op); }, "elements of input 1 (dY) of shape [1]");
}

TEST(NormalizeGradientTest, AgreesWithDifferences) {
  Workspace ws;
  FeedRandom(&ws, "X", {2, 2, 9}, 0.5f, 2);
  for (const int axis : {0, 1, -1}) test::ExpectGradientMatches(&ws, Op("Normalize", axis));
  EXPECT_EQ(test::DescribeGradient(Op("Normalize")),
            "NormalizeGradient(X,Y_grad)->X_grad axis=-1 | X_grad");
  ExpectThrows([] { test::DescribeGradient(Op("NormalizeL1")); }, "NormalizeL1");
}

TEST(NormalizeTest, RejectsBadAxesTypesAndInPlace) {
  Workspace ws;
  FeedRange<float>(&ws, "X", {2, 3});
  for (const std::string type : {"Normalize", "NormalizeL1"}) {
    ExpectThrows([&] { RunOp(&ws, Op(type, 2)); }, "axis");
    ExpectThrows([&] { RunOp(&ws, "type: \"" + type + R"(" input: "X" output: "X")"); }, "place");
  }
  FeedRange<double>(&ws, "X", {2, 3});
  ExpectThrows([&] { RunOp(&ws, Op("Normalize")); }, "double");
}

}  // namespace
}  // namespace caffe2rt::normalize_test
