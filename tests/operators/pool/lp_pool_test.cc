#include <cmath>
#include <limits>

#include "tests/operators/pool/naive_pool.h"
#include "tests/support/gradient_test.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::lp_pool_test {
namespace {

using namespace test;  // used throughout this file

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

// The mean over the whole window of |x|^p, times the size of the window.
std::vector<float> NaiveNorm(std::vector<float> x, int planes, const NaiveAxis& h,
                             const NaiveAxis& w, double p) {
  for (float& value : x) value = static_cast<float>(std::pow(std::fabs(value), p));
  std::vector<float> y = NaivePool(x, planes, {}, h, w, true, true);
  for (float& value : y) {
    value = static_cast<float>(std::pow(value * static_cast<double>(h.kernel * w.kernel), 1 / p));
  }
  return y;
}

class LpPoolShapeTest : public testing::TestWithParam<std::tuple<std::vector<NaiveAxis>, float>> {};

TEST_P(LpPoolShapeTest, ComputesTheNormOfEachWindowInBothLayouts) {
  const auto& [axes, p] = GetParam();
  constexpr int kChannels = 3;
  Workspace ws;
  FeedRandom(&ws, "X", PoolDims(axes, 1, kChannels, false, false));
  const std::vector<float> x = Fetch<float>(ws, "X");
  const std::vector<float> want = NaiveNorm(x, kChannels, axes[0], axes[1], p);
  const std::string power = MakeString(" arg { name: \"p\" f: ", p, " }");
  RunOp(&ws, PoolOp("LpPool", axes, "NCHW") + power);
  ExpectTensor<float>(ws, "Y", PoolDims(axes, 1, kChannels, false, true), want, 1e-5);
  ExpectShapeInferred(&ws, PoolOp("LpPool", axes, "NCHW") + power);
  Feed<float>(&ws, "X", PoolDims(axes, 1, kChannels, true, false), ToChannelsLast(x, 1, kChannels));
  RunOp(&ws, PoolOp("LpPool", axes, "NHWC") + power);
  ExpectTensor<float>(ws, "Y", PoolDims(axes, 1, kChannels, true, true),
                      ToChannelsLast(want, 1, kChannels), 1e-5);
}
INSTANTIATE_TEST_SUITE_P(
    Shapes, LpPoolShapeTest,
    testing::Combine(testing::Values(std::vector<NaiveAxis>{{7, 2, 2, 0, 1}, {6, 3, 1, 1, 0}},
                                     std::vector<NaiveAxis>{{5, 5, 1, 0, 0}, {40, 40, 1, 0, 0}},
                                     std::vector<NaiveAxis>{{6, 2, 1, -1, 0}, {21, 18, 1, 4, 3}}),
                     testing::Values(1.0f, 2.0f, 2.5f)));

constexpr char kTwo[] = R"(type: "LpPool" input: "X" output: "Y" arg { name: "kernel" i: 2 })";

TEST(LpPoolTest, IsTheEuclideanNormByDefault) {
  Workspace ws;
  Feed<float>(&ws, "X", {1, 1, 2, 3}, {1, -1, 3, 1, -1, -5});
  RunOp(&ws, kTwo);
  ExpectTensor<float>(ws, "Y", {1, 1, 1, 2}, {2, 6});
  Feed<float>(&ws, "dY", {1, 1, 1, 2}, {4, 12});
  RunOp(&ws, GradientOf(kTwo));
  ExpectTensor<float>(ws, "dX", {1, 1, 2, 3}, {2, -4, 6, 2, -4, -10});
  const std::string global =
      R"(type: "LpPool" input: "X" output: "Y" arg { name: "global_pooling" i: 1 }
         arg { name: "p" f: 1 })";
  RunOp(&ws, global);
  ExpectTensor<float>(ws, "Y", {1, 1, 1, 1}, {12});
}

