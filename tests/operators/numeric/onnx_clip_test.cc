#include <cmath>

#include "tests/support/onnx_case.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::onnx_clip_test {
namespace {

using namespace test;

// Inputs drawn by numpy, outputs computed by ONNX's reference evaluator (onnx 1.23).
const OnnxCase kCases[] = {
    {"ONNXClip", R"()", {I8({3}, {-3, 0, 5}), I8({}, {-1}), I8({}, {2})}, {I8({3}, {-1, 0, 2})}},
    {"ONNXClip",
     R"(arg { name: "omitted_inputs" ints: 1 })",
     {I64({3}, {-3, 0, 5}), I64({}, {2})},
     {I64({3}, {-3, 0, 2})}},
    {"ONNXClip",
     R"()",
     {F64({3}, {-3.0, 0.0, 5.0}), F64({}, {-1.0})},
     {F64({3}, {-1.0, 0.0, 5.0})}},
    {"ONNXClip", R"()", {F32({3}, {-3, 0, 5}), F32({}, {2}), F32({}, {1})}, {F32({3}, {1, 1, 1})}},
    {"ONNXClip", R"()", {U8({3}, {3, 0, 5}), U8({}, {1}), U8({}, {4})}, {U8({3}, {3, 1, 4})}},
};

TEST(OnnxClipTest, AgreesWithTheReference) {
  for (const OnnxCase& c : kCases) ExpectOnnxCase(c);
}

// Feeds the inputs of a case and expects that the operator throws.
void ExpectCaseThrows(const OnnxCase& c, const std::string& error) {
  SCOPED_TRACE(OnnxCaseOp(c));
  Workspace ws;
  FeedOnnxCase(&ws, c);
  ExpectThrows([&] { RunOp(&ws, OnnxCaseOp(c)); }, error);
}

TEST(OnnxClipTest, KeepsNaNAndRejectsOtherLimits) {
  ExpectOnnxCase({"ONNXClip",
                  "",
                  {F32({2}, {NAN, INFINITY}), F32({}, {0}), F32({1}, {1})},
                  {F32({2}, {NAN, 1})}});
  ExpectCaseThrows({"ONNXClip", "", {F32({1}, {1}), F32({2}, {0, 0})}, {F32({}, {})}},
                   "elements of input 1 (min)");
  ExpectCaseThrows({"ONNXClip", "", {F32({1}, {1}), I32({}, {0})}, {F32({}, {})}}, "int32");
  ExpectCaseThrows(
      {"ONNXClip", R"(arg { name: "omitted_inputs" ints: 99 })", {F32({1}, {1})}, {F32({}, {})}},
      "omitted_inputs contains 99");
}

}  // namespace
}  // namespace caffe2rt::onnx_clip_test
