#include <cmath>
#include <limits>

#include "caffe2_core/base/thread_pool.h"
#include "tests/support/gradient_test.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::spatial_bn_test {
namespace {

using test::ExpectShapeInferred;
using test::ExpectTensor;
using test::ExpectThrows;
using test::Feed;
using test::FeedRandom;
using test::FeedRange;
using test::Fetch;
using test::RunOp;

constexpr char kTest[] = R"(type: "SpatialBN" input: "X" input: "s" input: "b" input: "m" input: "v"
                            output: "Y" arg { name: "is_test" i: 1 } arg { name: "epsilon" f: 1 })";
constexpr char kTrain[] =
    R"(type: "SpatialBN" input: "X" input: "s" input: "b" input: "m" input: "v"
                             output: "Y" output: "m" output: "v" output: "sm" output: "sv"
                             arg { name: "is_test" i: 0 } arg { name: "epsilon" f: 1 }
                             arg { name: "momentum" f: 0.5 })";

// With these parameters, the outputs of the two channels are
// (x - 1) / sqrt(3 + 1) * 2 + 10 = x + 9 and (x - 2) / sqrt(15 + 1) * 4 - 1 = x - 3.
void FeedParameters(Workspace* ws) {
  Feed<float>(ws, "s", {2}, {2, 4});
  Feed<float>(ws, "b", {2}, {10, -1});
  Feed<float>(ws, "m", {2}, {1, 2});
  Feed<float>(ws, "v", {2}, {3, 15});
}

TEST(SpatialBNTest, ScalesEachChannelByGivenStatistics) {
  Workspace ws;
  FeedParameters(&ws);
  FeedRange<float>(&ws, "X", {2, 2, 1, 3});
  RunOp(&ws, kTest);
  ExpectTensor<float>(ws, "Y", {2, 2, 1, 3}, {9, 10, 11, 0, 1, 2, 15, 16, 17, 6, 7, 8}, 1e-6);
  ExpectShapeInferred(&ws, kTest);
}

TEST(SpatialBNTest, TreatsTheLastAxisAsChannelsInNhwc) {
  Workspace ws;
  FeedParameters(&ws);
  FeedRange<float>(&ws, "X", {1, 3, 2});
  const std::string op = std::string(kTest) + R"( arg { name: "order" s: "NHWC" })";
  RunOp(&ws, op);
  ExpectTensor<float>(ws, "Y", {1, 3, 2}, {9, -2, 11, 0, 13, 2}, 1e-6);
  ExpectShapeInferred(&ws, op);
}

TEST(SpatialBNTest, TreatsAMatrixAsOnePositionAnImage) {
  Workspace ws;
  FeedParameters(&ws);
  FeedRange<float>(&ws, "X", {2, 2});
  RunOp(&ws, kTest);
  ExpectTensor<float>(ws, "Y", {2, 2}, {9, -2, 11, 0}, 1e-6);
}

TEST(SpatialBNTest, RunsInPlaceOverWholeVectorsAndTheirRest) {
  Workspace ws;
  FeedParameters(&ws);
  FeedRange<float>(&ws, "X", {1, 2, 5, 7});
  RunOp(&ws, R"(type: "SpatialBN" input: "X" input: "s" input: "b" input: "m" input: "v"
                output: "X" arg { name: "is_test" i: 1 } arg { name: "epsilon" f: 1 })");
  std::vector<float> want(70);
  for (int i = 0; i < 70; ++i) want[i] = static_cast<float>(i < 35 ? i + 9 : i - 3);
  ExpectTensor<float>(ws, "X", {1, 2, 5, 7}, want, 1e-6);
}