// Recorded from the original.
TEST(LpPoolTest, PassesNaNAndInfinitiesOn) {
  Workspace ws;
  Feed<float>(&ws, "X", {1, 1, 3, 3}, {kNaN, 1, 2, 3, -kInf, 5, 6, 7, 8});
  RunOp(&ws, kTwo);
  ExpectTensor<float>(ws, "Y", {1, 1, 2, 2}, {kNaN, kInf, kInf, kInf});
  Feed<float>(&ws, "dY", {1, 1, 2, 2}, {0.5f, 0.25f, -0.5f, -0.75f});
  RunOp(&ws, GradientOf(kTwo));
  ExpectTensor<float>(ws, "dX", {1, 1, 3, 3}, {kNaN, kNaN, 0, kNaN, kNaN, 0, 0, 0, 0});
}

TEST(LpPoolTest, TheGradientOfAWindowOfZerosIsNaN) {
  Workspace ws;
  Feed<float>(&ws, "X", {1, 1, 1, 4}, {0, 0, 0, 3});
  Feed<float>(&ws, "dY", {1, 1, 1, 2}, {1, 1});
  const std::string op = R"(type: "LpPool" input: "X" output: "Y" arg { name: "kernels" ints: 1
      ints: 2 } arg { name: "strides" ints: 1 ints: 2 })";
  RunOp(&ws, op);
  ExpectTensor<float>(ws, "Y", {1, 1, 1, 2}, {0, 3});
  RunOp(&ws, GradientOf(op));
  ExpectTensor<float>(ws, "dX", {1, 1, 1, 4}, {kNaN, kNaN, 0, 1});
}

TEST(LpPoolTest, TheGradientAgreesWithDifferences) {
  Workspace ws;
  // No element is near 0, where the function for p = 1 is not smooth.
  for (const char* more : {R"(arg { name: "stride" i: 2 } arg { name: "legacy_pad" i: 3 })",
                           R"(arg { name: "p" f: 1 } arg { name: "order" s: "NHWC" })",
                           R"(arg { name: "p" f: 3 } arg { name: "pad" i: 1 })"}) {
    FeedRandom(&ws, "X", {1, 4, 3, 2});
    std::vector<float> x = Fetch<float>(ws, "X");
    for (float& value : x) value += value < 0 ? -0.5f : 0.5f;
    Feed<float>(&ws, "X", {1, 4, 3, 2}, x);
    ExpectGradientMatches(&ws, std::string(kTwo) + more, {.tolerance = 5e-3});
  }
  EXPECT_EQ(DescribeGradient(kTwo), "LpPoolGradient(X,Y,Y_grad)->X_grad kernel=2 | X_grad");
}

TEST(LpPoolTest, AnEmptyBatchGivesNothing) {
  Workspace ws;
  Feed<float>(&ws, "X", {0, 2, 4, 4}, {});
  RunOp(&ws, kTwo);
  ExpectTensor<float>(ws, "Y", {0, 2, 3, 3}, {});
  Feed<float>(&ws, "dY", {0, 2, 3, 3}, {});
  RunOp(&ws, GradientOf(kTwo));
  ExpectTensor<float>(ws, "dX", {0, 2, 4, 4}, {});
}

TEST(LpPoolTest, NamesWhatDoesNotFit) {
  Workspace ws;
  FeedRange<float>(&ws, "X", {3, 5, 5});
  ExpectThrows([&] { RunOp(&ws, kTwo); }, "spatial axes of input 0 (X), want 2");
  FeedRange<float>(&ws, "X", {1, 2, 5, 5});
  ExpectThrows([&] { RunOp(&ws, std::string(kTwo) + R"(arg { name: "pad" i: 2 })"); }, "pads");
  FeedRange<float>(&ws, "Y", {1, 2, 4, 4});
  FeedRange<float>(&ws, "dY", {1, 2, 4, 5});
  ExpectThrows([&] { RunOp(&ws, GradientOf(kTwo)); },
               "input 2 (dY) has shape [1, 2, 4, 5], want [1, 2, 4, 4]");
  FeedRange<double>(&ws, "X", {1, 2, 5, 5});
  ExpectThrows([&] { RunOp(&ws, kTwo); }, "double");
}

}  // namespace
}  // namespace caffe2rt::lp_pool_test
