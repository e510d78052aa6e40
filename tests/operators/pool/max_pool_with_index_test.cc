#include <algorithm>
#include <limits>
#include <memory>
#include <numeric>

#include "caffe2_core/base/thread_pool.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "tests/operators/pool/naive_pool.h"
#include "tests/support/gradient_test.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::max_pool_with_index_test {
namespace {

using namespace test;  // used throughout this file

std::string WithIndex(const std::vector<NaiveAxis>& axes) {
  std::string text = PoolOp("MaxPoolWithIndex", axes, "NCHW");
  const std::string out = "output: \"Y\"";
  return text.replace(text.find(out), out.size(), out + " output: \"Index\"");
}
std::string GradientWithIndex(const std::string& args) {
  return R"(type: "MaxPoolWithIndexGradient" input: "X" input: "dY" input: "Index" output: "dX" )" +
         args;
}

class MaxPoolWithIndexShapeTest : public testing::TestWithParam<std::vector<NaiveAxis>> {};

// Y is a naive maximum, Index leads back to it, and the gradient is the naive one, because all
// elements are different.
TEST_P(MaxPoolWithIndexShapeTest, FindsTheLargestElementAndItsPlace) {
  const std::vector<NaiveAxis> axes = GetParam();
  constexpr int kPlanes = 4;
  std::vector<NaiveAxis> padded(3 - axes.size());
  padded.insert(padded.end(), axes.begin(), axes.end());
  const std::vector<int64_t> dims = PoolDims(axes, 2, 2, false, false);
  const std::vector<int64_t> out_dims = PoolDims(axes, 2, 2, false, true);
  const int64_t n = std::accumulate(dims.begin(), dims.end(), int64_t{1}, std::multiplies<>());
  std::vector<float> x;  // integers below 1000 in a mixed order, exact as float16
  for (int64_t i = 0; i < n; ++i) x.push_back(static_cast<float>(i * 617 % 997) - 500);
  const std::vector<float> want = NaivePool(x, kPlanes, padded[0], padded[1], padded[2], false);
  std::vector<float> dy;
  for (size_t i = 0; i < want.size(); ++i) dy.push_back(static_cast<float>(i % 7) - 3);
  const std::vector<float> want_dx =
      NaivePoolGradient(x, dy, kPlanes, padded[0], padded[1], padded[2], false);
  const std::string op = WithIndex(axes);
  const std::string gradient = GradientWithIndex(op.substr(op.find("arg")));

  Workspace ws;
  Feed<float>(&ws, "X", dims, x);
  RunOp(&ws, op);
  ExpectTensor<float>(ws, "Y", out_dims, want);
  ExpectShapeInferred(&ws, op);
  const std::vector<int32_t> index = Fetch<int32_t>(ws, "Index");
  const size_t windows = want.size() / kPlanes, plane = x.size() / kPlanes;
  for (size_t i = 0; i < want.size(); ++i) {
    EXPECT_EQ(x[i / windows * plane + static_cast<size_t>(index[i])], want[i]) << "window " << i;
  }
  Feed<float>(&ws, "dY", out_dims, dy);
  RunOp(&ws, gradient);
  ExpectTensor<float>(ws, "dX", dims, want_dx);
  ExpectShapeInferred(&ws, gradient);

  const auto half = [](const std::vector<float>& values) {
    return std::vector<float16>(values.begin(), values.end());
  };
  Feed<float16>(&ws, "X", dims, half(x));
  RunOp(&ws, op);
  const std::vector<float16> y = Fetch<float16>(ws, "Y");
  EXPECT_EQ(std::vector<float>(y.begin(), y.end()), want);
  EXPECT_EQ(Fetch<int32_t>(ws, "Index"), index);
  Feed<float16>(&ws, "dY", out_dims, half(dy));
  RunOp(&ws, gradient);
  const std::vector<float16> dx = Fetch<float16>(ws, "dX");
  EXPECT_EQ(std::vector<float>(dx.begin(), dx.end()), want_dx);
}
INSTANTIATE_TEST_SUITE_P(Shapes, MaxPoolWithIndexShapeTest,
                         testing::Values(std::vector<NaiveAxis>{{9, 3, 2, 1, 0}},
                                         std::vector<NaiveAxis>{{5, 3, 2, 1, 1}, {7, 3, 2, 1, 1}},
                                         std::vector<NaiveAxis>{{6, 2, 2, 0, 0}, {8, 2, 2, 0, 0}},
                                         std::vector<NaiveAxis>{
                                             {4, 2, 1, 1, 0}, {3, 3, 2, 0, 2}, {5, 2, 2, 1, 1}}));

constexpr char kTwo[] = R"(type: "MaxPoolWithIndex" input: "X" output: "Y" output: "Index"
                           arg { name: "kernel" i: 2 } arg { name: "stride" i: 2 })";
