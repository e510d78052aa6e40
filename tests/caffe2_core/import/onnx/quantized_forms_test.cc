// Numbers of a few bits: tables and matrices of blocks, and tensors of narrow types with scales along
// an axis. Values worked out by hand: (number - zero point) * scale.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/caffe2_core/import/onnx/imported_onnx.h"
#include "tests/caffe2_core/import/onnx/node_forms.h"

namespace caffe2rt::test::quantized_forms_test {
namespace {

using node_forms::Constant;
using node_forms::Int;
using node_forms::kFloat;
using node_forms::kInt64;
using node_forms::kUint8;

constexpr int kInt8 = 3, kFloat8 = 17, kUint4 = 21, kInt4 = 22, kUint2 = 25, kInt2 = 26;

// "-" is an absent input.
std::string Node(const std::string& type, const std::vector<std::string>& inputs,
                 const std::string& attributes = "", const std::string& output = "q",
                 const std::string& domain = "") {
  std::string text = "node { op_type: '" + type + "' domain: '" + domain + "' ";
  for (const std::string& input : inputs) text += "input: '" + (input == "-" ? "" : input) + "' ";
  return text + "output: '" + output + "' " + attributes + "} ";
}
std::string Contrib(const std::string& type, const std::vector<std::string>& inputs,
                    const std::string& attributes = "") {
  return Node(type, inputs, attributes, "q", "com.microsoft");
}

struct Case {
  const char* name;
  std::string graph;  // writes q
  std::vector<int64_t> dims;
  std::vector<double> want;
  std::vector<int64_t> x_dims = {1};
  std::vector<float> x = {0};
};

void Check(const std::vector<Case>& cases) {
  for (const Case& row : cases) {
    SCOPED_TRACE(row.name);
    std::vector<std::string> dims;
    for (const int64_t dim : row.x_dims) dims.push_back(MakeString(dim));
    const std::string bytes =
        OnnxBytes(OnnxValue("input", "x", dims) + row.graph +
                      Node("Cast", {"q"}, Int("to", kFloat), "y") + "output { name: 'y' }",
                  24, "opset_import { domain: 'com.microsoft' version: 1 } ");
    EXPECT_EQ(OnnxImportError(bytes), "");
    if (!OnnxImportError(bytes).empty()) continue;
    const Tensor y = RunOnnxBytes(bytes, {{"x", FloatTensor(row.x_dims, row.x)}}, "y");
    EXPECT_EQ(y.dims(), row.dims);
    const std::vector<float> got = FloatsOf(y);
    ASSERT_EQ(got.size(), row.want.size());
    for (size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], row.want[i], 1e-5) << i;
  }
}

// Rows (8, 9 | 7, 0 | 15, 1) and (0, 1 | 2, 3 | 4, 5), in blocks of two.
TEST(QuantizedFormsTest, TablesOfFourBits) {
  const std::string table = Constant("t", kUint8, {2, 3}, {0x98, 0x07, 0x1f, 0x10, 0x32, 0x54}) +
                            Constant("s", kFloat, {2, 3}, {0.5, 2, 1, 1, 10, 100});
  // (8, 7, 15) and (1, 2, 4); the last half of a byte is of no block.
  const std::string zeros = Constant("z", kUint8, {2, 2}, {0x78, 0xaf, 0x21, 0xb4});
  const std::string first = Constant("i", kInt64, {1}, {0}),
                    last = Constant("i", kInt64, {1}, {-1});
  const std::string size = Int("block_size", 2);
  Check({{"ZeroPoints",
          table + zeros + first + Contrib("GatherBlockQuantized", {"t", "i", "s", "z"}, size),
          {1, 6},
          {0, 0.5, 0, -14, 0, -14}},
         {"TheLastRow",
          table + zeros + last + Contrib("GatherBlockQuantized", {"t", "i", "s", "z"}, size),
          {1, 6},
          {-1, 0, 0, 10, 0, 100}},
         {"EightIsZeroByDefault",
          table + first + Contrib("GatherBlockQuantized", {"t", "i", "s"}, size),
          {1, 6},
          {0, 0.5, -2, -16, 7, -7}},
         {"ColumnsAreGathered",
          table + zeros + Constant("i", kInt64, {2}, {5, 1}) +
              Contrib("GatherBlockQuantized", {"t", "i", "s", "z"}, size + Int("gather_axis", 1)),
          {2, 2},
          {-14, 0.5, 100, 0}},
         // Both rows are a block of each column.
         {"BlocksOfRows",
          Constant("t", kUint8, {2, 1}, {0x98, 0x10}) + Constant("s", kFloat, {1, 2}, {1, 10}) +
              Constant("i", kInt64, {2}, {0, 1}) +
              Contrib("GatherBlockQuantized", {"t", "i", "s"}, size + Int("quantize_axis", 0)),
          {2, 2},
          {0, 10, -8, -70}}});
}

TEST(QuantizedFormsTest, TablesOfOtherBits) {
  const std::string first = Constant("i", kInt64, {1}, {0});
  // 3, 2, 1, 0 in a byte: 0x1b; the default zero point is 2.
  Check(
      {{"TwoBits",
        Constant("t", kUint8, {1, 1}, {0x1b}) + Constant("s", kFloat, {1, 1}, {0.5}) + first +
            Contrib("GatherBlockQuantized", {"t", "i", "s"}, Int("bits", 2) + Int("block_size", 4)),
        {1, 4},
        {0.5, 0, -0.5, -1}},
       {"EightBits",
        Constant("t", kUint8, {1, 2}, {130, 0}) + Constant("s", kFloat, {1, 1}, {0.5}) + first +
            Contrib("GatherBlockQuantized", {"t", "i", "s"}, Int("bits", 8) + Int("block_size", 2)),
        {1, 2},
        {1, -64}},
       // Not packed: integers of 4 bits around 0.
       {"NarrowIntegers",
        Constant("t", kInt4, {1, 2}, {0x8f}) + Constant("s", kFloat, {1, 1}, {0.5}) + first +
            Contrib("GatherBlockQuantized", {"t", "i", "s"}, Int("block_size", 2)),
        {1, 2},
        {-0.5, -4}}});
}

// The rows (9, 7 | 10, 1 | 4) and (8, 8 | 6, 8 | 12) of five columns, in blocks of two.
TEST(QuantizedFormsTest, MatricesOfFourBits) {
  const std::string matrix =
      Constant("b", kUint8, {2, 3, 1}, {0x79, 0x1a, 0xf4, 0x88, 0x86, 0xfc}) +
      Constant("s", kFloat, {6}, {0.5, 1, 2, 3, 0.25, 1});
  const std::string sizes = Int("K", 5) + Int("N", 2) + Int("block_size", 2);
  const std::vector<int64_t> row = {1, 5};
  const std::vector<float> x = {1, 2, 3, 4, 5};
  Check({// (0.5, -0.5, 2, -7, -8), (0, 0, -0.5, 0, 4)
         {"EightIsZeroByDefault",
          matrix + Contrib("MatMulNBits", {"x", "b", "s"}, sizes),
          {1, 2},
          {0.5 - 1 + 6 - 28 - 40, -1.5 + 20},
          row,
          x},
         // The zero points (9, 10, 4) and (8, 6, 12), each row in two bytes.
         {"PackedZeroPoints",
          matrix + Constant("z", kUint8, {4}, {0xa9, 0xf4, 0x68, 0xfc}) +
              Contrib("MatMulNBits", {"x", "b", "s", "z"}, sizes),
          {1, 2},
          {-2 - 36, 0.5 * 4},
          row,
          x},
         {"ZeroPointsOfTheTypeOfTheScales",
          matrix + Constant("z", kFloat, {2, 3}, {8.5, 10, 3, 8, 7, 12}) +
              Contrib("MatMulNBits", {"x", "b", "s", "z"}, sizes),
          {1, 2},
          {0.25 - 1.5 - 36 + 10, -0.75 + 1},
          row,
          x},
         {"Bias",
          matrix + Constant("c", kFloat, {2}, {100, 200}) +
              Contrib("MatMulNBits", {"x", "b", "s", "-", "-", "c"}, sizes),
          {1, 2},
          {100 - 62.5, 218.5},
          row,
          x}});
}

TEST(QuantizedFormsTest, MatricesOfOtherBits) {
  const std::vector<int64_t> row = {1, 4};
  const std::vector<float> x = {1, 10, 100, 1000};
  const std::string sizes = Int("K", 4) + Int("N", 1) + Int("block_size", 4);
  Check({// 3, 2, 1, 0 minus 2
         {"TwoBits",
          Constant("b", kUint8, {1, 1, 1}, {0x1b}) + Constant("s", kFloat, {1}, {2}) +
              Contrib("MatMulNBits", {"x", "b", "s"}, sizes + Int("bits", 2)),
          {1, 1},
          {2 - 200 - 4000},
          row,
          x},
         {"EightBits",
          Constant("b", kUint8, {1, 1, 4}, {129, 128, 127, 130}) + Constant("s", kFloat, {1}, {2}) +
              Contrib("MatMulNBits", {"x", "b", "s"}, sizes + Int("bits", 8)),
          {1, 1},
          {2 - 200 + 4000},
          row,
          x}});
}

double Sigmoid(double v) { return 1 / (1 + std::exp(-v)); }

// Each row of the weights has its scale and zero point: w is 1, 1, 0.5, 4 for the gates i, o, f, c.
TEST(QuantizedFormsTest, RowsOfRecurrentWeightsHaveTheirScales) {
  Check({{"LSTM",
          Constant("w", kInt8, {1, 1, 4}, {2, 4, 6, 8}) +
              Constant("r", kInt8, {1, 1, 4}, {1, 1, 1, 1}) +
              Constant("ws", kFloat, {1, 4}, {0.5, 0.25, 0.125, 1}) +
              Constant("wz", kInt8, {1, 4}, {0, 0, 2, 4}) +
              Constant("rs", kFloat, {1, 4}, {1, 1, 1, 1}) +
              Constant("rz", kInt8, {1, 4}, {0, 0, 0, 0}) +
              Contrib("DynamicQuantizeLSTM",
                      {"x", "w", "r", "-", "-", "-", "-", "-", "ws", "wz", "rs", "rz"},
                      Int("hidden_size", 1)),
          {1, 1, 1, 1},
          {Sigmoid(1) * std::tanh(Sigmoid(1) * std::tanh(4.0))},
          {1, 1, 1},
          {1}}});
}

// Y of an LSTM of one unit after the steps x = 1 and 2; gates i, o, f, c.
std::vector<double> TwoSteps(const std::vector<double>& w, const std::vector<double>& r) {
  std::vector<double> y;
  double h = 0, c = 0;
  for (const double x : {1, 2}) {
    const auto gate = [&](int i) { return x * w[i] + h * r[i]; };
    c = Sigmoid(gate(2)) * c + Sigmoid(gate(0)) * std::tanh(gate(3));
    h = Sigmoid(gate(1)) * std::tanh(c);
    y.push_back(h);
  }
  return y;
}

TEST(QuantizedFormsTest, RecurrentWeightsMayHaveNoZeroPoints) {
  const std::string weights =
      Constant("w", kInt8, {1, 1, 4}, {2, 4, 6, 8}) +
      Constant("r", kInt8, {1, 1, 4}, {3, 5, -4, 7}) + Constant("ws", kFloat, {1}, {0.125}) +
      Constant("rs", kFloat, {1, 4}, {0.5, 0.25, 1, 0.125}) + Constant("wz", kInt8, {1}, {4}) +
      Constant("rz", kInt8, {1, 4}, {-3, 1, 2, 4});
  const auto lstm = [&](const std::string& wz, const std::string& rz) {
    return weights + Contrib("DynamicQuantizeLSTM",
                             {"x", "w", "r", "-", "-", "-", "-", "-", "ws", wz, "rs", rz},
                             Int("hidden_size", 1));
  };
  const std::vector<double> w = {0.25, 0.5, 0.75, 1}, moved_w = {-0.25, 0, 0.25, 0.5};
  const std::vector<double> r = {1.5, 1.25, -4, 0.875}, moved_r = {3, 1, -6, 0.375};
  const std::vector<int64_t> y = {2, 1, 1, 1}, steps = {2, 1, 1};
  const std::vector<float> x = {1, 2};
  Check({{"None", lstm("-", "-"), y, TwoSteps(w, r), steps, x},
         {"OfTheInput", lstm("wz", "-"), y, TwoSteps(moved_w, r), steps, x},
         {"OfTheState", lstm("-", "rz"), y, TwoSteps(w, moved_r), steps, x},
         {"Both", lstm("wz", "rz"), y, TwoSteps(moved_w, moved_r), steps, x}});
}

TEST(QuantizedFormsTest, IntegersEndAtTheLimitsOfTheirType) {
  const std::string scale = Constant("s", kFloat, {}, {1});
  const std::vector<int64_t> six = {6};
  const std::vector<float> x = {-100, -3, -1, 2, 5, 100};
  const auto zero = [](int type) { return Constant("z", type, {}, {0}); };
  const auto quantized = [&](int type) {
    return scale + zero(type) + Node("QuantizeLinear", {"x", "s", "z"});
  };
  Check({{"UINT4", quantized(kUint4), six, {0, 0, 0, 2, 5, 15}, six, x},
         {"INT4", quantized(kInt4), six, {-8, -3, -1, 2, 5, 7}, six, x},
         {"UINT2", quantized(kUint2), six, {0, 0, 0, 2, 3, 3}, six, x},
         {"INT2", quantized(kInt2), six, {-2, -2, -1, 1, 1, 1}, six, x},
         {"OfTheAttribute",
          scale + Node("QuantizeLinear", {"x", "s"}, Int("output_dtype", kInt4)),
          six,
          {-8, -3, -1, 2, 5, 7},
          six,
          x}});
}

// Rows have the scales 1 and 4, columns 2 and 8.
TEST(QuantizedFormsTest, NarrowFloatsHaveScalesAlongAnAxis) {
  const std::string rows = Constant("s", kFloat, {2}, {1, 4}),
                    columns = Constant("s", kFloat, {2}, {2, 8});
  // 1 and 2 of float8e4m3fn.
  const std::string numbers = Constant("z", kFloat8, {2}, {0x38, 0x40});
  const std::string matrix = Constant("t", kFloat8, {2, 2}, {0x38, 0x40, 0xb8, 0x48});  // 1 2 -1 4
  const std::vector<int64_t> square = {2, 2};
  const std::vector<float> x = {8, 16, 32, 4000};
  Check({{"QuantizedRows",
          rows + numbers + Node("QuantizeLinear", {"x", "s", "z"}, Int("axis", 0)),
          square,
          {9, 16, 10, 448},  // 17 is rounded to even
          square,
          x},
         {"QuantizedColumns",
          columns + numbers + Node("QuantizeLinear", {"x", "s", "z"}),
          square,
          {5, 4, 16, 448},  // 17 again
          square,
          x},
         {"Unsaturated",
          Constant("s", kFloat, {}, {1}) + Constant("z", kFloat8, {1}, {0}) +
              Node("QuantizeLinear", {"x", "s", "z"}),
          {2},
          {448, -448},
          {2},
          {1e6f, -1e6f}},
         {"DequantizedRows",
          matrix + rows + Node("DequantizeLinear", {"t", "s"}, Int("axis", 0)),
          square,
          {1, 2, -4, 16}},
         {"DequantizedColumns",
          matrix + columns + numbers + Node("DequantizeLinear", {"t", "s", "z"}, Int("axis", -1)),
          square,
          {0, 0, -4, 16}},
         {"DequantizedByOneScale",
          matrix + Constant("s", kFloat, {1}, {0.5}) + Node("DequantizeLinear", {"t", "s"}),
          square,
          {0.5, 1, -0.5, 2}}});
}

TEST(QuantizedFormsTest, CastsSaturateUnlessTheySayOtherwise) {
  const std::string like = Constant("t", kFloat8, {1}, {0x38});
  const std::vector<int64_t> two = {2};
  const std::vector<float> x = {1000, 1.5f};
  const auto is_nan = [](const std::string& node) {
    return node + Node("Cast", {"p"}, Int("to", kFloat), "f") + Node("IsNaN", {"f"});
  };
  Check({{"Cast", Node("Cast", {"x"}, Int("to", kFloat8)), two, {448, 1.5}, two, x},
         {"CastLike", like + Node("CastLike", {"x", "t"}), two, {448, 1.5}, two, x},
         {"CastToNaN",
          is_nan(Node("Cast", {"x"}, Int("to", kFloat8) + Int("saturate", 0), "p")),
          two,
          {1, 0},
          two,
          x},
         {"CastLikeToNaN",
          like + is_nan(Node("CastLike", {"x", "t"}, Int("saturate", 0), "p")),
          two,
          {1, 0},
          two,
          x},
         {"QuantizedToNaN",
          Constant("s", kFloat, {}, {1}) + Constant("z", kFloat8, {}, {0}) +
              is_nan(Node("QuantizeLinear", {"x", "s", "z"}, Int("saturate", 0), "p")),
          two,
          {1, 0},
          two,
          x}});
}

}  // namespace
}  // namespace caffe2rt::test::quantized_forms_test
