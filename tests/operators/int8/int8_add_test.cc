#include <cmath>

#include "tests/operators/int8/int8_blobs.h"

namespace caffe2rt::int8_add_test {
namespace {

using namespace test;  // used throughout this file

TEST(Int8AddTest, AddsInTheScaleOfTheOutput) {
  Workspace ws;
  FeedInt8(&ws, "A", {4}, {130, 128, 100, 255}, 0.5f, 128);  // 1, 0, -14, 63.5
  FeedInt8(&ws, "B", {4}, {14, 11, 10, 255}, 0.25f, 10);     // 1, 0.25, 0, 61.25
  for (const char* type : {"Int8Add", "Int8Sum"}) {
    RunOp(&ws, Int8Op(type, "A B", "Y", 0.5f, 20));
    // 4 steps; half a step rounds away from zero; -28 steps are below 0; 249.5 steps.
    ExpectInt8(ws, "Y", {4}, {24, 21, 0, 255}, 0.5f, 20);
  }
  for (const char* type : {"Int8AddRelu", "Int8SumRelu"}) {
    RunOp(&ws, Int8Op(type, "A B", "Y", 0.5f, 20));
    ExpectInt8(ws, "Y", {4}, {24, 21, 20, 255}, 0.5f, 20);
  }
}

TEST(Int8AddTest, RoundsHalvesAwayFromZero) {
  Workspace ws;
  FeedInt8(&ws, "A", {4}, {129, 127, 131, 125}, 0.5f, 128);
  FeedInt8(&ws, "B", {4}, {128, 128, 128, 128}, 0.5f, 128);
  RunOp(&ws, Int8Op("Int8Add", "A B", "Y", 1, 100));  // 0.5, -0.5, 1.5, -1.5
  ExpectInt8(ws, "Y", {4}, {101, 99, 102, 98}, 1, 100);
}

// The factors have 21 bits or more, so a sum that is not near a half rounds as the exact one.
TEST(Int8AddTest, AgreesWithRealArithmetic) {
  const std::vector<uint8_t> a = RandomBytes(4000, 1), b = RandomBytes(4000, 2);
  const float scales[][3] = {{0.05f, 0.02f, 0.03f}, {0.1f, 0.001f, 0.2f}, {0.007f, 0.9f, 0.05f}};
  for (const auto& [a_scale, b_scale, y_scale] : scales) {
    Workspace ws;
    FeedInt8(&ws, "A", {4000}, a, a_scale, 7);
    FeedInt8(&ws, "B", {4000}, b, b_scale, 200);
    RunOp(&ws, Int8Op("Int8Add", "A B", "Y", y_scale, 50));
    const std::vector<uint8_t> y = FetchInt8(ws, "Y");
    for (size_t i = 0; i < y.size(); ++i) {
      const double sum = (double{a_scale} * (a[i] - 7) + double{b_scale} * (b[i] - 200)) / y_scale;
      if (std::abs(std::abs(sum - std::floor(sum)) - 0.5) < 1e-3) continue;
      ASSERT_EQ(y[i], std::min(std::max(std::lround(sum) + 50, 0L), 255L)) << i;
    }
  }
}

TEST(Int8AddTest, RunsInPlaceOverBothInputs) {
  for (const char* output : {"A", "B"}) {
    Workspace ws;
    FeedInt8(&ws, "A", {2}, {130, 128}, 0.5f, 128);
    FeedInt8(&ws, "B", {2}, {14, 12}, 0.25f, 10);
    RunOp(&ws, Int8Op("Int8Add", "A B", output, 1, 3));
    ExpectInt8(ws, output, {2}, {5, 4}, 1, 3);  // 2 and 0.5
  }
}

TEST(Int8AddTest, ScalesFarBelowTheOutputAddNothing) {
  Workspace ws;
  FeedInt8(&ws, "A", {1}, {255}, 0.0001f, 0);
  RunOp(&ws, Int8Op("Int8Add", "A A", "Y", 1, 9));
  ExpectInt8(ws, "Y", {1}, {9}, 1, 9);
}

// The largest bytes at nearly 2^-9 each: 0.996 steps together, but 0.498 alone, which is the shift of 31 bits.
TEST(Int8AddTest, SumsOfTwoSmallScalesMayReachAStep) {
  Workspace ws;
  FeedInt8(&ws, "A", {2}, {255, 0}, 0x1.fffffep-10f, 0);
  FeedInt8(&ws, "B", {2}, {255, 255}, 0x1.fffffep-10f, 0);
  RunOp(&ws, Int8Op("Int8Add", "A B", "Y", 1, 9));
  ExpectInt8(ws, "Y", {2}, {10, 9}, 1, 9);
  // Half of that: no sum reaches half a step.
  FeedInt8(&ws, "A", {2}, {255, 0}, 0x1.fffffep-11f, 0);
  FeedInt8(&ws, "B", {2}, {255, 255}, 0x1.fffffep-11f, 0);
  RunOp(&ws, Int8Op("Int8Add", "A B", "Y", 1, 9));
  ExpectInt8(ws, "Y", {2}, {9, 9}, 1, 9);
}

TEST(Int8AddTest, EmptyTensorsStayEmptyAndShapesAreInferred) {
  Workspace ws;
  FeedInt8(&ws, "A", {0, 3}, {}, 0.5f, 128);
  const std::string op = Int8Op("Int8Add", "A A", "Y", 0.5f, 1);
  RunOp(&ws, op);
  ExpectInt8(ws, "Y", {0, 3}, {}, 0.5f, 1);
  const std::vector<TensorShape> shapes = InferShapes(ws, ParseOp(op));
  EXPECT_EQ(GetDimsVector(shapes.at(0)), (std::vector<int64_t>{0, 3}));
  EXPECT_EQ(shapes.at(0).data_type(), TensorProto::UINT8);
}

TEST(Int8AddTest, NamesWhatDoesNotFit) {
  Workspace ws;
  FeedInt8(&ws, "A", {2, 3}, RandomBytes(6, 1), 0.5f, 128);
  FeedInt8(&ws, "B", {3, 2}, RandomBytes(6, 1), 0.5f, 128);
  ExpectThrows([&] { RunOp(&ws, Int8Op("Int8Add", "A B", "Y", 1, 0)); },
               "input 1 (B) has shape [3, 2], want [2, 3]");
  ExpectThrows([&] { RunOp(&ws, Int8Op("Int8Sum", "A A A", "Y", 1, 0)); }, "inputs");
  ExpectThrows([&] { RunOp(&ws, Int8Op("Int8Add", "A A", "Y", 0.001f, 0)); },
               "divided by argument Y_scale 0.001 is 500");
  ExpectThrows([&] { RunOp(&ws, Int8Op("Int8Add", "A A", "Y", 10000, 0)); }, "to less than 256");
  ExpectChecksInt8Input(&ws, Int8Op("Int8Add", "X X", "Y", 1, 0));
}

}  // namespace
}  // namespace caffe2rt::int8_add_test