constexpr char kArgs[] = R"(arg { name: "kernel" i: 2 } arg { name: "stride" i: 2 })";

TEST(MaxPoolWithIndexTest, ReturnsTheFirstOfEqualElementsAndSkipsNaN) {
  constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
  Workspace ws;
  Feed<float>(&ws, "X", {1, 1, 2, 6}, {1, 3, kNaN, -2, kNaN, kNaN, 3, 3, -1, 5, kNaN, kNaN});
  RunOp(&ws, kTwo);
  ExpectTensor<float>(ws, "Y", {1, 1, 1, 3}, {3, 5, std::numeric_limits<float>::lowest()});
  ExpectTensor<int32_t>(ws, "Index", {1, 1, 1, 3}, {1, 9, -1});
  Feed<float>(&ws, "dY", {1, 1, 1, 3}, {10, 20, 30});
  RunOp(&ws, GradientWithIndex(kArgs));
  ExpectTensor<float>(ws, "dX", {1, 1, 2, 6}, {0, 10, 0, 0, 0, 0, 0, 0, 0, 20, 0, 0});
}

TEST(MaxPoolWithIndexTest, HalvesWithoutANumberAreTheLeastFiniteOne) {
  const float16 nan(std::numeric_limits<float>::quiet_NaN());
  const float16 below(-std::numeric_limits<float>::infinity());
  Workspace ws;
  Feed<float16>(&ws, "X", {1, 1, 2, 4}, {nan, nan, below, float16(-7.0f), nan, nan, nan, below});
  RunOp(&ws, kTwo);
  ExpectTensor<int32_t>(ws, "Index", {1, 1, 1, 2}, {-1, 3});
  const std::vector<float16> y = Fetch<float16>(ws, "Y");
  EXPECT_EQ((std::vector<float>{y[0], y[1]}), (std::vector<float>{-65504, -7}));
}

TEST(MaxPoolWithIndexTest, PoolsGlobally) {
  Workspace ws;
  FeedRange<float>(&ws, "X", {1, 2, 2, 3});
  RunOp(&ws, R"(type: "MaxPoolWithIndex" input: "X" output: "Y" output: "Index"
                arg { name: "global_pooling" i: 1 })");
  ExpectTensor<float>(ws, "Y", {1, 2, 1, 1}, {5, 11});
  ExpectTensor<int32_t>(ws, "Index", {1, 2, 1, 1}, {5, 5});
}

TEST(MaxPoolWithIndexTest, TheGradientAgreesWithDifferences) {
  Workspace ws;
  std::vector<float> x;
  for (int i = 0; i < 32; ++i) x.push_back(static_cast<float>(i * 37 % 32) / 4);
  Feed<float>(&ws, "X", {1, 2, 4, 4}, x);
  const std::string op = R"(type: "MaxPoolWithIndex" input: "X" output: "Y" output: "Index"
                            arg { name: "kernel" i: 2 })";
  ExpectGradientMatches(&ws, op);
  GradientWrapper dy;
  dy.dense_ = "Y_grad";
  EXPECT_EQ(DescribeGradient(op, {dy, {}}),
            "MaxPoolWithIndexGradient(X,Y_grad,Index)->X_grad kernel=2 | X_grad");
}

TEST(MaxPoolWithIndexTest, AnotherShapeIsPooledAsItself) {
  Workspace ws;
  Feed<float>(&ws, "X", {1, 1, 2, 2}, {1, 4, 3, 2});
  const std::unique_ptr<OperatorBase> op = CreateOperator(ParseOp(kTwo), &ws);
  op->Run();
  Feed<float>(&ws, "X", {1, 2, 2, 4}, {1, 2, 3, 9, 5, 6, 8, 7, 4, 3, 2, 1, 0, -1, -2, -3});
  op->Run();
  ExpectTensor<float>(ws, "Y", {1, 2, 1, 2}, {6, 9, 4, 2});
  ExpectTensor<int32_t>(ws, "Index", {1, 2, 1, 2}, {5, 3, 0, 2});
}

TEST(MaxPoolWithIndexTest, AnEmptyBatchGivesNothing) {
  Workspace ws;
  Feed<float>(&ws, "X", {0, 2, 4, 4}, {});
  RunOp(&ws, kTwo);
  ExpectTensor<float>(ws, "Y", {0, 2, 2, 2}, {});
  ExpectTensor<int32_t>(ws, "Index", {0, 2, 2, 2}, {});
  Feed<float>(&ws, "dY", {0, 2, 2, 2}, {});
  RunOp(&ws, GradientWithIndex(kArgs));
  ExpectTensor<float>(ws, "dX", {0, 2, 4, 4}, {});
}

