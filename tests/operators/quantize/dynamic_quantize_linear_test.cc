#include <cmath>
#include <limits>

#include "tests/support/onnx_case.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::dynamic_quantize_linear_test {
namespace {

using namespace test;

// Inputs drawn by numpy, outputs computed by ONNX's reference evaluator (onnx 1.23).
const OnnxCase kCases[] = {
    {"DynamicQuantizeLinear",
     R"()",
     {F32({6}, {0, 2, -3, -2.5, 1.34, 0.5})},
     {U8({6}, {153, 255, 0, 26, 221, 179}), F32({}, {0.019607844}), U8({}, {153})}},
    {"DynamicQuantizeLinear",
     R"()",
     {F32({2, 3}, {1, 2.1, 1.3, 2.5, 3.34, 4})},
     {U8({2, 3}, {64, 134, 83, 159, 213, 255}), F32({}, {0.015686275}), U8({}, {0})}},
    {"DynamicQuantizeLinear",
     R"()",
     {F32({3}, {-1, -2.1, -1.3})},
     {U8({3}, {134, 0, 97}), F32({}, {0.008235293}), U8({}, {255})}},
    {"DynamicQuantizeLinear",
     R"()",
     {F32({2, 2}, {0, 0, 0, 0})},
     {U8({2, 2}, {0, 0, 0, 0}), F32({}, {0.003921569}), U8({}, {0})}},
};

TEST(DynamicQuantizeLinearTest, AgreesWithTheReference) {
  for (const OnnxCase& c : kCases) ExpectOnnxCase(c);
}

// With the scale 1, halves round to even: the zero point to 2, and 253.5 to 254, which leaves 256 for the largest.
TEST(DynamicQuantizeLinearTest, LimitsWhatRoundingPutsBeyondTheRange) {
  ExpectOnnxCase({"DynamicQuantizeLinear",
                  "",
                  {F32({4}, {-1.5, 253.5, 0, 252.4})},
                  {U8({4}, {0, 255, 2, 254}), F32({}, {1}), U8({}, {2})}});
  // -0.5 becomes the zero point 0.
  ExpectOnnxCase({"DynamicQuantizeLinear",
                  "",
                  {F32({3}, {-0.5, 254.5, 1.5})},
                  {U8({3}, {0, 254, 2}), F32({}, {1}), U8({}, {0})}});
  ExpectOnnxCase({"DynamicQuantizeLinear",
                  "",
                  {F32({4}, {NAN, -1.5, 253.5, NAN})},
                  {U8({4}, {0, 0, 255, 0}), F32({}, {1}), U8({}, {2})}});
}

// A 255th of the smallest number is 0, which is no scale.
TEST(DynamicQuantizeLinearTest, TheSmallestRangesHaveTheScaleOfNoRange) {
  const float smallest = std::numeric_limits<float>::denorm_min();
  for (const float sign : {1.0f, -1.0f}) {
    ExpectOnnxCase({"DynamicQuantizeLinear",
                    "",
                    {F32({2}, {0, sign * smallest})},
                    {U8({2}, {0, 0}), F32({}, {1.0f / 255}), U8({}, {0})}});
  }
}

TEST(DynamicQuantizeLinearTest, AcceptsNoElementsAndRejectsInfiniteRanges) {
  ExpectOnnxCase({"DynamicQuantizeLinear",
                  "",
                  {F32({0, 2}, {})},
                  {U8({0, 2}, {}), F32({}, {1.0f / 255}), U8({}, {0})}});
  Workspace ws;
  Feed<float>(&ws, "A", {2}, {INFINITY, 1});
  ExpectThrows(
      [&] {
        RunOp(&ws,
              R"(type: "DynamicQuantizeLinear" input: "A" output: "Y" output: "S" output: "Z")");
      },
      "want a finite range");
}

}  // namespace
}  // namespace caffe2rt::dynamic_quantize_linear_test
