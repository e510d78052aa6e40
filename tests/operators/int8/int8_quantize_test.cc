// Int8Quantize, Int8Dequantize, Int8GivenTensorFill, Int8GivenIntTensorFill.
#include <cmath>
#include <limits>

#include "caffe2_core/model/init_net.h"
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
  for (const std::string scale : {"0", "inf", "nan"}) {
    ExpectThrows(
        [&] {
          RunOp(&ws, "type: 'Int8Quantize' input: 'X' output: 'Y' arg { name: 'Y_scale' f: " +
                         scale + " }");
        },
        "want a finite number other than 0");
  }
}

// The results are those of Caffe2.
TEST(Int8QuantizeTest, AcceptsAnyZeroPointAndNegativeScales) {
  Workspace ws;
  const float inf = std::numeric_limits<float>::infinity();
  Feed<float>(&ws, "X", {13},
              {-3e9f, -100, -1.05f, -0.25f, 0, 0.25f, 1.05f, 20, 100, 3e9f, NAN, inf, -inf});
  const auto expect = [&](float scale, int zero_point, const std::vector<uint8_t>& want) {
    RunOp(&ws, Int8Op("Int8Quantize", "X", "Y", scale, zero_point));
    ExpectInt8(ws, "Y", {13}, want, scale, zero_point);
  };
  expect(0.1f, -1, {255, 0, 0, 0, 0, 1, 9, 199, 255, 255, 255, 255, 255});
  expect(0.1f, 300, {0, 0, 255, 255, 255, 255, 255, 255, 255, 0, 0, 0, 0});
  expect(0.1f, INT32_MAX, {0, 255, 255, 255, 255, 0, 0, 0, 0, 0, 0, 0, 0});
  expect(0.1f, INT32_MIN, {0, 255, 255, 255, 0, 0, 0, 0, 0, 0, 0, 0, 0});
  expect(-0.1f, 0, {0, 255, 10, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0});
  expect(-0.1f, -1, {255, 255, 9, 1, 0, 0, 0, 0, 0, 255, 255, 255, 255});
  expect(-0.1f, 300, {0, 255, 255, 255, 255, 255, 255, 100, 0, 0, 0, 0, 0});
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
  ExpectChecksInt8Elements(&ws, R"(type: "Int8Dequantize" input: "X" output: "Y")");
}

TEST(Int8DequantizeTest, AcceptsAnyQuantization) {
  Workspace ws;
  const auto expect = [&](float scale, int zero_point, const std::vector<float>& want) {
    FeedInt8(&ws, "X", {3}, {0, 5, 255}, scale, zero_point);
    RunOp(&ws, R"(type: "Int8Dequantize" input: "X" output: "Y")");
    ExpectTensor<float>(ws, "Y", {3}, want);
  };
  expect(0.5f, -1, {0.5f, 3, 128});
  expect(-0.5f, 300, {150, 147.5f, 22.5f});
  expect(0, 300, {0, 0, 0});
  // 2^31 - 255 as a float is a multiple of 128.
  expect(-0.5f, INT32_MAX, {1073741824, 1073741824, 1073741696});
  expect(-0.5f, INT32_MIN, {1073741824, 1073741824, 1073741696});  // wraps around
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

TEST(Int8GivenTensorFillTest, AcceptsBytesAndIntegers) {
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

// Nothing calculates with it: operators that do check their inputs.
TEST(Int8GivenTensorFillTest, StoresAnyQuantization) {
  Workspace ws;
  RunOp(&ws, Int8Op("Int8GivenTensorFill", "", "Y", 0, -1, StringArg("values", "A")));
  ExpectInt8(ws, "Y", {}, {65}, 0, -1);
  RunOp(&ws, Int8Op("Int8GivenIntTensorFill", "", "Z", -1, 256, IntsArg("values", {9})));
  EXPECT_EQ(Int8Of(ws, "Z").scale, -1);
  EXPECT_EQ(Int8Of(ws, "Z").zero_point, 256);
}

TEST(Int8GivenTensorFillTest, AcceptsScalarsEmptyTensorsAndSpareValues) {
  Workspace ws;
  RunOp(&ws, Int8Op("Int8GivenTensorFill", "", "Y", 1, 0, StringArg("values", "A")));
  ExpectInt8(ws, "Y", {}, {65}, 1, 0);
  RunOp(&ws, Int8Op("Int8GivenTensorFill", "", "Y", 1, 0,
                    IntsArg("shape", {0, 5}) + StringArg("values", "AB")));
  ExpectInt8(ws, "Y", {0, 5}, {}, 1, 0);
}

// Elements that were read from a file directly are in no argument. Y may hold memory already.
TEST(Int8GivenTensorFillTest, MovesValuesThatWereGivenAsATensor) {
  const auto fill = [](const std::string& text, Tensor values, Workspace* ws) {
    NetWithWeights net;
    *net.net.add_op() = ParseOp(text);
    net.weights.push_back({.values = std::move(values)});
    RunInitNet(std::move(net), ws);
  };
  const std::string bytes =
      Int8Op("Int8GivenTensorFill", "", "Y", 0.5f, 3, IntsArg("shape", {2, 2}));
  for (const bool holds_memory : {false, true}) {
    Workspace ws;
    if (holds_memory) FeedInt8(&ws, "Y", {3}, {7, 8, 9}, 1, 0);
    Workspace values;
    fill(bytes, Feed<uint8_t>(&values, "V", {4}, {1, 255, 0, 65})->Clone(), &ws);
    ExpectInt8(ws, "Y", {2, 2}, {1, 255, 0, 65}, 0.5f, 3);
    fill(Int8Op("Int8GivenIntTensorFill", "", "Z", 0.25f, 0, IntsArg("shape", {3})),
         Feed<int32_t>(&values, "V", {3}, {1, -2, 70000})->Clone(), &ws);
    const Tensor& z = Int8Of(ws, "Z").t;
    EXPECT_THAT(std::vector<int32_t>(z.data<int32_t>(), z.data<int32_t>() + 3),
                testing::ElementsAre(1, -2, 70000));
    ExpectThrows(
        [&] {
          fill(bytes, Feed<uint8_t>(&values, "V", {3}, {1, 2, 3})->Clone(), &ws);
        },
        "elements of argument values");
  }
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
    ExpectThrows(
        [&] {
          (void)InferShapes(
              ws, ParseOp(Int8Op(type, "", "Y", 1, 0, IntsArg("shape", {INT64_MAX, INT64_MAX}))));
        },
        "overflow");
  }
}

}  // namespace
}  // namespace caffe2rt::int8_quantize_test