TEST(MaxPoolWithIndexTest, NamesWhatDoesNotFit) {
  Workspace ws;
  FeedRange<float>(&ws, "X", {1, 1, 2, 2});
  ExpectThrows([&] { RunOp(&ws, std::string(kTwo) + R"(arg { name: "order" s: "NHWC" })"); },
               "argument order is NHWC, want NCHW");
  Feed<float>(&ws, "dY", {1, 1, 1, 1}, {1});
  Feed<int32_t>(&ws, "Index", {1, 1, 1}, {3});
  ExpectThrows([&] { RunOp(&ws, GradientWithIndex(kArgs)); },
               "input 2 (Index) has shape [1, 1, 1], want [1, 1, 1, 1]");
  FeedRange<double>(&ws, "X", {1, 1, 2, 2});
  ExpectThrows([&] { RunOp(&ws, kTwo); }, "double");
}

// 24 planes of 5280 elements are divided among up to 8 threads. The windows do not overlap, so that
// the gradient of each is all that its element receives.
TEST(MaxPoolWithIndexTest, FindsTheSameWithAnyNumberOfThreads) {
  constexpr int64_t kPlanes = 24, kHeight = 66, kWidth = 80, kWindows = 33 * 40;
  std::vector<float> x, dy, want, want_dx(static_cast<size_t>(kPlanes * kHeight * kWidth));
  std::vector<int32_t> want_index;
  for (int64_t i = 0; i < kPlanes * kHeight * kWidth; ++i)
    x.push_back(static_cast<float>(i * 617 % 2039) - 1000);  // exact as float16
  for (int64_t i = 0; i < kPlanes * kWindows; ++i) {
    const int64_t plane = i / kWindows * kHeight * kWidth;
    const int64_t first = i % kWindows / 40 * 2 * kWidth + i % 40 * 2;
    int64_t at = first;
    for (const int64_t other : {first + 1, first + kWidth, first + kWidth + 1}) {
      if (x[static_cast<size_t>(plane + other)] > x[static_cast<size_t>(plane + at)]) at = other;
    }
    dy.push_back(static_cast<float>(i % 11) - 5);
    want.push_back(x[static_cast<size_t>(plane + at)]);
    want_index.push_back(static_cast<int32_t>(at));
    want_dx[static_cast<size_t>(plane + at)] = dy.back();
  }
  const std::vector<int64_t> dims = {4, 6, kHeight, kWidth}, out_dims = {4, 6, 33, 40};
  const auto half = [](const std::vector<float>& values) {
    return std::vector<float16>(values.begin(), values.end());
  };
  const auto wide = [](const std::vector<float16>& values) {
    return std::vector<float>(values.begin(), values.end());
  };
  Workspace ws;
  for (const int threads : {1, 2, 5}) {
    SCOPED_TRACE(MakeString(threads, " threads"));
    SetNumThreads(threads);
    Feed<float>(&ws, "X", dims, x);
    Feed<float>(&ws, "dY", out_dims, dy);
    RunOp(&ws, kTwo);
    ExpectTensor<float>(ws, "Y", out_dims, want);
    ExpectTensor<int32_t>(ws, "Index", out_dims, want_index);
    RunOp(&ws, GradientWithIndex(kArgs));
    ExpectTensor<float>(ws, "dX", dims, want_dx);
    Feed<float16>(&ws, "X", dims, half(x));
    Feed<float16>(&ws, "dY", out_dims, half(dy));
    RunOp(&ws, kTwo);
    EXPECT_EQ(wide(Fetch<float16>(ws, "Y")), want);
    EXPECT_EQ(Fetch<int32_t>(ws, "Index"), want_index);
    RunOp(&ws, GradientWithIndex(kArgs));
    EXPECT_EQ(wide(Fetch<float16>(ws, "dX")), want_dx);
    SetNumThreads(1);
  }
}

// On CUDA such an index has no effect.
TEST(MaxPoolWithIndexTest, ReportsAnIndexOutsideThePlane) {
  Workspace ws;
  FeedRange<float>(&ws, "X", {1, 1, 2, 2});
  Feed<float>(&ws, "dY", {1, 1, 1, 1}, {1});
  for (const int32_t index : {-2, 4}) {
    Feed<int32_t>(&ws, "Index", {1, 1, 1, 1}, {index});
    ExpectThrows([&] { RunOp(&ws, GradientWithIndex(kArgs)); },
                 MakeString("input 2 (Index) has value ", index, ", want -1 to 3"));
  }
}

}  // namespace
}  // namespace caffe2rt::max_pool_with_index_test
