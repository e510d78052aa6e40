#include "tests/support/onnx_case.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::narrow_test {
namespace {

using namespace test;

// Outputs of ONNX's node suite (onnx 1.23: test_cast_*).
const OnnxCase kCases[] = {
    {"ONNXNarrow",
     R"(arg { name: "format" s: "float8e4m3fn" })",
     {F32({2, 3}, {0.47892547, 0.81910545, 1e6, -1e-7, -1e6, 0.4996849})},
     {F32({2, 3}, {0.46875, 0.8125, 448, -0.0, -448, 0.5})}},
    {"ONNXNarrow",
     R"(arg { name: "format" s: "float8e5m2" } arg { name: "saturate" i: 0 })",
     {F32({3}, {0.81910545, 1e6, -1e6})},
     {F32({3}, {0.875, INFINITY, -INFINITY})}},
    {"ONNXNarrow",
     R"(arg { name: "format" s: "float8e8m0" } arg { name: "round_mode" s: "up" })",
     {F32({3}, {0.124, 1.1, 4})},
     {F32({3}, {0.125, 2, 4})}},
    {"ONNXNarrow",
     R"(arg { name: "format" s: "float4e2m1" })",
     {F32({4}, {0.48, 1.05, -3.5, 9})},
     {F32({4}, {0.5, 1, -4, 6})}},
    {"ONNXNarrow",
     R"(arg { name: "format" s: "int4" })",
     {F32({5}, {-9, -8, 7, 8, 15})},
     {I8({5}, {7, -8, 7, -8, -1})}},
    {"ONNXNarrow",
     R"(arg { name: "format" s: "uint2" })",
     {F32({3}, {-3, 2, 3})},
     {U8({3}, {1, 2, 3})}},
};

TEST(NarrowTest, AgreesWithTheSuite) {
  for (const OnnxCase& c : kCases) ExpectOnnxCase(c);
}

TEST(NarrowTest, RejectsUnknownFormats) {
  Workspace ws;
  Feed<float>(&ws, "A", {1}, {1});
  ExpectThrows(
      [&] {
        RunOp(&ws, R"(type: "ONNXNarrow" input: "A" output: "Y" arg { name: "format" s: "int5" })");
      },
      "want the name of a format");
}

}  // namespace
}  // namespace caffe2rt::narrow_test
