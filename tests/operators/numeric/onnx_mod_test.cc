#include <cmath>

#include "tests/support/onnx_case.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::onnx_mod_test {
namespace {

using namespace test;

// Inputs drawn by numpy, outputs computed by ONNX's reference evaluator (onnx 1.23).
const OnnxCase kCases[] = {
    {"ONNXMod",
     R"()",
     {I64({6}, {-4, 7, 5, 4, -7, 8}), I64({6}, {2, -3, 8, -2, 3, 5})},
     {I64({6}, {0, -2, 5, 0, 2, 3})}},
    {"ONNXMod",
     R"(arg { name: "fmod" i: 1 })",
     {I32({6}, {-4, 7, 5, 4, -7, 8}), I32({6}, {2, -3, 8, -2, 3, 5})},
     {I32({6}, {0, 1, 5, 0, -1, 3})}},
    {"ONNXMod",
     R"(arg { name: "fmod" i: 1 })",
     {F32({6}, {-4.3, 7.2, 5, 4.3, -7.2, 8}), F32({6}, {2.1, -3.4, 8, -2.1, 3.4, 5})},
     {F32({6}, {-0.10000038, 0.39999962, 5, 0.10000038, -0.39999962, 3})},
     1e-06},
    {"ONNXMod",
     R"(arg { name: "fmod" i: 1 })",
     {F64({3}, {-4.3, 7.2, 5.0}), F64({3}, {2.1, -3.4, 8.0})},
     {F64({3}, {-0.09999999999999964, 0.40000000000000036, 5.0})},
     1e-12},
    {"ONNXMod",
     R"()",
     {U8({3, 1}, {250, 7, 9}), U8({2}, {7, 13})},
     {U8({3, 2}, {5, 3, 0, 7, 2, 9})}},
    {"ONNXMod", R"()", {I8({3}, {-128, 127, 5}), I8({3}, {-1, 100, -2})}, {I8({3}, {0, 27, -1})}},
    {"ONNXMod", R"()", {I16({2}, {-32768, 77}), I16({2}, {100, -7})}, {I16({2}, {32, 0})}},
    {"ONNXMod", R"()", {U16({2}, {65535, 7}), U16({2}, {1000, 7})}, {U16({2}, {535, 0})}},
};

TEST(OnnxModTest, AgreesWithTheReference) {
  for (const OnnxCase& c : kCases) ExpectOnnxCase(c);
}

// Feeds the inputs of a case and expects that the operator throws.
void ExpectCaseThrows(const OnnxCase& c, const std::string& error) {
  SCOPED_TRACE(OnnxCaseOp(c));
  Workspace ws;
  FeedOnnxCase(&ws, c);
  ExpectThrows([&] { RunOp(&ws, OnnxCaseOp(c)); }, error);
}

// The quotient of these numbers overflows.
TEST(OnnxModTest, DividesTheSmallestIntegersByMinusOne) {
  constexpr double kSmallest = -2147483648.0;
  ExpectOnnxCase({"ONNXMod", "", {I32({1}, {kSmallest}), I32({1}, {-1})}, {I32({1}, {0})}});
  ExpectOnnxCase({"ONNXMod",
                  R"(arg { name: "fmod" i: 1 })",
                  {I64({1}, {-9223372036854775808.0}), I64({1}, {-1})},
                  {I64({1}, {0})}});
}

TEST(OnnxModTest, RejectsDivisionByZero) {
  ExpectCaseThrows({"ONNXMod", "", {I32({2}, {1, 2}), I32({2}, {1, 0})}, {I32({}, {})}},
                   "input 1 (B) is 0 at element 1");
  ExpectCaseThrows({"ONNXMod", "", {I32({2}, {1, 2}), I64({2}, {1, 1})}, {I32({}, {})}}, "int64");
  ExpectCaseThrows({"ONNXMod", "", {I32({2}, {1, 2}), I32({3}, {1, 1, 1})}, {I32({}, {})}}, "[3]");
}

}  // namespace
}  // namespace caffe2rt::onnx_mod_test
