#include <cmath>

#include "tests/support/onnx_case.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::det_test {
namespace {

using namespace test;

// Inputs drawn by numpy, outputs computed by ONNX's reference evaluator (onnx 1.23).
const OnnxCase kCases[] = {
    {"Det", R"()", {F32({2, 2}, {0, 1, 2, 3})}, {F32({}, {-2})}, 1e-06},
    {"Det",
     R"()",
     {F32({2, 3, 3}, {0.16, -1.87, 1.02, 0.29, -2.06, 2.59, 0.26, 0.92, 1.03, 1.91, -2.92, 2.09,
                      -0.39, -0.14, 1.29, 2.04, -2.32, 0.67})},
     {F32({2}, {-0.602977, -0.42224252})},
     1e-05},
    {"Det", R"()", {F64({2, 2}, {1.0, 2.0, 2.0, 4.0})}, {F64({}, {0.0})}},
    {"Det", R"()", {F32({2, 0, 0}, {})}, {F32({2}, {1, 1})}},
};

TEST(DetTest, AgreesWithTheReference) {
  for (const OnnxCase& c : kCases) ExpectOnnxCase(c);
}

// Feeds the inputs of a case and expects that the operator throws.
void ExpectCaseThrows(const OnnxCase& c, const std::string& error) {
  SCOPED_TRACE(OnnxCaseOp(c));
  Workspace ws;
  FeedOnnxCase(&ws, c);
  ExpectThrows([&] { RunOp(&ws, OnnxCaseOp(c)); }, error);
}

TEST(DetTest, RejectsOtherMatrices) {
  ExpectCaseThrows({"Det", "", {F32({2, 3}, {1, 2, 3, 4, 5, 6})}, {F32({}, {})}},
                   "want square matrices");
  ExpectCaseThrows({"Det", "", {F32({1}, {1})}, {F32({}, {})}}, "want square matrices");
}

}  // namespace
}  // namespace caffe2rt::det_test
