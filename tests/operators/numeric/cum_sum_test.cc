#include <cmath>

#include "tests/support/onnx_case.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::cum_sum_test {
namespace {

using namespace test;

// Inputs drawn by numpy, outputs computed by ONNX's reference evaluator (onnx 1.23).
const OnnxCase kCases[] = {
    {"CumSum",
     R"()",
     {F64({5}, {1.0, 2.0, 3.0, 4.0, 5.0}), I32({}, {0})},
     {F64({5}, {1.0, 3.0, 6.0, 10.0, 15.0})}},
    {"CumSum",
     R"(arg { name: "exclusive" i: 1 })",
     {F32({5}, {1, 2, 3, 4, 5}), I64({}, {-1})},
     {F32({5}, {0, 1, 3, 6, 10})}},
    {"CumSum",
     R"(arg { name: "reverse" i: 1 })",
     {I32({2, 3}, {1, 2, 3, 4, 5, 6}), I32({}, {0})},
     {I32({2, 3}, {5, 7, 9, 4, 5, 6})}},
    {"CumSum",
     R"(arg { name: "reverse" i: 1 } arg { name: "exclusive" i: 1 })",
     {I64({2, 3}, {1, 2, 3, 4, 5, 6}), I32({}, {1})},
     {I64({2, 3}, {5, 3, 0, 11, 6, 0})}},
    {"CumSum",
     R"()",
     {F32({2, 3, 2}, {0.77, -1.49, 0.55, 2.16, -2.71, 2.13, 1.32, -1.22, -0.09, 2.07, 0.61, -2.06}),
      I32({}, {1})},
     {F32({2, 3, 2}, {0.77, -1.49, 1.3199999, 0.6700001, -1.3900001, 2.8000002, 1.32, -1.22, 1.23,
                      0.8499999, 1.84, -1.21})},
     1e-06},
    {"CumProd",
     R"(arg { name: "exclusive" i: 1 })",
     {I64({2, 3}, {1, 2, 3, 4, 5, 6}), I32({}, {-1})},
     {I64({2, 3}, {1, 1, 2, 1, 4, 20})}},
    {"CumProd",
     R"(arg { name: "reverse" i: 1 })",
     {F32({2, 3}, {1, 2, 3, 4, 5, 6}), I32({}, {1})},
     {F32({2, 3}, {6, 6, 3, 120, 30, 6})}},
    {"CumSum", R"()", {F32({2, 0}, {}), I32({}, {1})}, {F32({2, 0}, {})}},
};

TEST(CumSumTest, AgreesWithTheReference) {
  for (const OnnxCase& c : kCases) ExpectOnnxCase(c);
}

// Feeds the inputs of a case and expects that the operator throws.
void ExpectCaseThrows(const OnnxCase& c, const std::string& error) {
  SCOPED_TRACE(OnnxCaseOp(c));
  Workspace ws;
  FeedOnnxCase(&ws, c);
  ExpectThrows([&] { RunOp(&ws, OnnxCaseOp(c)); }, error);
}

TEST(CumSumTest, WrapsAroundAndRejectsOtherAxes) {
  ExpectOnnxCase({"CumProd",
                  "",
                  {I32({3}, {2147483647, 2, 2}), I32({}, {0})},
                  {I32({3}, {2147483647, -2, -4})}});
  ExpectCaseThrows({"CumSum", "", {F32({2}, {1, 2}), I32({}, {1})}, {F32({}, {})}},
                   "axis is 1, want -1 to 0");
  ExpectCaseThrows({"CumSum", "", {F32({}, {1}), I32({}, {0})}, {F32({}, {})}}, "axis is 0");
  ExpectCaseThrows(
      {"CumSum", "", {F32({2}, {1, 2}), I64({}, {-9223372036854775808.0})}, {F32({}, {})}},
      "axis is -9223372036854775808");
  ExpectCaseThrows({"CumSum", "", {F32({2}, {1, 2}), I32({2}, {0, 0})}, {F32({}, {})}},
                   "elements of input 1 (axis)");
}

}  // namespace
}  // namespace caffe2rt::cum_sum_test