TEST(SpatialBNTest, TrainingUsesTheBatchAndMovesTheRunningValues) {
  Workspace ws;
  FeedParameters(&ws);
  // Channel 0 is 1 3 5 7, with mean 4 and variance 5. Channel 1 is 0 0 0 4, with mean 1 and
  // variance 3.
  Feed<float>(&ws, "X", {2, 2, 2}, {1, 3, 0, 0, 5, 7, 0, 4});
  RunOp(&ws, kTrain);
  const float a = 2 / std::sqrt(6.0f), c = 4 / std::sqrt(4.0f);
  ExpectTensor<float>(ws, "Y", {2, 2, 2},
                      {10 - 3 * a, 10 - a, -1 - c, -1 - c, 10 + a, 10 + 3 * a, -1 - c, -1 + 3 * c},
                      1e-5);
  ExpectTensor<float>(ws, "sm", {2}, {4, 1}, 1e-6);
  ExpectTensor<float>(ws, "sv", {2}, {1 / std::sqrt(6.0f), 0.5f}, 1e-6);
  // Halfway to the batch's mean, and to its unbiased variance (5 * 4/3 and 3 * 4/3).
  ExpectTensor<float>(ws, "m", {2}, {2.5f, 1.5f}, 1e-6);
  ExpectTensor<float>(ws, "v", {2}, {(3 + 20.0f / 3) / 2, (15 + 4.0f) / 2}, 1e-6);
  ExpectShapeInferred(&ws, kTrain);
}

TEST(SpatialBNTest, TrainingInNhwcEqualsTrainingInNchw) {
  Workspace nchw, nhwc;
  FeedParameters(&nchw);
  FeedParameters(&nhwc);
  Feed<float>(&nchw, "X", {2, 2, 2}, {1, 3, 0, 0, 5, 7, 0, 4});
  Feed<float>(&nhwc, "X", {2, 2, 2}, {1, 0, 3, 0, 5, 0, 7, 4});
  RunOp(&nchw, kTrain);
  RunOp(&nhwc, std::string(kTrain) + R"( arg { name: "order" s: "NHWC" })");
  for (const char* name : {"m", "v", "sm", "sv"}) {
    ExpectTensor<float>(nhwc, name, {2}, Fetch<float>(nchw, name), 1e-6);
  }
}

TEST(SpatialBNTest, UsesTheSumsOfSeveralBatches) {
  Workspace ws;
  FeedParameters(&ws);
  Feed<float>(&ws, "X", {1, 2, 2}, {1, 3, 0, 4});
  // Over 2 batches of 2 positions, the means are 2 and 3, the mean squares 6 and 10, the variances
  // 2 and 1.
  Feed<float>(&ws, "sum", {2}, {8, 12});
  Feed<float>(&ws, "squares", {2}, {24, 40});
  RunOp(&ws, R"(type: "SpatialBN" input: "X" input: "s" input: "b" input: "m" input: "v"
                input: "sum" input: "squares"
                output: "Y" output: "m" output: "v" output: "sm" output: "sv"
                arg { name: "is_test" i: 0 } arg { name: "num_batches" i: 2 })");
  ExpectTensor<float>(ws, "sm", {2}, {2, 3}, 1e-6);
  ExpectTensor<float>(ws, "sv", {2}, {1 / std::sqrt(2 + 1e-5f), 1 / std::sqrt(1 + 1e-5f)}, 1e-5);
}

TEST(SpatialBNTest, TrainingShapesTheRunningValuesAsChannels) {
  Workspace ws;
  FeedParameters(&ws);
  Feed<float>(&ws, "m", {2, 1}, {1, 2});
  Feed<float>(&ws, "v", {3}, {7, 7, 7});
  Feed<float>(&ws, "X", {1, 2, 2}, {4, 4, 6, 6});
  RunOp(&ws, kTrain);
  ExpectTensor<float>(ws, "m", {2}, {2.5f, 4}, 1e-6);
  // A running value of another size is reset to zero.
  ExpectTensor<float>(ws, "v", {2}, {0, 0}, 1e-6);
}

