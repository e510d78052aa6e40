#include <limits>

#include "caffe2_core/base/thread_pool.h"
#include "tests/operators/pool/naive_pool.h"
#include "tests/support/gradient_test.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::average_pool_test {
namespace {

using namespace test;  // used throughout this file

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

class AveragePoolShapeTest
    : public testing::TestWithParam<std::tuple<std::vector<NaiveAxis>, bool>> {};

TEST_P(AveragePoolShapeTest, ComputesTheMeanOfEachWindowInBothLayouts) {
  const auto& [axes, include_pad] = GetParam();
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
  const std::string more =
      include_pad ? R"( arg { name: "count_include_pad" i: 1 })" : std::string();

  Workspace ws;
  FeedRandom(&ws, "X", dims);
  const std::vector<float> x = Fetch<float>(ws, "X");
  const std::vector<float> want =
      NaivePool(x, kBatch * kChannels, padded[0], padded[1], padded[2], true, include_pad);
  RunOp(&ws, PoolOp("AveragePool", axes, "NCHW") + more);
  ExpectTensor<float>(ws, "Y", out_dims, want, 1e-6);
  ExpectShapeInferred(&ws, PoolOp("AveragePool", axes, "NCHW") + more);

  Feed<float>(&ws, "X", last, ToChannelsLast(x, kBatch, kChannels));
  RunOp(&ws, PoolOp("AveragePool", axes, "NHWC") + more);
  ExpectTensor<float>(ws, "Y", out_last, ToChannelsLast(want, kBatch, kChannels), 1e-6);
}
INSTANTIATE_TEST_SUITE_P(Shapes, AveragePoolShapeTest,
                         testing::Combine(testing::ValuesIn(PoolShapes()), testing::Bool()));

class AveragePoolGlobalTest : public testing::TestWithParam<int> {};

TEST_P(AveragePoolGlobalTest, IsTheMeanOfEachPlane) {
  const int n = GetParam();
  Workspace ws;
  // Plane c holds the values c * n to c * n + n - 1. Their mean is c * n + (n - 1) / 2.
  FeedRange<float>(&ws, "X", {1, 3, 1, n});
  const std::string op =
      R"(type: "AveragePool" input: "X" output: "Y" arg { name: "global_pooling" i: 1 })";
  RunOp(&ws, op);
  std::vector<float> want;
  for (int c = 0; c < 3; ++c) want.push_back(static_cast<float>(c * n + (n - 1) / 2.0));
  ExpectTensor<float>(ws, "Y", {1, 3, 1, 1}, want, 1e-6);
  Feed<float>(&ws, "X", {1, 1, n, 3}, ToChannelsLast(Fetch<float>(ws, "X"), 1, 3));
  RunOp(&ws, op + R"( arg { name: "order" s: "NHWC" })");
  ExpectTensor<float>(ws, "Y", {1, 1, 1, 3}, want, 1e-6);
}
INSTANTIATE_TEST_SUITE_P(Sizes, AveragePoolGlobalTest,
                         testing::Values(1, 15, 16, 49, 64, 169, 1000));

TEST(AveragePoolTest, DividesByThePartInsideUnderCaffesRounding) {
  Workspace ws;
  FeedRange<float>(&ws, "X", {1, 1, 6, 6}, 1);
  const std::string op = R"(type: "AveragePool" input: "X" output: "Y" arg { name: "kernel" i: 3 }
                            arg { name: "stride" i: 2 } arg { name: "legacy_pad" i: 3 })";
  RunOp(&ws, op);
  ExpectTensor<float>(ws, "Y", {1, 1, 3, 3}, {8, 10, 11.5f, 20, 22, 23.5f, 29, 31, 32.5f}, 1e-6);
  ExpectShapeInferred(&ws, op);
}

TEST(AveragePoolTest, TheMeanOfNothingIsNaN) {
  Workspace ws;
  FeedRange<float>(&ws, "X", {1, 1, 3, 3}, 1);
  RunOp(&ws, R"(type: "AveragePool" input: "X" output: "Y" arg { name: "kernel" i: 1 }
                arg { name: "stride" i: 3 } arg { name: "legacy_pad" i: 3 })");
  ExpectTensor<float>(ws, "Y", {1, 1, 2, 2}, {1, kNaN, kNaN, kNaN});
}

