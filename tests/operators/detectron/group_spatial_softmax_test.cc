#include "tests/support/gradient_test.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::group_spatial_softmax_test {
namespace {

const std::string kSoftmax =
    R"(type: "GroupSpatialSoftmax" input: "X" output: "P" arg { name: "num_classes" i: 2 })";
const std::string kSoftmaxGradient = R"(type: "GroupSpatialSoftmaxGradient"
    input: "P" input: "dP" output: "dX" arg { name: "num_classes" i: 2 })";

TEST(GroupSpatialSoftmaxTest, NormalizesEachGroupOfChannels) {
  const float log3 = std::log(3.0f);
  Workspace ws;
  Feed<float>(&ws, "X", {1, 4, 1, 2}, {log3, 0, 0, 0, 7, 0, 7, log3});
  RunOp(&ws, kSoftmax);
  ExpectTensor<float>(ws, "P", {1, 4, 1, 2}, {.75f, .5f, .25f, .5f, .5f, .25f, .5f, .75f}, 1e-6);
  ExpectShapeInferred(&ws, kSoftmax);
  Feed<float>(&ws, "dP", {1, 4, 1, 2}, {1, 1, 0, 1, 2, 0, 0, 4});
  // (dP - the sum of P * dP) * P
  RunOp(&ws, kSoftmaxGradient);
  ExpectTensor<float>(ws, "dX", {1, 4, 1, 2}, {.1875f, 0, -.1875f, 0, .5f, -.75f, -.5f, .75f},
                      1e-6);
  ExpectShapeInferred(&ws, kSoftmaxGradient);
}

// More positions than are processed together.
TEST(GroupSpatialSoftmaxTest, HasTheGradientOfASoftmaxAtEachPosition) {
  constexpr int kGroups = 3, kPositions = 1100;
  Workspace ws;
  FeedRandom(&ws, "P", {1, 2 * kGroups, 50, 22}, 0, 1, 1);
  FeedRandom(&ws, "dP", {1, 2 * kGroups, 50, 22}, -1, 1, 2);
  const std::vector<float> p = Fetch<float>(ws, "P"), d = Fetch<float>(ws, "dP");
  std::vector<float> want(p.size());
  for (size_t group = 0; group < kGroups; ++group) {
    for (size_t i = 0; i < kPositions; ++i) {
      const size_t a = 2 * group * kPositions + i, b = a + kPositions;
      const float sum = p[a] * d[a] + p[b] * d[b];
      want[a] = (d[a] - sum) * p[a];
      want[b] = (d[b] - sum) * p[b];
    }
  }
  RunOp(&ws, kSoftmaxGradient);
  ExpectTensor<float>(ws, "dX", {1, 2 * kGroups, 50, 22}, want, 1e-6);
}

TEST(GroupSpatialSoftmaxTest, AcceptsEmptyTensors) {
  Workspace ws;
  for (const std::vector<int64_t>& dims :
       std::vector<std::vector<int64_t>>{{0, 4, 2, 3}, {2, 0, 2, 3}, {2, 4, 0, 3}, {2, 4, 3, 0}}) {
    Feed<float>(&ws, "X", dims, {});
    RunOp(&ws, kSoftmax);
    ExpectTensor<float>(ws, "P", dims, {});
    Feed<float>(&ws, "dP", dims, {});
    RunOp(&ws, kSoftmaxGradient);
    ExpectTensor<float>(ws, "dX", dims, {});
  }
}

TEST(GroupSpatialSoftmaxTest, HasTheDerivativeAsGradient) {
  Workspace ws;
  FeedRandom(&ws, "X", {2, 4, 1, 3}, -2, 2);
  ExpectGradientMatches(&ws, kSoftmax);
  EXPECT_EQ(DescribeGradient(kSoftmax),
            "GroupSpatialSoftmaxGradient(P,P_grad)->X_grad num_classes=2 | X_grad");
}

TEST(GroupSpatialSoftmaxTest, RejectsWhatDoesNotFit) {
  Workspace ws;
  FeedRandom(&ws, "X", {2, 5, 1, 3});
  ExpectThrows([&] { RunOp(&ws, kSoftmax); },
               "input 0 (scores) of shape [2, 5, 1, 3] has 5 channels, want a multiple of the "
               "argument num_classes, 2");
  ExpectThrows([&] { RunOp(&ws, kSoftmax + R"(arg { name: "order" s: "NHWC" })"); },
               "argument \"order\" is \"NHWC\", want NCHW");
  ExpectThrows(
      [&] {
        RunOp(&ws, R"(type: "GroupSpatialSoftmax" input: "X" output: "P"
                      arg { name: "num_classes" i: 0 })");
      },
      "argument \"num_classes\" is 0, want above 0");
  FeedRandom(&ws, "P", {2, 4, 1, 3});
  FeedRandom(&ws, "dP", {2, 4, 1, 2});
  ExpectThrows([&] { RunOp(&ws, kSoftmaxGradient); },
               "elements of input 1 (d_probabilities) of shape [2, 4, 1, 2]");
  FeedRandom(&ws, "X", {2, 4});
  ExpectThrows([&] { RunOp(&ws, kSoftmax); }, "rank of input 0 (scores) of shape [2, 4]");
  // Not in place, as in Caffe2.
  ExpectThrows([&] { RunOp(&ws, R"(type: "GroupSpatialSoftmax" input: "X" output: "X")"); }, "X");
}

}  // namespace
}  // namespace caffe2rt::test::group_spatial_softmax_test
