#include <algorithm>
#include <limits>

#include "caffe2_core/runtime/operator_registry.h"
#include "tests/operators/pool/naive_pool.h"
#include "tests/support/gradient_test.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::max_pool_test {
namespace {

using namespace test;  // used throughout this file

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

class MaxPoolShapeTest : public testing::TestWithParam<std::vector<NaiveAxis>> {};

TEST_P(MaxPoolShapeTest, ReturnsTheLargestOfEachWindowInBothLayouts) {
  std::vector<NaiveAxis> axes = GetParam();
  constexpr int kBatch = 2, kChannels = 19;
  std::vector<int64_t> dims{kBatch, kChannels}, out_dims = dims, last{kBatch}, out_last{kBatch};
  for (const NaiveAxis& axis : axes) {
    dims.push_back(axis.in);
    last.push_back(axis.in);
    out_dims.push_back(axis.out());
    out_last.push_back(axis.out());
  }
  last.push_back(kChannels);
  out_last.push_back(kChannels);
  std::vector<NaiveAxis> padded(3 - axes.size());
  padded.insert(padded.end(), axes.begin(), axes.end());

  Workspace ws;
  FeedRandom(&ws, "X", dims);
  const std::vector<float> x = Fetch<float>(ws, "X");
  const std::vector<float> want =
      NaivePool(x, kBatch * kChannels, padded[0], padded[1], padded[2], false);
  RunOp(&ws, PoolOp("MaxPool", axes, "NCHW"));
  ExpectTensor<float>(ws, "Y", out_dims, want);
  ExpectShapeInferred(&ws, PoolOp("MaxPool", axes, "NCHW"));

  Feed<float>(&ws, "X", last, ToChannelsLast(x, kBatch, kChannels));
  RunOp(&ws, PoolOp("MaxPool", axes, "NHWC"));
  ExpectTensor<float>(ws, "Y", out_last, ToChannelsLast(want, kBatch, kChannels));
  ExpectShapeInferred(&ws, PoolOp("MaxPool", axes, "NHWC"));
}
INSTANTIATE_TEST_SUITE_P(Shapes, MaxPoolShapeTest, testing::ValuesIn(PoolShapes()));

constexpr char kTwo[] = R"(type: "MaxPool" input: "X" output: "Y" arg { name: "kernel" i: 2 }
                           arg { name: "stride" i: 2 })";

// The windows are {NaN 1 / NaN NaN}, {-inf -inf / -inf NaN} and {5 NaN / inf 2}. The expected
// values are the original's.
TEST(MaxPoolTest, KeepsANaNAtTheStartOfAWindowInNchw) {
  Workspace ws;
  Feed<float>(&ws, "X", {1, 1, 2, 6},
              {kNaN, 1, -kInf, -kInf, 5, kNaN, kNaN, kNaN, -kInf, kNaN, kInf, 2});
  RunOp(&ws, kTwo);
  ExpectTensor<float>(ws, "Y", {1, 1, 1, 3}, {kNaN, -kInf, kInf});
}

TEST(MaxPoolTest, PassesOverNaNAndStaysFiniteBelowInNhwc) {
  Workspace ws;
  Feed<float>(&ws, "X", {1, 2, 6, 1},
              {kNaN, 1, -kInf, -kInf, 5, kNaN, kNaN, kNaN, -kInf, kNaN, kInf, 2});
  RunOp(&ws, std::string(kTwo) + R"( arg { name: "order" s: "NHWC" })");
  ExpectTensor<float>(ws, "Y", {1, 1, 3, 1}, {1, std::numeric_limits<float>::lowest(), kInf});
}

TEST(MaxPoolTest, KeepsANaNAtTheStartOfAWindowOfOneAxisInBothLayouts) {
  Workspace ws;
  Feed<float>(&ws, "X", {1, 1, 4}, {kNaN, 3, 2, kNaN});
  const std::string op = R"(type: "MaxPool1D" input: "X" output: "Y" arg { name: "kernels" ints: 2 }
                            arg { name: "strides" ints: 2 })";
  RunOp(&ws, op);
  ExpectTensor<float>(ws, "Y", {1, 1, 2}, {kNaN, 2});
  Feed<float>(&ws, "X", {1, 4, 2}, {kNaN, 1, 3, kNaN, 2, 2, kNaN, 3});
  RunOp(&ws, op + R"( arg { name: "order" s: "NHWC" })");
  ExpectTensor<float>(ws, "Y", {1, 2, 2}, {kNaN, 1, 2, 3});
}

