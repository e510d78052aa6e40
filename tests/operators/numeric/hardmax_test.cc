#include <cmath>

#include "tests/support/onnx_case.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::hardmax_test {
namespace {

using namespace test;

// Inputs drawn by numpy, outputs computed by ONNX's reference evaluator (onnx 1.23).
const OnnxCase kCases[] = {
    {"Hardmax",
     R"()",
     {F32({4, 4}, {3, 0, 1, 2, 2, 5, 1, 0, 0, 1, 3, 2, 0, 1, 2, 3})},
     {F32({4, 4}, {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1})}},
    {"Hardmax",
     R"(arg { name: "axis" i: 0 })",
     {F64({4, 4},
          {3.0, 0.0, 1.0, 2.0, 2.0, 5.0, 1.0, 0.0, 0.0, 1.0, 3.0, 2.0, 0.0, 1.0, 2.0, 3.0})},
     {F64({4, 4},
          {1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0})}},
    {"Hardmax", R"()", {F32({1, 3}, {3, 3, 1})}, {F32({1, 3}, {1, 0, 0})}},
};

TEST(HardmaxTest, AgreesWithTheReference) {
  for (const OnnxCase& c : kCases) ExpectOnnxCase(c);
}

// Feeds the inputs of a case and expects that the operator throws.
void ExpectCaseThrows(const OnnxCase& c, const std::string& error) {
  SCOPED_TRACE(OnnxCaseOp(c));
  Workspace ws;
  FeedOnnxCase(&ws, c);
  ExpectThrows([&] { RunOp(&ws, OnnxCaseOp(c)); }, error);
}

TEST(HardmaxTest, AcceptsNoElementsAndRejectsScalars) {
  ExpectOnnxCase({"Hardmax", "", {F32({0, 3}, {})}, {F32({0, 3}, {})}});
  ExpectOnnxCase({"Hardmax", "", {F32({2, 0}, {})}, {F32({2, 0}, {})}});
  ExpectCaseThrows({"Hardmax", "", {F32({}, {1})}, {F32({}, {})}}, "axis is -1");
}

}  // namespace
}  // namespace caffe2rt::hardmax_test