TEST(AveragePoolTest, PadsAsTensorFlowDoesWhenSame) {
  Workspace ws;
  FeedRange<float>(&ws, "X", {1, 1, 1, 5}, 1);
  const std::string op = R"(type: "AveragePool" input: "X" output: "Y"
                            arg { name: "kernels" ints: 1 ints: 2 }
                            arg { name: "strides" ints: 1 ints: 2 }
                            arg { name: "legacy_pad" i: 2 })";
  RunOp(&ws, op);
  ExpectTensor<float>(ws, "Y", {1, 1, 1, 3}, {1.5f, 3.5f, 5});
  ExpectShapeInferred(&ws, op);
}

TEST(AveragePoolTest, AnEmptyBatchGivesNothing) {
  Workspace ws;
  Feed<float>(&ws, "X", {0, 2, 4, 4}, {});
  const std::string op =
      R"(type: "AveragePool2D" input: "X" output: "Y" arg { name: "kernel" i: 2 })";
  RunOp(&ws, op);
  ExpectTensor<float>(ws, "Y", {0, 2, 3, 3}, {});
  ExpectShapeInferred(&ws, op);
}

class AveragePoolGradientShapeTest
    : public testing::TestWithParam<std::tuple<std::vector<NaiveAxis>, bool>> {};

TEST_P(AveragePoolGradientShapeTest, IsTheGradientOfEachWindowInBothLayouts) {
  const auto& [axes, include_pad] = GetParam();
  // 70 channels take two tasks in NHWC.
  const int channels = axes.back().in < 20 ? 70 : 5;
  std::vector<NaiveAxis> padded(3 - axes.size());
  padded.insert(padded.end(), axes.begin(), axes.end());
  const std::string more =
      include_pad ? R"( arg { name: "count_include_pad" i: 1 })" : std::string();
  Workspace ws;
  FeedRandom(&ws, "X", PoolDims(axes, 1, channels, false, false));
  FeedRandom(&ws, "dY", PoolDims(axes, 1, channels, false, true), -1, 1, 2);
  const std::vector<float> x = Fetch<float>(ws, "X"), dy = Fetch<float>(ws, "dY");
  const std::vector<float> want =
      NaivePoolGradient(x, dy, channels, padded[0], padded[1], padded[2], true, include_pad);
  const std::string op = PoolOp("AveragePool", axes, "NCHW") + more;
  RunOp(&ws, op);
  RunOp(&ws, GradientOf(op));
  ExpectTensor<float>(ws, "dX", PoolDims(axes, 1, channels, false, false), want, 1e-5);
  ExpectShapeInferred(&ws, GradientOf(op));

  Feed<float>(&ws, "X", PoolDims(axes, 1, channels, true, false), ToChannelsLast(x, 1, channels));
  Feed<float>(&ws, "dY", PoolDims(axes, 1, channels, true, true), ToChannelsLast(dy, 1, channels));
  const std::string last = PoolOp("AveragePool", axes, "NHWC") + more;
  RunOp(&ws, last);
  RunOp(&ws, GradientOf(last));
  ExpectTensor<float>(ws, "dX", PoolDims(axes, 1, channels, true, false),
                      ToChannelsLast(want, 1, channels), 1e-5);
}
INSTANTIATE_TEST_SUITE_P(Shapes, AveragePoolGradientShapeTest,
                         testing::Combine(testing::ValuesIn(PoolShapes()), testing::Bool()));

TEST(AveragePoolGradientTest, DividesByThePartInside) {
  Workspace ws;
  FeedRange<float>(&ws, "X", {1, 1, 3});
  Feed<float>(&ws, "dY", {1, 1, 2}, {6, 8});
  const std::string op = R"(type: "AveragePool1D" input: "X" output: "Y"
      arg { name: "kernels" ints: 3 } arg { name: "strides" ints: 2 }
      arg { name: "pads" ints: 1 ints: 1 })";
  RunOp(&ws, op);
  const std::string gradient = R"(type: "AveragePool1DGradient" input: "X" input: "Y" input: "dY"
      output: "dX" arg { name: "kernels" ints: 3 } arg { name: "strides" ints: 2 }
      arg { name: "pads" ints: 1 ints: 1 })";
  RunOp(&ws, gradient);
  ExpectTensor<float>(ws, "dX", {1, 1, 3}, {3, 7, 4});
  RunOp(&ws, gradient + R"(arg { name: "count_include_pad" i: 1 })");
  ExpectTensor<float>(ws, "dX", {1, 1, 3}, {2, 14 / 3.0f, 8 / 3.0f}, 1e-6);
}