TEST(MaxPoolTest, GlobalPoolsAcceptAnyNumberOfAxes) {
  Workspace ws;
  for (const std::vector<int64_t>& rest :
       {std::vector<int64_t>{}, {6}, {2, 3}, {1, 2, 3}, {3, 1, 2, 1}}) {
    std::vector<int64_t> dims{2, 3}, want{2, 3};
    dims.insert(dims.end(), rest.begin(), rest.end());
    want.resize(dims.size(), 1);
    const std::string op =
        R"(type: "MaxPool" input: "X" output: "Y" arg { name: "global_pooling" i: 1 })";
    FeedRange<float>(&ws, "X", dims);
    RunOp(&ws, op);
    if (rest.empty()) {
      ExpectTensor<float>(ws, "Y", {2, 3}, {0, 1, 2, 3, 4, 5});
    } else {
      ExpectTensor<float>(ws, "Y", want, {5, 11, 17, 23, 29, 35});
    }
    ExpectShapeInferred(&ws, op);
  }
}

TEST(MaxPoolTest, RoundsUpAsCaffeDid) {
  Workspace ws;
  FeedRange<float>(&ws, "X", {1, 1, 6, 6}, 1);
  const std::string op = R"(type: "MaxPool2D" input: "X" output: "Y" arg { name: "kernel" i: 3 }
                            arg { name: "stride" i: 2 } arg { name: "legacy_pad" i: 3 })";
  RunOp(&ws, op);
  ExpectTensor<float>(ws, "Y", {1, 1, 3, 3}, {15, 17, 18, 27, 29, 30, 33, 35, 36});
  ExpectShapeInferred(&ws, op);
  // A window beyond the end of the input is empty.
  FeedRange<float>(&ws, "X", {1, 1, 1, 3}, 1);
  RunOp(&ws, R"(type: "MaxPool" input: "X" output: "Y" arg { name: "kernel" i: 1 }
                arg { name: "strides" ints: 1 ints: 3 } arg { name: "legacy_pad" i: 3 })");
  ExpectTensor<float>(ws, "Y", {1, 1, 1, 2}, {1, -kInf});
}

// Windows start at -1, 2 and 5. The last one is dropped if X ends at 5, and kept if X has one more
// element.
TEST(MaxPoolTest, LegacyPoolsDropAWindowThatStartsAtTheEnd) {
  for (const std::string order : {"NCHW", "NHWC"}) {
    const std::string op = R"(type: "MaxPool" input: "X" output: "Y" arg { name: "kernels" ints: 2 }
                              arg { name: "strides" ints: 3 } arg { name: "pads" ints: 1 ints: 1 }
                              arg { name: "legacy_pad" i: 3 } arg { name: "order" s: ")" +
                           order + "\" }";
    const auto dims = [&](int64_t n) {
      return order == "NCHW" ? std::vector<int64_t>{1, 1, n} : std::vector<int64_t>{1, n, 1};
    };
    Workspace ws;
    FeedRange<float>(&ws, "X", dims(5), 1);
    RunOp(&ws, op);
    ExpectTensor<float>(ws, "Y", dims(2), {1, 4});
    ExpectShapeInferred(&ws, op);
    FeedRange<float>(&ws, "X", dims(6), 1);
    RunOp(&ws, op);
    ExpectTensor<float>(ws, "Y", dims(3), {1, 4, 6});
  }
}

TEST(MaxPoolTest, ScalarArgumentsHoldForOneAxisAndListsDoNot) {
  Workspace ws;
  FeedRange<float>(&ws, "X", {1, 1, 7}, 1);
  const std::string scalars = R"(type: "MaxPool" input: "X" output: "Y" arg { name: "kernel" i: 3 }
                                 arg { name: "pad" i: 1 })";
  RunOp(&ws, scalars);
  ExpectTensor<float>(ws, "Y", {1, 1, 7}, {2, 3, 4, 5, 6, 7, 7});
  ExpectShapeInferred(&ws, scalars);
  const std::string lists = R"(type: "MaxPool" input: "X" output: "Y"
      arg { name: "kernels" ints: 3 ints: 3 } arg { name: "pads" ints: 1 ints: 0 ints: 2 ints: 0 }
      arg { name: "order" s: )";
  ExpectThrows([&] { RunOp(&ws, lists + "\"NCHW\" }"); },
               "with 1 spatial axes, want 2: one for each of kernels");
  ExpectThrows([&] { RunOp(&ws, lists + "\"NHWC\" }"); }, "one for each of kernels");
}

