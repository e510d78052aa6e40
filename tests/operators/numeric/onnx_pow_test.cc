#include <cmath>

#include "tests/support/onnx_case.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::onnx_pow_test {
namespace {

using namespace test;

// Inputs drawn by numpy, outputs computed by ONNX's reference evaluator (onnx 1.23).
const OnnxCase kCases[] = {
    {"ONNXPow", R"()", {F32({3}, {1, 2, 3}), F32({3}, {4, 5, 6})}, {F32({3}, {1, 32, 729})}, 1e-06},
    {"ONNXPow", R"()", {I32({3}, {1, 2, 3}), F32({3}, {4, 5, 6})}, {I32({3}, {1, 32, 729})}},
    {"ONNXPow",
     R"()",
     {F32({3}, {1, 2, -3}), I64({3}, {4, -5, 3})},
     {F32({3}, {1, 0.03125, -27})},
     1e-06},
    {"ONNXPow",
     R"()",
     {F32({2, 3}, {1, 2, 3, 4, 5, 6}), I32({3}, {1, 2, 3})},
     {F32({2, 3}, {1, 4, 27, 4, 25, 216})},
     1e-06},
    {"ONNXPow",
     R"()",
     {I64({3}, {-2, 3, 10}), I64({3}, {3, 0, 9})},
     {I64({3}, {-8, 1, 1000000000})}},
    {"ONNXPow",
     R"()",
     {F64({3}, {1.5, 2.0, 4.0}), F64({}, {0.5})},
     {F64({3}, {1.224744871391589, 1.4142135623730951, 2.0})},
     1e-12},
};

TEST(OnnxPowTest, AgreesWithTheReference) {
  for (const OnnxCase& c : kCases) ExpectOnnxCase(c);
}

// Where ONNX leaves the result open: it has a value, and no overflow is undefined.
TEST(OnnxPowTest, DefinesNegativeExponentsAndOverflow) {
  ExpectOnnxCase(
      {"ONNXPow", "", {I32({4}, {1, -1, 2, 0}), I32({1}, {-3})}, {I32({4}, {1, -1, 0, 0})}});
  ExpectOnnxCase({"ONNXPow",
                  "",
                  {I32({2}, {3, 2}), I32({2}, {40, 31})},
                  {I32({2}, {689956897, -2147483648.0})}});  // 3^40 mod 2^32
  ExpectOnnxCase(
      {"ONNXPow", "", {I8({3}, {-2, 100, 4}), F32({3}, {0.5, 9, 0.5})}, {I8({3}, {0, 127, 2})}});
}

// An exponent that float lacks is not rounded to float, which would be 100.
TEST(OnnxPowTest, KeepsTheDigitsOfDoubleExponents) {
  Workspace ws;
  Feed<float>(&ws, "A", {1}, {1.5f});
  Feed<double>(&ws, "B", {2}, {100.000001, 2});
  RunOp(&ws, R"(type: "ONNXPow" input: "A" input: "B" output: "Y")");
  ExpectTensor<float>(ws, "Y", {2}, {static_cast<float>(std::pow(1.5, 100.000001)), 2.25f});
}

}  // namespace
}  // namespace caffe2rt::onnx_pow_test