TEST(SpatialBNTest, AnEmptyBatchKeepsTheRunningValues) {
  Workspace ws;
  FeedParameters(&ws);
  Feed<float>(&ws, "X", {0, 2, 3}, {});
  RunOp(&ws, kTrain);
  ExpectTensor<float>(ws, "Y", {0, 2, 3}, {});
  ExpectTensor<float>(ws, "m", {2}, {1, 2});
  ExpectTensor<float>(ws, "sm", {2}, {0, 0});
  RunOp(&ws, kTest);
  ExpectTensor<float>(ws, "Y", {0, 2, 3}, {});
}

TEST(SpatialBNTest, APositionlessBatchDoesNotRunForever) {
  Workspace ws;
  FeedParameters(&ws);
  Feed<float>(&ws, "X", {int64_t{1} << 40, 2, 0}, {});
  RunOp(&ws, kTest);
  RunOp(&ws, kTrain);
  ExpectTensor<float>(ws, "sm", {2}, {0, 0});
}

TEST(SpatialBNTest, AcceptsAMomentumFromZeroToOne) {
  Workspace ws;
  FeedParameters(&ws);
  FeedRange<float>(&ws, "X", {2, 2});
  for (const char* momentum : {"0", "1"}) {
    RunOp(&ws, std::string(kTest) + R"(arg { name: "momentum" f: )" + momentum + " }");
  }
}

TEST(SpatialBNTest, InfersTheShapesOfTrainingWithoutIsTest) {
  const OperatorDef def =
      test::ParseOp(R"(type: "SpatialBN" input: "X" input: "s" input: "b" input: "m" input: "v"
                       output: "Y" output: "m" output: "v" output: "sm" output: "sv")");
  const std::vector<int64_t> dims = {2, 3, 4};
  const OpSchema* const schema = OpSchemaRegistry::Schema("SpatialBN");
  ASSERT_NE(schema, nullptr);
  const std::vector<TensorShape> shapes =
      schema->InferTensor(def, {CreateTensorShape(dims, TensorProto::FLOAT)});
  ASSERT_EQ(shapes.size(), 5u);
  EXPECT_EQ(GetDimsVector(shapes[0]), dims);
  for (size_t i = 1; i < shapes.size(); ++i) {
    EXPECT_EQ(GetDimsVector(shapes[i]), std::vector<int64_t>{3}) << "output " << i;
  }
}

TEST(SpatialBNTest, NamesWhatDoesNotFit) {
  Workspace ws;
  FeedParameters(&ws);
  FeedRange<float>(&ws, "X", {2, 3, 2});
  ExpectThrows([&] { RunOp(&ws, kTest); }, "input 1 (scale) of shape [2]");
  FeedRange<float>(&ws, "X", {2});
  ExpectThrows([&] { RunOp(&ws, kTest); }, "rank of input 0 (X) of shape [2]");
  FeedRange<double>(&ws, "X", {2, 2});
  ExpectThrows([&] { RunOp(&ws, kTest); }, "input 0 (X) holds double, want float");
  FeedRange<float>(&ws, "X", {2, 2});
  ExpectThrows([&] { RunOp(&ws, std::string(kTest) + R"(arg { name: "momentum" f: 2 })"); },
               R"(argument "momentum" is 2, want 0 to 1)");
  ExpectThrows([&] { RunOp(&ws, std::string(kTest) + R"(arg { name: "order" s: "HW" })"); },
               R"(argument "order" is "HW", want NCHW or NHWC)");
  ExpectThrows(
      [&] {
        RunOp(&ws, R"(type: "SpatialBN" input: "X" input: "s" input: "b" input: "m" input: "v"
                      output: "Y" arg { name: "is_test" i: 1 } arg { name: "epsilon" f: 0 })");
      },
      R"(argument "epsilon" is 0, want above 0)");
  ExpectThrows([&] { RunOp(&ws, std::string(kTest) + R"(arg { name: "momentum" f: -0.5 })"); },
               R"(argument "momentum" is -0.5, want 0 to 1)");
  ExpectThrows(
      [&] {
        RunOp(&ws, R"(type: "SpatialBN" input: "X" input: "s" input: "b" input: "m" input: "v"
                      output: "Y" arg { name: "is_test" i: 0 })");
      },
      "1 in testing, 5 in training");
  FeedRange<double>(&ws, "m", {2});
  ExpectThrows([&] { RunOp(&ws, kTrain); }, "input 3 (mean) holds double, want float");
  Feed<float>(&ws, "m", {2}, {1, 2});
  Feed<int32_t>(&ws, "v", {2}, {1, 2});
  ExpectThrows([&] { RunOp(&ws, kTrain); }, "input 4 (var) holds int32, want float");
  Feed<float>(&ws, "v", {2}, {1, 2});
  ExpectThrows([&] { RunOp(&ws, std::string(kTrain) + R"(arg { name: "num_batches" i: 2 })"); },
               "inputs 5 and 6 are the sums");
  ExpectThrows(
      [&] {
        RunOp(&ws, R"(type: "SpatialBN" input: "X" input: "s" input: "b" input: "m" input: "v"
                      output: "Y")");
      },
      "is_test");
}

