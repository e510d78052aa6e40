// Int8Quantize, Int8Dequantize, Int8GivenTensorFill, Int8GivenIntTensorFill.
#include <cmath>
#include <limits>

#include "tests/operators/int8/int8_blobs.h"

namespace caffe2rt::int8_quantize_test {
namespace {

using namespace test;  // used throughout this file

TEST(Int8QuantizeTest, RoundsHalvesToEven) {
  Workspace ws;
  Feed<float>(&ws, "X", {7}, {-0.25f, 0.25f, 0.75f, 1.25f, -0.75f, 1.5f, -1.5f});
  RunOp(&ws, Int8Op("Int8Quantize", "X", "Y", 0.5f, 10));
  ExpectInt8(ws, "Y", {7}, {10, 10, 12, 12, 8, 13, 7}, 0.5f, 10);
}

TEST(Int8QuantizeTest, ClipsLargeNumbersAndZeroesWhatDoesNotFitAnInt32) {
  Workspace ws;
  const float inf = std::numeric_limits<float>::infinity();
  Feed<float>(&ws, "X", {9},
              {300, -300, 1e8f, 2147483392.0f, 2147483520.0f, 2147483648.0f, inf, -inf, NAN});
  RunOp(&ws, Int8Op("Int8Quantize", "X", "Y", 1, 127));
  ExpectInt8(ws, "Y", {9}, {255, 0, 255, 255, 255, 0, 0, 0, 0}, 1, 127);
  // The sum of 2^31 - 128 and the zero point exceeds 32 bits.
  RunOp(&ws, Int8Op("Int8Quantize", "X", "Y", 1, 128));
  ExpectInt8(ws, "Y", {9}, {255, 0, 255, 255, 0, 0, 0, 0, 0}, 1, 128);
}

TEST(Int8QuantizeTest, KeepsShapesAndIgnoresParametersFromAnInput) {
  Workspace ws;
  Feed<float>(&ws, "X", {0, 3}, {});
  RunOp(&ws, Int8Op("Int8Quantize", "X X", "Y", 0.5f, 10));
  ExpectInt8(ws, "Y", {0, 3}, {}, 0.5f, 10);
  const std::vector<TensorShape> shapes =
      InferShapes(ws, ParseOp(Int8Op("Int8Quantize", "X", "Y", 0.5f, 10)));
  EXPECT_EQ(GetDimsVector(shapes.at(0)), (std::vector<int64_t>{0, 3}));
  EXPECT_EQ(shapes.at(0).data_type(), TensorProto::UINT8);
}

TEST(Int8QuantizeTest, NamesWhatDoesNotFit) {
  Workspace ws;
  Feed<double>(&ws, "X", {1}, {1});
  ExpectThrows([&] { RunOp(&ws, Int8Op("Int8Quantize", "X", "Y", 1, 0)); }, "float");
  Feed<float>(&ws, "X", {1}, {1});
  for (const float scale : {0.0f, -1.0f}) {
    ExpectThrows([&] { RunOp(&ws, Int8Op("Int8Quantize", "X", "Y", scale, 0)); },
                 "want above 0 and finite");
  }
  ExpectThrows([&] { RunOp(&ws, Int8Op("Int8Quantize", "X", "Y", 1, 256)); },
               "argument \"Y_zero_point\" is 256, want 0 to 255");
}

TEST(Int8DequantizeTest, MultipliesByTheScale) {
  Workspace ws;
  FeedInt8(&ws, "X", {2, 2}, {0, 100, 102, 255}, 0.5f, 100);
  RunOp(&ws, R"(type: "Int8Dequantize" input: "X" output: "Y")");
  ExpectTensor<float>(ws, "Y", {2, 2}, {-50, 0, 1, 77.5f});
  const std::vector<TensorShape> shapes =
      InferShapes(ws, ParseOp(R"(type: "Int8Dequantize" input: "X" output: "Y")"));
  EXPECT_EQ(GetDimsVector(shapes.at(0)), (std::vector<int64_t>{2, 2}));
  EXPECT_EQ(shapes.at(0).data_type(), TensorProto::FLOAT);
  ExpectChecksInt8Input(&ws, R"(type: "Int8Dequantize" input: "X" output: "Y")");
}

TEST(Int8DequantizeTest, UndoesQuantizationOfEachStep) {
  Workspace ws;
  std::vector<uint8_t> all(256);
  for (size_t i = 0; i < all.size(); ++i) all[i] = static_cast<uint8_t>(i);
  FeedInt8(&ws, "X", {256}, all, 0.037f, 77);
  RunOp(&ws, R"(type: "Int8Dequantize" input: "X" output: "Y")");
  RunOp(&ws, Int8Op("Int8Quantize", "Y", "Z", 0.037f, 77));
  ExpectInt8(ws, "Z", {256}, all, 0.037f, 77);
}

TEST(Int8GivenTensorFillTest, TakesBytesAndIntegers) {
  Workspace ws;
  RunOp(&ws, Int8Op("Int8GivenTensorFill", "", "Y", 0.5f, 3,
                    IntsArg("shape", {2, 2}) + StringArg("values", "\\001\\377\\000A")));
  ExpectInt8(ws, "Y", {2, 2}, {1, 255, 0, 65}, 0.5f, 3);
  RunOp(&ws, Int8Op("Int8GivenIntTensorFill", "", "Z", 0.25f, 0,
                    IntsArg("shape", {3}) + IntsArg("values", {1, -2, 70000})));
  const Int8TensorCPU& z = Int8Of(ws, "Z");
  EXPECT_EQ(z.t.dims(), std::vector<int64_t>{3});
  EXPECT_THAT(std::vector<int32_t>(z.t.data<int32_t>(), z.t.data<int32_t>() + 3),
              testing::ElementsAre(1, -2, 70000));
  EXPECT_EQ(z.scale, 0.25f);
}

TEST(Int8GivenTensorFillTest, AcceptsScalarsEmptyTensorsAndSpareValues) {
  Workspace ws;
  RunOp(&ws, Int8Op("Int8GivenTensorFill", "", "Y", 1, 0, StringArg("values", "A")));
  ExpectInt8(ws, "Y", {}, {65}, 1, 0);
  RunOp(&ws, Int8Op("Int8GivenTensorFill", "", "Y", 1, 0,
                    IntsArg("shape", {0, 5}) + StringArg("values", "AB")));
  ExpectInt8(ws, "Y", {0, 5}, {}, 1, 0);
}

TEST(Int8GivenTensorFillTest, InfersTheShape) {
  const std::string shape = IntsArg("shape", {2, 3});
  const Workspace ws;
  for (const auto& [type, want] : {std::pair{"Int8GivenTensorFill", TensorProto::UINT8},
                                   std::pair{"Int8GivenIntTensorFill", TensorProto::INT32}}) {
    const std::vector<TensorShape> shapes =
        InferShapes(ws, ParseOp(Int8Op(type, "", "Y", 1, 0, shape)));
    EXPECT_EQ(GetDimsVector(shapes.at(0)), (std::vector<int64_t>{2, 3}));
    EXPECT_EQ(shapes.at(0).data_type(), want);
  }
}

TEST(Int8GivenTensorFillTest, NamesWhatDoesNotFit) {
  Workspace ws;
  for (const char* type : {"Int8GivenTensorFill", "Int8GivenIntTensorFill"}) {
    ExpectThrows([&] { RunOp(&ws, Int8Op(type, "", "Y", 1, 0, IntsArg("shape", {2}))); },
                 "elements of argument values");
    ExpectThrows([&] { RunOp(&ws, Int8Op(type, "", "Y", 1, 0, IntsArg("shape", {-2}))); },
                 "dimension of a shape");
    ExpectThrows(
        [&] {
          RunOp(&ws, Int8Op(type, "", "Y", 1, 0, IntsArg("shape", {INT64_MAX, INT64_MAX})));
        },
        "overflow");
  }
}

}  // namespace
}  // namespace caffe2rt::int8_quantize_test