TEST(MaxPoolTest, SamePaddingCropsWhereTheStrideLeavesARest) {
  Workspace ws;
  FeedRange<float>(&ws, "X", {1, 1, 11});
  const std::string op = R"(type: "MaxPool" input: "X" output: "Y" arg { name: "kernels" ints: 1 }
                            arg { name: "strides" ints: 4 } arg { name: "legacy_pad" i: 2 })";
  RunOp(&ws, op);
  ExpectTensor<float>(ws, "Y", {1, 1, 3}, {1, 5, 9});
  ExpectShapeInferred(&ws, op);
}

TEST(MaxPoolTest, ValidWindowsMayBeLongerThanTheAxis) {
  Workspace ws;
  FeedRange<float>(&ws, "X", {1, 1, 3});
  const auto op = [](const std::string& stride) {
    return R"(type: "MaxPool" input: "X" output: "Y" arg { name: "kernels" ints: 5 }
              arg { name: "legacy_pad" i: 1 } arg { name: "strides" ints: )" +
           stride + " }";
  };
  RunOp(&ws, op("4"));
  ExpectTensor<float>(ws, "Y", {1, 1, 1}, {2});
  RunOp(&ws, op("2"));
  ExpectTensor<float>(ws, "Y", {1, 1, 0}, {});
  ExpectShapeInferred(&ws, op("2"));
  ExpectThrows([&] { RunOp(&ws, op("1")); }, "number of windows of 5 in");
}

TEST(MaxPoolTest, ForgetsTheShapeBefore) {
  const std::string op = R"(type: "MaxPool" input: "X" output: "Y" arg { name: "kernel" i: 2 }
                            arg { name: "stride" i: 2 }
                            arg { name: "pads" ints: 0 ints: 0 ints: 1 ints: 1 })";
  Workspace ws;
  Tensor* X = Feed<float>(&ws, "X", {1, 1, 1, 5}, {1, 2, 3, 4, 5});
  const std::unique_ptr<OperatorBase> pool = CreateOperator(ParseOp(op), &ws);
  ASSERT_TRUE(pool->Run());
  ExpectTensor<float>(ws, "Y", {1, 1, 1, 3}, {2, 4, 5});
  Feed<float>(&ws, "X", {1, 1, 1, 4}, {-1, -2, -3, -4});
  ASSERT_TRUE(pool->Run());
  ExpectTensor<float>(ws, "Y", {1, 1, 1, 2}, {-1, -3});
  X->Resize(0, 1, 3, 3);
  X->mutable_data<float>();
  ASSERT_TRUE(pool->Run());
  ExpectTensor<float>(ws, "Y", {0, 1, 2, 2}, {});
  Feed<float>(&ws, "X", {1, 1, 0, 4}, {});
  ExpectThrows([&] { pool->Run(); }, "want at least 1");
  Feed<float>(&ws, "X", {1, 1, 1, 4}, {-1, -2, -3, -4});
  ASSERT_TRUE(pool->Run());
  ExpectTensor<float>(ws, "Y", {1, 1, 1, 2}, {-1, -3});
}

TEST(MaxPoolTest, RejectsUnsupportedInputs) {
  Workspace ws;
  FeedRange<float>(&ws, "X", {1, 1, 4, 4});
  const auto with = [](const std::string& more) { return std::string(kTwo) + more; };
  ExpectThrows([&] { RunOp(&ws, with(R"(arg { name: "dilation" i: 2 })")); }, "dilation");
  ExpectThrows([&] { RunOp(&ws, with(R"(arg { name: "pad" i: 2 })")); }, "pads");
  ExpectThrows([&] { RunOp(&ws, with(R"(arg { name: "global_pooling" i: 1 })")); },
               "global_pooling");
  ExpectThrows([&] { RunOp(&ws, R"(type: "MaxPool" input: "X" output: "Y")"); }, "kernel");
  ExpectThrows([&] { RunOp(&ws, R"(type: "MaxPool" input: "X" output: "X")"); }, "place");
  FeedRange<float>(&ws, "X", {1, 1, 1, 4});
  ExpectThrows([&] { RunOp(&ws, kTwo); }, "want at least its dilated kernel");
  FeedRange<float>(&ws, "X", {4, 4});
  ExpectThrows([&] { RunOp(&ws, kTwo); }, "[4, 4]");
  FeedRange<float>(&ws, "X", {});
  ExpectThrows([&] { RunOp(&ws, kTwo); }, "input 0 (X)");
  FeedRange<double>(&ws, "X", {1, 1, 4, 4});
  ExpectThrows([&] { RunOp(&ws, kTwo); }, "double");
}

