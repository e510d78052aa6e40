// Int8Relu, Int8LeakyRelu, Int8Sigmoid, Int8Softmax.
#include <cmath>

#include "caffe2_core/runtime/operator_registry.h"
#include "tests/operators/int8/int8_blobs.h"

namespace caffe2rt::int8_functions_test {
namespace {

using namespace test;  // used throughout this file

std::vector<uint8_t> AllBytes() {
  std::vector<uint8_t> all(256);
  for (size_t i = 0; i < all.size(); ++i) all[i] = static_cast<uint8_t>(i);
  return all;
}

void ExpectInfersItsInput(const std::string& op) {
  Workspace ws;
  FeedInt8(&ws, "X", {2, 3}, RandomBytes(6, 1), 0.5f, 100);
  const std::vector<TensorShape> shapes = InferShapes(ws, ParseOp(op));
  EXPECT_EQ(GetDimsVector(shapes.at(0)), (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(shapes.at(0).data_type(), TensorProto::UINT8);
}

TEST(Int8ReluTest, ReplacesNegativeElements) {
  Workspace ws;
  FeedInt8(&ws, "X", {4}, {0, 99, 100, 255}, 0.5f, 100);
  const std::string op = Int8Op("Int8Relu", "X", "Y", 0.5f, 100);
  RunOp(&ws, op);
  ExpectInt8(ws, "Y", {4}, {100, 100, 100, 255}, 0.5f, 100);
  RunOp(&ws, Int8Op("Int8Relu", "X", "X", 0.5f, 100));
  ExpectInt8(ws, "X", {4}, {100, 100, 100, 255}, 0.5f, 100);
  FeedInt8(&ws, "X", {0, 2}, {}, 0.5f, 100);
  RunOp(&ws, op);
  ExpectInt8(ws, "Y", {0, 2}, {}, 0.5f, 100);
  ExpectInfersItsInput(op);
  ExpectChecksInt8Input(&ws, op);
}

TEST(Int8ReluTest, RejectsAnotherQuantization) {
  Workspace ws;
  FeedInt8(&ws, "X", {1}, {1}, 0.5f, 100);
  ExpectThrows([&] { RunOp(&ws, Int8Op("Int8Relu", "X", "Y", 0.25f, 100)); },
               "argument Y_scale is 0.25, want 0.5, the scale of input 0");
  ExpectThrows([&] { RunOp(&ws, Int8Op("Int8Relu", "X", "Y", 0.5f, 7)); },
               "argument Y_zero_point is 7, want 100, the zero point of input 0");
}

TEST(Int8LeakyReluTest, MultipliesNegativeElementsByAlpha) {
  Workspace ws;
  FeedInt8(&ws, "X", {5}, {60, 90, 100, 104, 255}, 0.5f, 100);  // -20, -5, 0, 2, 77.5
  const std::string op = Int8Op("Int8LeakyRelu", "X", "Y", 0.25f, 50, FloatArg("alpha", 0.125f));
  RunOp(&ws, op);
  // -10 steps; -2.5 steps round to even; 8 steps; 310 steps.
  ExpectInt8(ws, "Y", {5}, {40, 48, 50, 58, 255}, 0.25f, 50);
  FeedInt8(&ws, "X", {1}, {104}, 1.5f, 100);  // another quantization: another table
  RunOp(&ws, Int8Op("Int8LeakyRelu", "X", "X", 1, 0));
  ExpectInt8(ws, "X", {1}, {6}, 1, 0);
  ExpectInfersItsInput(op);
  for (const float alpha : {0.0f, 1.0f, -1.0f}) {
    ExpectThrows(
        [&] { RunOp(&ws, Int8Op("Int8LeakyRelu", "X", "Y", 1, 0, FloatArg("alpha", alpha))); },
        "want above 0 and below 1");
  }
  ExpectChecksInt8Input(&ws, op);
}

TEST(Int8LeakyReluTest, MakesItsTableAgainForAnotherQuantization) {
  Workspace ws;
  FeedInt8(&ws, "X", {1}, {104}, 0.5f, 100);
  const auto op = CreateOperator(ParseOp(Int8Op("Int8LeakyRelu", "X", "Y", 0.5f, 0)), &ws);
  ASSERT_TRUE(op->Run());
  EXPECT_EQ(FetchInt8(ws, "Y")[0], 4);
  FeedInt8(&ws, "X", {1}, {104}, 0.5f, 98);
  ASSERT_TRUE(op->Run());
  EXPECT_EQ(FetchInt8(ws, "Y")[0], 6);
}

TEST(Int8SigmoidTest, AgreesWithTheFunction) {
  Workspace ws;
  FeedInt8(&ws, "X", {256}, AllBytes(), 0.05f, 120);
  const std::string op = Int8Op("Int8Sigmoid", "X", "Y", 0.00390625f, 0);
  RunOp(&ws, op);
  const std::vector<uint8_t> y = FetchInt8(ws, "Y");
  for (int i = 0; i < 256; ++i) {
    const double want = 256 / (1 + std::exp(-0.05 * (i - 120)));
    EXPECT_NEAR(y[static_cast<size_t>(i)], std::min(want, 255.0), 0.501) << i;
  }
  EXPECT_EQ(y[120], 128);
  ExpectInfersItsInput(op);
  ExpectThrows([&] { RunOp(&ws, Int8Op("Int8Sigmoid", "X", "Y", 0.5f, 0)); },
               "argument Y_scale is 0.5, want 0.00390625 (1/256)");
  ExpectThrows([&] { RunOp(&ws, Int8Op("Int8Sigmoid", "X", "Y", 0.00390625f, 1)); },
               "argument Y_zero_point");
  ExpectChecksInt8Input(&ws, op);
}

TEST(Int8SoftmaxTest, AgreesWithTheFunctionInEachRow) {
  Workspace ws;
  const std::vector<uint8_t> x = RandomBytes(3 * 2 * 5, 4);
  FeedInt8(&ws, "X", {3, 2, 5}, x, 0.02f, 77);
  const std::string op = Int8Op("Int8Softmax", "X", "Y", 0.00390625f, 0, IntArg("axis", 2));
  RunOp(&ws, op);
  const std::vector<uint8_t> y = FetchInt8(ws, "Y");
  for (size_t row = 0; row < 3; ++row) {
    double sum = 0;
    for (size_t i = 0; i < 10; ++i) sum += std::exp(0.02 * x[row * 10 + i]);
    for (size_t i = 0; i < 10; ++i) {
      const double want = 256 * std::exp(0.02 * x[row * 10 + i]) / sum;
      EXPECT_NEAR(y[row * 10 + i], want, 0.51);
    }
  }
  ExpectInfersItsInput(op);
}

TEST(Int8SoftmaxTest, OneElementIsCertain) {
  Workspace ws;
  FeedInt8(&ws, "X", {2, 1}, {3, 200}, 0.02f, 77);
  RunOp(&ws, Int8Op("Int8Softmax", "X", "Y", 0.00390625f, 0));
  ExpectInt8(ws, "Y", {2, 1}, {255, 255}, 0.00390625f, 0);
}

TEST(Int8SoftmaxTest, AcceptsNoRowsAndNamesWhatDoesNotFit) {
  Workspace ws;
  const std::string op = Int8Op("Int8Softmax", "X", "Y", 0.00390625f, 0);
  FeedInt8(&ws, "X", {0, 5}, {}, 0.02f, 77);
  RunOp(&ws, op);
  ExpectInt8(ws, "Y", {0, 5}, {}, 0.00390625f, 0);
  FeedInt8(&ws, "X", {5, 0}, {}, 0.02f, 77);
  ExpectThrows([&] { RunOp(&ws, op); }, "elements of a row of input 0 (X) of shape [5, 0]");
  FeedInt8(&ws, "X", {}, {1}, 0.02f, 77);
  ExpectThrows([&] { RunOp(&ws, op); }, "rank of input 0 (X)");
  ExpectThrows([&] { RunOp(&ws, Int8Op("Int8Softmax", "X", "Y", 0.5f, 0)); },
               "want 0.00390625 (1/256)");
  ExpectChecksInt8Input(&ws, op);
}

}  // namespace
}  // namespace caffe2rt::int8_functions_test
