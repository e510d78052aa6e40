#include <cmath>

#include "tests/support/onnx_case.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::bit_shift_test {
namespace {

using namespace test;

// Inputs drawn by numpy, outputs computed by ONNX's reference evaluator (onnx 1.23).
const OnnxCase kCases[] = {
    {"BitShift",
     R"(arg { name: "direction" s: "RIGHT" })",
     {U8({3}, {16, 4, 1}), U8({3}, {1, 2, 3})},
     {U8({3}, {8, 1, 0})}},
    {"BitShift",
     R"(arg { name: "direction" s: "LEFT" })",
     {U8({3}, {200, 4, 1}), U8({3}, {1, 2, 8})},
     {U8({3}, {144, 16, 0})}},
    {"BitShift",
     R"(arg { name: "direction" s: "LEFT" })",
     {U16({3, 1}, {65535, 4, 1}), U16({3}, {1, 15, 16})},
     {U16({3, 3}, {65534, 32768, 0, 8, 0, 0, 2, 32768, 0})}},
    {"BitShift",
     R"(arg { name: "direction" s: "RIGHT" })",
     {I8({4}, {-128, -1, 100, -3}), I8({4}, {1, 8, 2, -1})},
     {I8({4}, {-64, -1, 25, -1})}},
    {"BitShift",
     R"(arg { name: "direction" s: "LEFT" })",
     {I32({4}, {-128, -1, 100, -3}), I32({4}, {31, 32, 2, -1})},
     {I32({4}, {0, 0, 400, 0})}},
};

TEST(BitShiftTest, AgreesWithTheReference) {
  for (const OnnxCase& c : kCases) ExpectOnnxCase(c);
}

// Feeds the inputs of a case and expects that the operator throws.
void ExpectCaseThrows(const OnnxCase& c, const std::string& error) {
  SCOPED_TRACE(OnnxCaseOp(c));
  Workspace ws;
  FeedOnnxCase(&ws, c);
  ExpectThrows([&] { RunOp(&ws, OnnxCaseOp(c)); }, error);
}

TEST(BitShiftTest, RejectsFloatsAndOtherDirections) {
  const char* left = R"(arg { name: "direction" s: "LEFT" })";
  ExpectCaseThrows({"BitShift", left, {F32({1}, {1}), F32({1}, {1})}, {F32({}, {})}},
                   "elements of type float");
  ExpectCaseThrows({"BitShift", left, {U8({1}, {1}), U16({1}, {1})}, {U8({}, {})}}, "uint16");
  ExpectCaseThrows({"BitShift",
                    R"(arg { name: "direction" s: "UP" })",
                    {U8({1}, {1}), U8({1}, {1})},
                    {U8({}, {})}},
                   "LEFT or RIGHT");
}

}  // namespace
}  // namespace caffe2rt::bit_shift_test