class MaxPoolGradientShapeTest : public testing::TestWithParam<std::vector<NaiveAxis>> {};

TEST_P(MaxPoolGradientShapeTest, IsTheGradientOfEachWindowInBothLayouts) {
  const std::vector<NaiveAxis> axes = GetParam();
  // 70 channels take two tasks in NHWC.
  const int channels = axes.back().in < 20 ? 70 : 5;
  std::vector<NaiveAxis> padded(3 - axes.size());
  padded.insert(padded.end(), axes.begin(), axes.end());

  Workspace ws;
  FeedRandom(&ws, "X", PoolDims(axes, 1, channels, false, false));
  FeedRandom(&ws, "dY", PoolDims(axes, 1, channels, false, true), -1, 1, 2);
  const std::vector<float> x = Fetch<float>(ws, "X"), dy = Fetch<float>(ws, "dY");
  const std::vector<float> want =
      NaivePoolGradient(x, dy, channels, padded[0], padded[1], padded[2], false);
  const std::string op = PoolOp("MaxPool", axes, "NCHW");
  RunOp(&ws, op);
  RunOp(&ws, GradientOf(op));
  ExpectTensor<float>(ws, "dX", PoolDims(axes, 1, channels, false, false), want, 1e-5);
  ExpectShapeInferred(&ws, GradientOf(op));

  Feed<float>(&ws, "X", PoolDims(axes, 1, channels, true, false), ToChannelsLast(x, 1, channels));
  Feed<float>(&ws, "dY", PoolDims(axes, 1, channels, true, true), ToChannelsLast(dy, 1, channels));
  const std::string last = PoolOp("MaxPool", axes, "NHWC");
  RunOp(&ws, last);
  RunOp(&ws, GradientOf(last));
  ExpectTensor<float>(ws, "dX", PoolDims(axes, 1, channels, true, false),
                      ToChannelsLast(want, 1, channels), 1e-5);
}
INSTANTIATE_TEST_SUITE_P(Shapes, MaxPoolGradientShapeTest, testing::ValuesIn(PoolShapes()));

TEST(MaxPoolGradientTest, GoesToAllElementsThatAreEqualToTheMaximum) {
  Workspace ws;
  Feed<float>(&ws, "X", {1, 1, 3, 3}, {1, 5, 5, 0, 2, 3, 7, 2, 2});
  Feed<float>(&ws, "dY", {1, 1, 2, 2}, {1, 10, 100, 1000});
  const std::string op = R"(type: "MaxPool" input: "X" output: "Y" arg { name: "kernel" i: 2 })";
  RunOp(&ws, op);
  RunOp(&ws, GradientOf(op));
  ExpectTensor<float>(ws, "dX", {1, 1, 3, 3}, {0, 11, 10, 0, 0, 1000, 100, 0, 0});
}

// A window with maximum NaN gives no gradient, as in Caffe2.
TEST(MaxPoolGradientTest, SkipsNaNAndReachesInfinities) {
  Workspace ws;
  Feed<float>(&ws, "X", {1, 1, 2, 6},
              {kNaN, 1, -kInf, -kInf, 5, kNaN, kNaN, kNaN, -kInf, kNaN, kInf, 2});
  Feed<float>(&ws, "dY", {1, 1, 1, 3}, {1, 2, 3});
  RunOp(&ws, kTwo);
  RunOp(&ws, R"(type: "MaxPoolGradient" input: "X" input: "Y" input: "dY" output: "dX"
                arg { name: "kernel" i: 2 } arg { name: "stride" i: 2 })");
  ExpectTensor<float>(ws, "dX", {1, 1, 2, 6}, {0, 0, 2, 2, 0, 0, 0, 0, 2, 0, 3, 0});
}

