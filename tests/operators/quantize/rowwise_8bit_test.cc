#include "tests/support/operator_test.h"

namespace caffe2rt::test::rowwise_8bit_test {
namespace {

std::string Op(const std::string& type, std::initializer_list<const char*> inputs,
               const char* output = "Y") {
  std::string text = "type: \"" + type + "\"";
  for (const char* input : inputs) text += std::string(" input: \"") + input + "\"";
  return text + " output: \"" + output + "\"";
}

// A row of bytes with scale 1 or 2 and bias 0 or -1 as the bits of floats.
const std::vector<uint8_t> kRows = {3, 5, 0, 0, 128, 63, 0, 0, 0,   0,
                                    4, 6, 0, 0, 0,   64, 0, 0, 128, 191};

TEST(Rowwise8BitTest, QuantizesToFusedRows) {
  Workspace ws;
  Feed<float>(&ws, "X", {1, 5}, {0, 0.5f, 1.5f, 2.5f, 255});
  RunOp(&ws, Op("FloatToFused8BitRowwiseQuantized", {"X"}));
  // Ties go to even. The scale is 1, the bias 0.
  ExpectTensor<uint8_t>(ws, "Y", {1, 13}, {0, 0, 2, 2, 255, 0, 0, 128, 63, 0, 0, 0, 0});
  ExpectShapeInferred(&ws, Op("FloatToFused8BitRowwiseQuantized", {"X"}));
  RunOp(&ws, Op("FloatToFused8BitRowwiseQuantizedHalfScaleBias", {"X"}));
  ExpectTensor<uint8_t>(ws, "Y", {1, 9}, {0, 0, 2, 2, 255, 0, 60, 0, 0});
  Feed<float>(&ws, "X", {0, 5}, {});
  RunOp(&ws, Op("FloatToFused8BitRowwiseQuantized", {"X"}));
  ExpectTensor<uint8_t>(ws, "Y", {0, 13}, {});
  Feed<float>(&ws, "X", {}, {1});
  ExpectThrows([&] { RunOp(&ws, Op("FloatToFused8BitRowwiseQuantized", {"X"})); },
               "rank of input 0 (input)");
}

// The half of 0.1 is 0.09997559 (2e66): what is left of the elements is no step of the scale 0.
TEST(Rowwise8BitTest, RowsOfOneNumberAreZeros) {
  Workspace ws;
  Feed<float>(&ws, "X", {2, 2}, {0.1f, 0.1f, -0.1f, -0.1f});
  RunOp(&ws, Op("FloatToFused8BitRowwiseQuantizedHalfScaleBias", {"X"}));
  ExpectTensor<uint8_t>(ws, "Y", {2, 6}, {0, 0, 0, 0, 0x66, 0x2e, 0, 0, 0, 0, 0x66, 0xae});
  RunOp(&ws, Op("FloatToFused8BitRowwiseQuantized", {"X"}));
  ExpectTensor<uint8_t>(ws, "Y", {2, 10}, {0, 0, 0, 0, 0, 0, 0xcd, 0xcc, 0xcc, 0x3d,
                                           0, 0, 0, 0, 0, 0, 0xcd, 0xcc, 0xcc, 0xbd});
}

TEST(Rowwise8BitTest, ReadsFusedRows) {
  Workspace ws;
  Feed<uint8_t>(&ws, "X", {2, 10}, kRows);
  RunOp(&ws, Op("Fused8BitRowwiseQuantizedToFloat", {"X"}));
  ExpectTensor<float>(ws, "Y", {2, 2}, {3, 5, 7, 11});
  ExpectShapeInferred(&ws, Op("Fused8BitRowwiseQuantizedToFloat", {"X"}));
  Feed<int32_t>(&ws, "I", {2}, {1, 1});
  RunOp(&ws, Op("GatherFused8BitRowwise", {"X", "I"}));
  ExpectTensor<float>(ws, "Y", {2, 2}, {7, 11, 7, 11});
  Feed<int32_t>(&ws, "I", {1}, {2});
  ExpectThrows(
      [&] {
        RunOp(&ws, Op("GatherFused8BitRowwise", {"X", "I"}));
      },
      "element 0 of input 1 (INDICES) is 2");
  Feed<uint8_t>(&ws, "X", {1, 3}, {1, 2, 3});
  ExpectThrows([&] { RunOp(&ws, Op("Fused8BitRowwiseQuantizedToFloat", {"X"})); },
               "bytes of a row of input 0");
}

TEST(Rowwise8BitTest, LooksFusedRowsUp) {
  Workspace ws;
  Feed<uint8_t>(&ws, "X", {2, 10}, kRows);
  Feed<int64_t>(&ws, "I", {3}, {0, 1, 1});
  Feed<int32_t>(&ws, "L", {2}, {0, 3});
  Feed<float>(&ws, "W", {3}, {1, 2, 0.5f});
  RunOp(&ws, Op("SparseLengthsSumFused8BitRowwise", {"X", "I", "L"}));
  ExpectTensor<float>(ws, "Y", {2, 2}, {0, 0, 17, 27});
  ExpectShapeInferred(&ws, Op("SparseLengthsSumFused8BitRowwise", {"X", "I", "L"}));
  RunOp(&ws, Op("SparseLengthsMeanFused8BitRowwise", {"X", "I", "L"}));
  ExpectTensor<float>(ws, "Y", {2, 2}, {0, 0, 17.0f / 3, 9});
  RunOp(&ws, Op("SparseLengthsWeightedSumFused8BitRowwise", {"X", "W", "I", "L"}));
  ExpectTensor<float>(ws, "Y", {2, 2}, {0, 0, 20.5f, 32.5f});
  Feed<int32_t>(&ws, "L", {1}, {2});
  ExpectThrows(
      [&] {
        RunOp(&ws, Op("SparseLengthsSumFused8BitRowwise", {"X", "I", "L"}));
      },
      "sum of the lengths");
}

TEST(Rowwise8BitTest, KeepsScalesApart) {
  const std::string quantize = Op("FloatToRowwiseQuantized8Bits", {"X"}) + " output: \"S\"";
  Workspace ws;
  Feed<float>(&ws, "X", {2, 3}, {0, 0.5f, 255, 4, 4, 4});
  RunOp(&ws, quantize);
  // Ties go away from zero. A constant row has the scale 1.
  ExpectTensor<uint8_t>(ws, "Y", {2, 3}, {0, 1, 255, 0, 0, 0});
  ExpectTensor<float>(ws, "S", {2, 2}, {1, 0, 1, 4});
  ExpectShapeInferred(&ws, quantize);
  RunOp(&ws, Op("Rowwise8BitQuantizedToFloat", {"Y", "S"}, "Z"));
  ExpectTensor<float>(ws, "Z", {2, 3}, {0, 1, 255, 4, 4, 4});
  Feed<int32_t>(&ws, "I", {2}, {0, 1});
  Feed<int32_t>(&ws, "L", {1}, {2});
  Feed<float>(&ws, "W", {2}, {1, 0.5f});
  RunOp(&ws, Op("SparseLengthsSum8BitsRowwise", {"Y", "I", "L", "S"}, "Z"));
  ExpectTensor<float>(ws, "Z", {1, 3}, {4, 5, 259});
  RunOp(&ws, Op("SparseLengthsMean8BitsRowwise", {"Y", "I", "L", "S"}, "Z"));
  ExpectTensor<float>(ws, "Z", {1, 3}, {2, 2.5f, 129.5f});
  RunOp(&ws, Op("SparseLengthsWeightedSum8BitsRowwise", {"Y", "W", "I", "L", "S"}, "Z"));
  ExpectTensor<float>(ws, "Z", {1, 3}, {2, 3, 257});
  RunOp(&ws, Op("SparseLengthsWeightedMean8BitsRowwise", {"Y", "W", "I", "L", "S"}, "Z"));
  ExpectTensor<float>(ws, "Z", {1, 3}, {1, 1.5f, 128.5f});
  Feed<float>(&ws, "S", {1, 2}, {1, 0});
  ExpectThrows(
      [&] {
        RunOp(&ws, Op("Rowwise8BitQuantizedToFloat", {"Y", "S"}, "Z"));
      },
      "input 1 (scale_bias) has shape [1, 2], want [2, 2]");
}

}  // namespace
}  // namespace caffe2rt::test::rowwise_8bit_test