constexpr char kGradient[] = R"(type: "SpatialBNGradient" input: "X" input: "s" input: "dY"
                                input: "m" input: "i" output: "dX" output: "ds" output: "db")";
constexpr char kGradientOfBatches[] =
    R"(type: "SpatialBNGradient" input: "X" input: "s" input: "dY" input: "m" input: "i"
       input: "ds" input: "db" output: "dX" output: "ds" output: "db"
       arg { name: "num_batches" i: 2 })";

// With mean and inverse deviation, the values of channel 0 are -1.5 -0.5 0.5 1.5, those of channel 1
// -0.5 -0.5 -0.5 1.5.
void FeedGradient(Workspace* ws) {
  Feed<float>(ws, "X", {2, 2, 2}, {1, 3, 0, 0, 5, 7, 0, 4});
  Feed<float>(ws, "dY", {2, 2, 2}, {1, 0, 0, 0, 0, 1, 0, 4});
  Feed<float>(ws, "s", {2}, {2, 4});
  Feed<float>(ws, "m", {2}, {4, 1});
  Feed<float>(ws, "i", {2}, {0.5f, 0.5f});
}

TEST(SpatialBNGradientTest, SubtractsTheMeansOfTheGradient) {
  Workspace ws;
  FeedGradient(&ws);
  ExpectShapeInferred(&ws, kGradient);
  ExpectTensor<float>(ws, "ds", {2}, {0, 6}, 1e-6);
  ExpectTensor<float>(ws, "db", {2}, {2, 4}, 1e-6);
  const std::vector<float> dx = {0.5f, -0.5f, -0.5f, -0.5f, -0.5f, 0.5f, -0.5f, 1.5f};
  ExpectTensor<float>(ws, "dX", {2, 2, 2}, dx, 1e-6);
  Feed<float>(&ws, "X", {2, 2, 2}, {1, 0, 3, 0, 5, 0, 7, 4});
  Feed<float>(&ws, "dY", {2, 2, 2}, {1, 0, 0, 0, 0, 0, 1, 4});
  RunOp(&ws, std::string(kGradient) + R"(arg { name: "order" s: "NHWC" })");
  ExpectTensor<float>(ws, "dX", {2, 2, 2}, {0.5f, -0.5f, -0.5f, -0.5f, -0.5f, -0.5f, 0.5f, 1.5f},
                      1e-6);
}