TEST(AveragePoolGradientTest, GlobalPoolsDivideByThePlane) {
  Workspace ws;
  Feed<float>(&ws, "dY", {1, 2, 1, 1}, {4, 8});
  FeedRange<float>(&ws, "X", {1, 2, 2, 2});
  const std::string op =
      R"(type: "AveragePool" input: "X" output: "Y" arg { name: "global_pooling" i: 1 })";
  RunOp(&ws, op);
  RunOp(&ws, GradientOf(op));
  ExpectTensor<float>(ws, "dX", {1, 2, 2, 2}, {1, 1, 1, 1, 2, 2, 2, 2});
  Feed<float>(&ws, "dY", {1, 1, 1, 2}, {4, 8});
  FeedRange<float>(&ws, "X", {1, 2, 2, 2});
  const std::string last = op + R"( arg { name: "order" s: "NHWC" })";
  RunOp(&ws, last);
  RunOp(&ws, GradientOf(last));
  ExpectTensor<float>(ws, "dX", {1, 2, 2, 2}, {1, 2, 1, 2, 1, 2, 1, 2});
}

TEST(AveragePoolGradientTest, AgreesWithDifferences) {
  Workspace ws;
  for (const char* more : {R"(arg { name: "stride" i: 2 } arg { name: "legacy_pad" i: 3 })",
                           R"(arg { name: "pad" i: 1 } arg { name: "order" s: "NHWC" })",
                           R"(arg { name: "pad" i: 1 } arg { name: "count_include_pad" i: 1 })"}) {
    FeedRandom(&ws, "X", {1, 4, 4, 2});
    ExpectGradientMatches(&ws, std::string(R"(type: "AveragePool" input: "X" output: "Y"
        arg { name: "kernel" i: 3 } )") +
                                   more);
  }
}

TEST(AveragePoolGradientTest, AnEmptyBatchGivesNothing) {
  Workspace ws;
  Feed<float>(&ws, "X", {0, 2, 4, 4}, {});
  Feed<float>(&ws, "dY", {0, 2, 3, 3}, {});
  const std::string op =
      R"(type: "AveragePool2D" input: "X" output: "Y" arg { name: "kernel" i: 2 })";
  RunOp(&ws, op);
  RunOp(&ws, GradientOf(op));
  ExpectTensor<float>(ws, "dX", {0, 2, 4, 4}, {});
}

TEST(AveragePoolGradientTest, ReadsInputAndOutput) {
  EXPECT_EQ(
      DescribeGradient(R"(type: "AveragePool" input: "X" output: "Y" arg { name: "kernel" i: 2 })"),
      "AveragePoolGradient(X,Y,Y_grad)->X_grad kernel=2 | X_grad");
}

TEST(PoolGradientTest, DoesNotDependOnTheNumberOfThreads) {
  Workspace ws;
  FeedRandom(&ws, "X", {3, 10, 40, 50});
  for (const char* type : {"AveragePool", "MaxPool", "LpPool"}) {
    for (const char* args : {R"(arg { name: "kernel" i: 3 } arg { name: "stride" i: 2 })",
                             R"(arg { name: "kernel" i: 2 } arg { name: "stride" i: 2 })",
                             R"(arg { name: "global_pooling" i: 1 })",
                             R"(arg { name: "kernel" i: 3 } arg { name: "order" s: "NHWC" })"}) {
      const std::string op = MakeString("type: \"", type, "\" input: \"X\" output: \"Y\" ", args);
      const auto run = [&](int threads) {
        SetNumThreads(threads);
        RunOp(&ws, op);
        FeedRandom(&ws, "dY", DimsOf(ws, "Y"));
        RunOp(&ws, GradientOf(op));
        SetNumThreads(1);
        return Fetch<float>(ws, "dX");
      };
      EXPECT_EQ(run(3), run(1)) << op;
    }
  }
}

TEST(PoolTest, ThreadsDoNotChangeTheResult) {
  Workspace ws;
  FeedRandom(&ws, "X", {3, 17, 40, 50});
  for (const char* type : {"AveragePool", "MaxPool"}) {
    for (const char* args :
         {R"(arg { name: "kernel" i: 3 } arg { name: "stride" i: 2 } arg { name: "pad" i: 1 })",
          R"(arg { name: "kernel" i: 7 } arg { name: "stride" i: 3 })",
          R"(arg { name: "global_pooling" i: 1 })",
          R"(arg { name: "kernel" i: 3 } arg { name: "order" s: "NHWC" })"}) {
      ExpectSameBitsForAllThreads(
          &ws, MakeString("type: \"", type, "\" input: \"X\" output: \"Y\" ", args));
    }
  }
}

}  // namespace
}  // namespace caffe2rt::average_pool_test
