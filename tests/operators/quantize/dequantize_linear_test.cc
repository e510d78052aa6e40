#include <cmath>

#include "tests/support/onnx_case.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::dequantize_linear_test {
namespace {

using namespace test;

// Inputs drawn by numpy, outputs computed by ONNX's reference evaluator (onnx 1.23).
const OnnxCase kCases[] = {
    {"DequantizeLinear",
     R"()",
     {U8({2, 2}, {0, 3, 128, 255}), F32({}, {0.5}), U8({}, {128})},
     {F32({2, 2}, {-64, -62.5, 0, 63.5})}},
    {"DequantizeLinear",
     R"(arg { name: "axis" i: 1 })",
     {I8({2, 3, 2}, {-120, -56, 13, -41, 113, 106, 73, 23, -83, -74, -34, 77}),
      F32({3}, {0.5, 0.25, 2}), I8({3}, {-128, 0, 127})},
     {F32({2, 3, 2}, {4, 36, 3.25, -10.25, -28, -42, 100.5, 75.5, -20.75, -18.5, -322, -100})}},
    {"DequantizeLinear",
     R"(arg { name: "axis" i: -1 })",
     {I8({2, 3}, {-66, -55, -28, 77, -97, -8}), F32({3}, {0.5, 0.25, 2})},
     {F32({2, 3}, {-33, -13.75, -56, 38.5, -24.25, -16})}},
    {"DequantizeLinear",
     R"()",
     {U16({3}, {0, 65535, 300}), F32({}, {0.25}), U16({}, {65535})},
     {F32({3}, {-16383.75, 0, -16308.75})}},
    {"DequantizeLinear",
     R"()",
     {I16({2}, {-32768, 32767}), F32({}, {0.25})},
     {F32({2}, {-8192, 8191.75})}},
    {"DequantizeLinear",
     R"()",
     {I32({2}, {-7, 1073741824}), F32({}, {0.25})},
     {F32({2}, {-1.75, 268435456})}},
    {"DequantizeLinear",
     R"(arg { name: "axis" i: 1 } arg { name: "block_size" i: 2 })",
     {U8({2, 5}, {70, 56, 3, 33, 104, 168, 40, 141, 120, 76}), F32({2, 3}, {0.5, 2, 1, 3, 0.25, 4}),
      U8({2, 3}, {1, 0, 7, 9, 4, 2})},
     {F32({2, 5}, {34.5, 27.5, 6, 66, 97, 477, 93, 34.25, 29, 296})}},
    {"DequantizeLinear",
     R"(arg { name: "axis" i: 0 } arg { name: "block_size" i: 2 })",
     {U8({3, 2}, {41, 232, 223, 0, 25, 35}), F32({2, 2}, {0.5, 2, 3, 0.25})},
     {F32({3, 2}, {20.5, 464, 111.5, 0, 75, 8.75})}},
};

TEST(DequantizeLinearTest, AgreesWithTheReference) {
  for (const OnnxCase& c : kCases) ExpectOnnxCase(c);
}

TEST(DequantizeLinearTest, RejectsOtherTypes) {
  Workspace ws;
  Feed<uint8_t>(&ws, "A", {2}, {1, 2});
  Feed<float>(&ws, "B", {}, {1});
  Feed<int8_t>(&ws, "C", {}, {1});
  ExpectThrows(
      [&] {
        RunOp(&ws, R"(type: "DequantizeLinear" input: "A" input: "B" input: "C" output: "Y")");
      },
      "int8");
  ExpectThrows([&] { RunOp(&ws, R"(type: "DequantizeLinear" input: "B" input: "B" output: "Y")"); },
               "input 0 (X) has elements of type float");
  ExpectThrows(
      [&] {
        RunOp(
            &ws,
            R"(type: "DequantizeLinear" input: "A" input: "B" output: "Y" arg { name: "output_dtype" i: 12 })");
      },
      "want FLOAT");
}

}  // namespace
}  // namespace caffe2rt::dequantize_linear_test