TEST(SpatialBNGradientTest, TreatsGivenStatisticsAsConstants) {
  const std::string kFrozen = std::string(kGradient) + R"(
      arg { name: "is_test" i: 1 } arg { name: "epsilon" f: 1 } arg { name: "num_batches" i: 2 })";
  Workspace ws;
  FeedGradient(&ws);
  Feed<float>(&ws, "i", {2}, {3, 0});  // variances: the inverse deviations are 0.5 and 1
  ExpectShapeInferred(&ws, kFrozen);
  ExpectTensor<float>(ws, "dX", {2, 2, 2}, {1, 0, 0, 0, 0, 1, 0, 16}, 1e-6);
  ExpectTensor<float>(ws, "ds", {2}, {0, 12}, 1e-6);
  ExpectTensor<float>(ws, "db", {2}, {2, 4}, 1e-6);
  Feed<float>(&ws, "X", {2, 2, 2}, {1, 0, 3, 0, 5, 0, 7, 4});
  Feed<float>(&ws, "dY", {2, 2, 2}, {1, 0, 0, 0, 0, 0, 1, 4});
  RunOp(&ws, kFrozen + R"(arg { name: "order" s: "NHWC" })");
  ExpectTensor<float>(ws, "dX", {2, 2, 2}, {1, 0, 0, 0, 0, 0, 1, 16}, 1e-6);
  ExpectTensor<float>(ws, "ds", {2}, {0, 12}, 1e-6);
  Feed<float>(&ws, "X", {0, 2, 2}, {});
  Feed<float>(&ws, "dY", {0, 2, 2}, {});
  RunOp(&ws, kFrozen);
  ExpectTensor<float>(ws, "dX", {0, 2, 2}, {});
  ExpectTensor<float>(ws, "ds", {2}, {0, 0});
  ExpectTensor<float>(ws, "db", {2}, {0, 0});
}

TEST(SpatialBNGradientTest, UsesTheSumsOfSeveralBatchesInPlace) {
  Workspace ws;
  FeedGradient(&ws);
  Feed<float>(&ws, "ds", {2}, {4, 6});
  Feed<float>(&ws, "db", {2}, {8, 2});
  RunOp(&ws, kGradientOfBatches);
  ExpectTensor<float>(ws, "ds", {2}, {2, 3}, 1e-6);
  ExpectTensor<float>(ws, "db", {2}, {4, 1}, 1e-6);
  ExpectTensor<float>(ws, "dX", {2, 2, 2},
                      {0.75f, -0.75f, 0.25f, 0.25f, -1.25f, -0.75f, 0.25f, 5.25f}, 1e-6);
  // For an empty batch all gradients are zero, whatever the sums.
  Feed<float>(&ws, "X", {0, 2, 2}, {});
  Feed<float>(&ws, "dY", {0, 2, 2}, {});
  RunOp(&ws, kGradientOfBatches);
  ExpectTensor<float>(ws, "dX", {0, 2, 2}, {});
  ExpectTensor<float>(ws, "ds", {2}, {0, 0});
  ExpectTensor<float>(ws, "db", {2}, {0, 0});
}

TEST(SpatialBNGradientTest, AgreesWithDifferences) {
  const test::GradientCheck check = {.inputs = {"X", "s", "b"},
                                     .outputs_without_gradient = {"m", "v", "sm", "sv"}};
  for (const std::string order : {"NCHW", "NHWC"}) {
    Workspace ws;
    const int64_t channels = order == "NCHW" ? 2 : 17;
    if (order == "NCHW") {
      FeedRandom(&ws, "X", {2, channels, 9}, -2, 3);
    } else {
      FeedRandom(&ws, "X", {1, 3, channels}, -2, 3);
    }
    FeedRandom(&ws, "s", {channels}, 0.5f, 2, 2);
    FeedRandom(&ws, "b", {channels}, -1, 1, 3);
    FeedRandom(&ws, "m", {channels}, -1, 1, 4);
    FeedRandom(&ws, "v", {channels}, 1, 2, 5);
    test::ExpectGradientMatches(
        &ws, std::string(kTrain) + R"( arg { name: "order" s: ")" + order + "\" }", check);
  }
}