TEST(MaxPoolGradientTest, GlobalPoolsAcceptAnyNumberOfAxes) {
  for (const std::vector<int64_t>& dims :
       {std::vector<int64_t>{2, 1}, {2, 1, 4}, {2, 1, 2, 2}, {2, 1, 1, 2, 2}, {2, 1, 2, 1, 2, 1}}) {
    for (const char* order : {"NCHW", "NHWC"}) {
      std::vector<int64_t> shape = dims, out = dims;
      if (std::string(order) == "NHWC")
        std::rotate(shape.begin() + 1, shape.begin() + 2, shape.end());
      std::fill(out.begin() + 1, out.end(), 1);
      Workspace ws;
      const size_t n = dims.size() == 2 ? 1 : 4;
      std::vector<float> x, want;
      for (size_t i = 0; i < 2 * n; ++i) {
        x.push_back(static_cast<float>(i % n));
        want.push_back(i % n == n - 1 ? static_cast<float>(i / n + 3) : 0.0f);
      }
      Feed<float>(&ws, "X", shape, x);
      Feed<float>(&ws, "dY", out, {3, 4});
      const std::string op =
          MakeString(R"(type: "MaxPool" input: "X" output: "Y" arg { name: "global_pooling" i: 1 }
                        arg { name: "order" s: ")",
                     order, "\" }");
      RunOp(&ws, op);
      RunOp(&ws, GradientOf(op));
      ExpectTensor<float>(ws, "dX", shape, want);
    }
  }
}

TEST(MaxPoolGradientTest, AgreesWithDifferences) {
  const auto feed = [](Workspace* ws, const std::vector<int64_t>& dims, int n) {
    std::vector<float> x;  // different values in a mixed order
    for (int i = 0; i < n; ++i) x.push_back(static_cast<float>(i * 37 % n) / 4);
    Feed<float>(ws, "X", dims, x);
  };
  Workspace ws;
  feed(&ws, {1, 2, 11}, 22);
  ExpectGradientMatches(&ws, R"(type: "MaxPool1D" input: "X" output: "Y"
      arg { name: "kernels" ints: 3 } arg { name: "pads" ints: 2 ints: 1 })");
  feed(&ws, {1, 6, 4, 2}, 48);
  ExpectGradientMatches(&ws, R"(type: "MaxPool" input: "X" output: "Y" arg { name: "kernel" i: 3 }
      arg { name: "stride" i: 2 } arg { name: "legacy_pad" i: 3 }
      arg { name: "order" s: "NHWC" })");
  feed(&ws, {1, 1, 3, 3, 4}, 36);
  ExpectGradientMatches(&ws, R"(type: "MaxPool3D" input: "X" output: "Y"
      arg { name: "kernels" ints: 2 ints: 2 ints: 2 }
      arg { name: "strides" ints: 1 ints: 2 ints: 2 })");
}

TEST(MaxPoolGradientTest, ReadsInputAndOutput) {
  EXPECT_EQ(
      DescribeGradient(R"(type: "MaxPool2D" input: "X" output: "Y" arg { name: "kernel" i: 2 })"),
      "MaxPool2DGradient(X,Y,Y_grad)->X_grad kernel=2 | X_grad");
}

TEST(MaxPoolGradientTest, ForgetsTheShapeBeforeAndNamesWhatDoesNotFit) {
  Workspace ws;
  const std::string op = R"(type: "MaxPoolGradient" input: "X" input: "Y" input: "dY" output: "dX"
                            arg { name: "kernels" ints: 2 } arg { name: "strides" ints: 20 })";
  Tensor* X = Feed<float>(&ws, "X", {1, 1, 25}, std::vector<float>(25, 1.0f));
  Tensor* Y = Feed<float>(&ws, "Y", {1, 1, 2}, {1, 2});
  Tensor* dY = Feed<float>(&ws, "dY", {1, 1, 2}, {3, 4});
  const std::unique_ptr<OperatorBase> gradient = CreateOperator(ParseOp(op), &ws);
  ASSERT_TRUE(gradient->Run());
  std::vector<float> want(25);
  want[0] = want[1] = 3;  // the second window has no element that is equal to its Y
  ExpectTensor<float>(ws, "dX", {1, 1, 25}, want);
  X->Resize(0, 1, 25);
  X->mutable_data<float>();
  ExpectThrows([&] { gradient->Run(); },
               "input 1 (Y) has shape [1, 1, 2], want [0, 1, 2]: one value for each window");
  Y->Resize(0, 1, 2);
  ExpectThrows([&] { gradient->Run(); }, "input 2 (dY) has shape [1, 1, 2], want [0, 1, 2]");
  dY->Resize(0, 1, 2);
  ASSERT_TRUE(gradient->Run());
  ExpectTensor<float>(ws, "dX", {0, 1, 25}, {});
  Feed<double>(&ws, "X", {1, 1, 2}, {1, 2});
  ExpectThrows([&] { gradient->Run(); }, "double");
}

}  // namespace
}  // namespace caffe2rt::max_pool_test
