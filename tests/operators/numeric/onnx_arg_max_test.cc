#include <cmath>

#include "tests/support/onnx_case.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::onnx_arg_max_test {
namespace {

using namespace test;

// Inputs drawn by numpy, outputs computed by ONNX's reference evaluator (onnx 1.23).
const OnnxCase kCases[] = {
    {"ONNXArgMax",
     R"(arg { name: "axis" i: 1 } arg { name: "keepdims" i: 0 })",
     {F32({3, 2}, {2, 2, 3, 10, 3, 1})},
     {I64({3}, {0, 1, 0})}},
    {"ONNXArgMax",
     R"(arg { name: "select_last_index" i: 1 })",
     {F32({3, 2}, {2, 2, 3, 10, 3, 1})},
     {I64({1, 2}, {2, 1})}},
    {"ONNXArgMin",
     R"(arg { name: "axis" i: -1 } arg { name: "select_last_index" i: 1 })",
     {F32({3, 2}, {2, 2, 3, 10, 3, 1})},
     {I64({3, 1}, {1, 0, 1})}},
    {"ONNXArgMin",
     R"(arg { name: "axis" i: 0 } arg { name: "keepdims" i: 0 })",
     {U8({3, 2}, {2, 2, 3, 10, 3, 1})},
     {I64({2}, {0, 2})}},
    {"ONNXArgMax",
     R"(arg { name: "axis" i: 0 })",
     {I16({3, 2}, {2, 2, 3, 10, 3, 1})},
     {I64({1, 2}, {1, 1})}},
    {"ONNXArgMin", R"(arg { name: "axis" i: 1 })", {F32({0, 3}, {})}, {I64({0, 1}, {})}},
};

TEST(OnnxArgMaxTest, AgreesWithTheReference) {
  for (const OnnxCase& c : kCases) ExpectOnnxCase(c);
}

// Feeds the inputs of a case and expects that the operator throws.
void ExpectCaseThrows(const OnnxCase& c, const std::string& error) {
  SCOPED_TRACE(OnnxCaseOp(c));
  Workspace ws;
  FeedOnnxCase(&ws, c);
  ExpectThrows([&] { RunOp(&ws, OnnxCaseOp(c)); }, error);
}

TEST(OnnxArgMaxTest, RejectsAnEmptyAxis) {
  ExpectCaseThrows({"ONNXArgMax", "", {F32({0, 2}, {})}, {I64({}, {})}}, "size of axis 0");
  ExpectCaseThrows(
      {"ONNXArgMin", R"(arg { name: "axis" i: -3 })", {F32({1, 2}, {1, 2})}, {I64({}, {})}},
      "axis is -3, want -2 to 1");
}

}  // namespace
}  // namespace caffe2rt::onnx_arg_max_test