TEST(SpatialBNGradientTest, ThreadsDoNotChangeTheResult) {
  Workspace ws;
  const std::vector<int64_t> dims = {1, 3, 256, 256};  // three pieces of one channel
  FeedRandom(&ws, "X", dims, -2, 3);
  FeedRandom(&ws, "dY", dims, -1, 1, 2);
  for (const char* name : {"s", "m", "i"}) FeedRandom(&ws, name, {3}, 0.5f, 2);
  RunOp(&ws, kGradient);
  const std::vector<float> dx = Fetch<float>(ws, "dX"), ds = Fetch<float>(ws, "ds");
  SetNumThreads(3);
  RunOp(&ws, kGradient);
  SetNumThreads(1);
  ExpectTensor<float>(ws, "dX", dims, dx);
  ExpectTensor<float>(ws, "ds", {3}, ds);
}

TEST(SpatialBNGradientTest, UsesTheSavedStatisticsOrTheGivenOnes) {
  EXPECT_EQ(test::DescribeGradient(kTest),
            "SpatialBNGradient(X,s,Y_grad,m,v)->X_grad,s_grad,b_grad is_test=1 epsilon=1 | "
            "X_grad s_grad b_grad - -");
  EXPECT_EQ(test::DescribeGradient(kTrain),
            "SpatialBNGradient(X,s,Y_grad,sm,sv)->X_grad,s_grad,b_grad is_test=0 epsilon=1 "
            "momentum=0.5 | X_grad s_grad b_grad - -");
  const std::string batches = test::DescribeGradient(
      R"(type: "SpatialBN" input: "X" input: "s" input: "b" input: "m" input: "v" input: "sum"
         input: "squares" output: "Y" output: "m" output: "v" output: "sm" output: "sv"
         arg { name: "is_test" i: 0 } arg { name: "num_batches" i: 2 })");
  EXPECT_EQ(batches.substr(0, batches.find("->")),
            "SpatialBNGradient(X,s,Y_grad,sm,sv,s_grad,b_grad)");
  ExpectThrows(
      [] { test::DescribeGradient(std::string(kTrain) + R"(arg { name: "num_batches" i: 2 })"); },
      "inputs, want 7 with num_batches above 1");
}

TEST(SpatialBNGradientTest, NamesWhatDoesNotFit) {
  Workspace ws;
  FeedGradient(&ws);
  ExpectThrows([&] { RunOp(&ws, std::string(kGradient) + R"(arg { name: "num_batches" i: 2 })"); },
               "inputs 5 and 6 are the sums");
  Feed<float>(&ws, "dY", {2}, {1, 2});
  ExpectThrows([&] { RunOp(&ws, kGradient); }, "elements of input 2 (dY) of shape [2]");
  Feed<float>(&ws, "i", {3}, {1, 2, 3});
  FeedRandom(&ws, "dY", {2, 2, 2});
  ExpectThrows([&] { RunOp(&ws, kGradient); }, "elements of input 4 (inv) of shape [3]");
  FeedRange<float>(&ws, "X", {4, 2});
  ExpectThrows([&] { RunOp(&ws, kGradient); }, "rank of input 0 (X) of shape [4, 2]");
}

TEST(SpatialBNTest, ThreadsDoNotChangeTheResultInTesting) {
  Workspace ws;
  FeedRandom(&ws, "X", {2, 19, 61, 19}, -2, 3);
  uint32_t seed = 2;
  for (const char* name : {"s", "b", "m", "v"}) FeedRandom(&ws, name, {19}, 0.5f, 2, seed++);
  for (const char* order : {"NCHW", "NHWC"}) {
    test::ExpectSameBitsForAllThreads(
        &ws, MakeString(R"(type: "SpatialBN" input: "X" input: "s" input: "b" input: "m" input: "v"
                           output: "Y" arg { name: "is_test" i: 1 } arg { name: "order" s: ")",
                        order, "\" }"));
  }
}

}  // namespace
}  // namespace caffe2rt::spatial_bn_test
