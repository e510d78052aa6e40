#include <cmath>

#include "tests/support/onnx_case.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::onnx_max_test {
namespace {

using namespace test;

// Inputs drawn by numpy, outputs computed by ONNX's reference evaluator (onnx 1.23).
const OnnxCase kCases[] = {
    {"ONNXMax",
     R"()",
     {F32({2, 3}, {0.28, 1.79, 1.92, -2.27, 0.61, 0.15}), F32({3}, {-0.22, -0.17, 0.8}),
      F32({}, {0.5})},
     {F32({2, 3}, {0.5, 1.79, 1.92, 0.5, 0.61, 0.8})}},
    {"ONNXMin",
     R"()",
     {F32({2, 1}, {2.55, 1.89}), F32({3}, {2.67, 2.52, -0.51})},
     {F32({2, 3}, {2.55, 2.52, -0.51, 1.89, 1.89, -0.51})}},
    {"ONNXMax", R"()", {F32({3}, {3, NAN, 1}), F32({3}, {1, 4, NAN})}, {F32({3}, {3, NAN, NAN})}},
    {"ONNXMin",
     R"()",
     {F64({3}, {3.0, NAN, 1.0}), F64({3}, {1.0, 4.0, NAN})},
     {F64({3}, {1.0, NAN, NAN})}},
    {"ONNXMax", R"()", {U8({3}, {3, 200, 1}), U8({3}, {1, 4, 9})}, {U8({3}, {3, 200, 9})}},
    {"ONNXMin",
     R"()",
     {I8({3}, {-3, 100, 1}), I8({3}, {1, 4, 9}), I8({1}, {0})},
     {I8({3}, {-3, 0, 0})}},
    {"ONNXMax", R"()", {I16({2, 1}, {3, 2}), I16({2}, {1, 4})}, {I16({2, 2}, {3, 4, 2, 4})}},
    {"ONNXMax", R"()", {U16({2}, {3, 2})}, {U16({2}, {3, 2})}},
    {"ONNXMin",
     R"()",
     {I64({2}, {3, 2}), I64({2}, {1099511627776, -1125899906842624})},
     {I64({2}, {3, -1125899906842624})}},
    {"ONNXMax", R"()", {F32({0, 2}, {}), F32({2}, {1.95, 2.68})}, {F32({0, 2}, {})}},
};

TEST(OnnxMaxTest, AgreesWithTheReference) {
  for (const OnnxCase& c : kCases) ExpectOnnxCase(c);
}

// Feeds the inputs of a case and expects that the operator throws.
void ExpectCaseThrows(const OnnxCase& c, const std::string& error) {
  SCOPED_TRACE(OnnxCaseOp(c));
  Workspace ws;
  FeedOnnxCase(&ws, c);
  ExpectThrows([&] { RunOp(&ws, OnnxCaseOp(c)); }, error);
}

TEST(OnnxMaxTest, RejectsOtherTypesAndShapes) {
  ExpectCaseThrows({"ONNXMax", "", {F32({2}, {1, 2}), F64({2}, {1, 2})}, {F32({}, {})}}, "double");
  ExpectCaseThrows({"ONNXMin", "", {F32({2}, {1, 2}), F32({3}, {1, 2, 3})}, {F32({}, {})}}, "[3]");
  ExpectCaseThrows({"ONNXMin", "", {Bool({1}, {1})}, {F32({}, {})}}, "elements of type bool");
}

TEST(OnnxMaxTest, GivesTheSameBitsOnAllThreads) {
  Workspace ws;
  FeedRandom(&ws, "A", {300, 200});
  FeedRandom(&ws, "B", {300, 1}, -1, 1, 7);
  ExpectSameBitsForAllThreads(&ws, R"(type: "ONNXMax" input: "A" input: "B" output: "Y")");
}

}  // namespace
}  // namespace caffe2rt::onnx_max_test
