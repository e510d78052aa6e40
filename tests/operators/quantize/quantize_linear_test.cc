#include <cmath>

#include "tests/support/onnx_case.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::quantize_linear_test {
namespace {

using namespace test;

// Inputs drawn by numpy, outputs computed by ONNX's reference evaluator (onnx 1.23).
const OnnxCase kCases[] = {
    {"QuantizeLinear",
     R"()",
     {F32({2, 4}, {-3, -1.5, -0.5, 0.5, 1.5, 2.5, 250, 1000}), F32({}, {1}), U8({}, {3})},
     {U8({2, 4}, {0, 1, 3, 3, 5, 5, 253, 255})}},
    {"QuantizeLinear",
     R"()",
     {F32({2, 4}, {-3, -1.5, -0.5, 0.5, 1.5, 2.5, 250, 1000}), F32({}, {0.5})},
     {U8({2, 4}, {0, 0, 0, 1, 3, 5, 255, 255})}},
    {"QuantizeLinear",
     R"(arg { name: "output_dtype" i: 7 })",
     {F32({2, 4}, {-3, -1.5, -0.5, 0.5, 1.5, 2.5, 250, 1000}), F32({}, {1})},
     {I8({2, 4}, {-3, -2, 0, 0, 2, 2, 127, 127})}},
    {"QuantizeLinear",
     R"()",
     {F32({2, 4}, {-3, -1.5, -0.5, 0.5, 1.5, 2.5, 250, 1000}), F32({4}, {1, 0.1, 2, 4}),
      I8({4}, {0, -5, 127, -128})},
     {I8({2, 4}, {-3, -20, 127, -128, 2, 20, 127, 122})}},
    {"QuantizeLinear",
     R"(arg { name: "axis" i: -2 })",
     {F32({2, 4}, {-3, -1.5, -0.5, 0.5, 1.5, 2.5, 250, 1000}), F32({2}, {2, 0.5}),
      U16({2}, {10, 300})},
     {U16({2, 4}, {8, 9, 10, 10, 303, 305, 800, 2300})}},
    {"QuantizeLinear",
     R"(arg { name: "axis" i: 1 } arg { name: "block_size" i: 2 })",
     {F32({2, 4}, {-3, -1.5, -0.5, 0.5, 1.5, 2.5, 250, 1000}), F32({2, 2}, {2, 0.5, 1, 3}),
      I16({2, 2}, {1, 2, 3, -4})},
     {I16({2, 4}, {-1, 0, 1, 3, 5, 5, 79, 329})}},
    {"QuantizeLinear",
     R"(arg { name: "axis" i: 0 } arg { name: "block_size" i: 2 })",
     {F32({3, 2}, {0.28, 1.79, 1.92, -2.27, 0.61, 0.15}), F32({2, 2}, {0.02, 0.5, 0.03, 0.25})},
     {U8({3, 2}, {14, 4, 96, 0, 20, 1})}},
    {"QuantizeLinear",
     R"()",
     {I32({3}, {7, -9, 100000}), F32({}, {2}), I8({}, {1})},
     {I8({3}, {5, -3, 127})}},
    {"QuantizeLinear", R"()", {F32({0, 3}, {}), F32({}, {1})}, {U8({0, 3}, {})}},
    // By hand: 1.55 / 0.1 is less than 15.5 in floats, and 1.55 times the reciprocal is not.
    {"QuantizeLinear", R"()", {F32({1}, {1.55}), F32({}, {0.1})}, {U8({1}, {15})}},
    // By hand: output_dtype may repeat the type of the zero point.
    {"QuantizeLinear",
     R"(arg { name: "output_dtype" i: 7 })",
     {F32({3}, {-3, 4, 1000}), F32({}, {1}), I8({}, {2})},
     {I8({3}, {-1, 6, 127})}},
    {"QuantizeLinear",
     R"(arg { name: "axis" i: 1 })",
     {F32({2, 3, 2}, {-0.22, -0.17, 0.8, 2.55, 1.89, 2.67, 2.52, -0.51, 1.95, 2.68, 0.77, -1.49}),
      F32({3}, {0.05, 0.02, 0.01}), U8({3}, {1, 2, 3})},
     {U8({2, 3, 2}, {0, 0, 42, 130, 192, 255, 51, 0, 100, 136, 80, 0})}},
};

TEST(QuantizeLinearTest, AgreesWithTheReference) {
  for (const OnnxCase& c : kCases) ExpectOnnxCase(c);
}

TEST(QuantizeLinearTest, LimitsInfinitiesAndNaN) {
  ExpectOnnxCase({"QuantizeLinear",
                  "",
                  {F32({3}, {INFINITY, -INFINITY, NAN}), F32({}, {1}), I8({}, {1})},
                  {I8({3}, {127, -128, -128})}});
}

// A block_size may be larger than the axis, and the last block may be shorter.
TEST(QuantizeLinearTest, AcceptsABlockThatIsLargerThanTheAxis) {
  ExpectOnnxCase({"QuantizeLinear",
                  R"(arg { name: "axis" i: 1 } arg { name: "block_size" i: 1000 })",
                  {F32({2, 3}, {1, 2, 3, 4, 5, 6}), F32({2, 1}, {1, 2})},
                  {U8({2, 3}, {1, 2, 3, 2, 2, 3})}});  // 2.5 is rounded to 2
}

TEST(QuantizeLinearTest, RejectsWrongScalesAndZeroPoints) {
  struct Row {
    const char* arguments;
    OnnxCaseTensor scale, zero_point;
    const char* error;
  };
  const Row rows[] = {
      {"", F32({}, {0}), U8({}, {0}), "input 1 (scale) is 0 at element 0"},
      {"", F32({2}, {1, INFINITY}), U8({2}, {0, 0}), "input 1 (scale) is inf at element 1"},
      {"", F32({3}, {1, 1, 1}), U8({3}, {0, 0, 0}), "input 1 (scale) has shape [3]"},
      {"", F32({2}, {1, 1}), U8({1}, {0}), "input 2 (zero_point) has shape [1], want [2]"},
      {"", F32({}, {1}), F32({}, {0}), "input 2 (zero_point) has elements of type float"},
      {R"(arg { name: "axis" i: 2 })", F32({2}, {1, 1}), U8({2}, {0, 0}),
       "argument axis is 2, want -2 to 1"},
      {R"(arg { name: "block_size" i: 2 })", F32({2, 2}, {1, 1, 1, 1}), U8({2, 2}, {0, 0, 0, 0}),
       "axis 1, want that of input 0 (X)"},
      {R"(arg { name: "block_size" i: -1 })", F32({}, {1}), U8({}, {0}), "block_size"},
      {R"(arg { name: "output_dtype" i: 7 })", F32({}, {1}), U8({}, {0}),
       "want int8 as the argument output_dtype"},
      {R"(arg { name: "output_dtype" i: 1 })", F32({}, {1}), U8({}, {0}),
       "want UINT8, INT8, UINT16 or INT16"},
  };
  for (const Row& row : rows) {
    const OnnxCase c{"QuantizeLinear",
                     row.arguments,
                     {F32({2, 2}, {1, 2, 3, 4}), row.scale, row.zero_point},
                     {U8({}, {})}};
    Workspace ws;
    FeedOnnxCase(&ws, c);
    ExpectThrows([&] { RunOp(&ws, OnnxCaseOp(c)); }, row.error);
  }
}

TEST(QuantizeLinearTest, GivesTheSameBitsOnAllThreads) {
  Workspace ws;
  FeedRandom(&ws, "A", {3, 50000}, -20, 20);
  Feed<float>(&ws, "B", {3}, {0.1f, 0.02f, 3});
  ExpectSameBitsForAllThreads(
      &ws, R"(type: "QuantizeLinear" input: "A" input: "B" output: "Y" arg { name: "axis" i: 0 })");
}

}  // namespace
}  // namespace caffe2rt::quantize_linear_test
