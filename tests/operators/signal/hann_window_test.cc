#include <cmath>

#include "tests/support/onnx_case.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::hann_window_test {
namespace {

using namespace test;

// Inputs drawn by numpy, outputs computed by ONNX's reference evaluator (onnx 1.23).
const OnnxCase kCases[] = {
    {"HannWindow",
     R"()",
     {I32({}, {5})},
     {F32({5}, {0, 0.34549153, 0.90450853, 0.9045085, 0.34549144})},
     1e-06},
    {"HannWindow",
     R"(arg { name: "periodic" i: 0 } arg { name: "output_datatype" i: 13 })",
     {I64({}, {4})},
     {F64({4}, {0.0, 0.7499999999999999, 0.7500000000000001, 1.4997597826618576e-32})},
     1e-12},
    {"HammingWindow",
     R"()",
     {I32({}, {5})},
     {F32({5}, {0.08695652, 0.4024053, 0.9128121, 0.9128121, 0.40240523})},
     1e-06},
    {"HammingWindow",
     R"(arg { name: "periodic" i: 0 } arg { name: "output_datatype" i: 13 })",
     {I64({}, {4})},
     {F64({4}, {0.08695652173913038, 0.7717391304347825, 0.7717391304347828, 0.08695652173913038})},
     1e-12},
    {"BlackmanWindow",
     R"()",
     {I32({}, {5})},
     {F32({5}, {0, 0.20077014, 0.8492299, 0.8492299, 0.20077014})},
     1e-06},
    {"BlackmanWindow",
     R"(arg { name: "periodic" i: 0 } arg { name: "output_datatype" i: 13 })",
     {I64({}, {4})},
     {F64({4}, {0.0, 0.6299999999999999, 0.6300000000000003, 0.0})},
     1e-12},
};

TEST(HannWindowTest, AgreesWithTheReference) {
  for (const OnnxCase& c : kCases) ExpectOnnxCase(c);
}

// Feeds the inputs of a case and expects that the operator throws.
void ExpectCaseThrows(const OnnxCase& c, const std::string& error) {
  SCOPED_TRACE(OnnxCaseOp(c));
  Workspace ws;
  FeedOnnxCase(&ws, c);
  ExpectThrows([&] { RunOp(&ws, OnnxCaseOp(c)); }, error);
}

TEST(HannWindowTest, AcceptsSmallSizesAndRejectsNegativeOnes) {
  ExpectOnnxCase({"HannWindow", "", {I32({}, {0})}, {F32({0}, {})}});
  ExpectOnnxCase(
      {"HannWindow", R"(arg { name: "periodic" i: 0 })", {I32({}, {1})}, {F32({1}, {0})}});
  ExpectCaseThrows({"HannWindow", "", {I32({}, {-1})}, {F32({}, {})}}, "input 0 (size)");
  ExpectCaseThrows(
      {"HannWindow", R"(arg { name: "output_datatype" i: 2 })", {I32({}, {1})}, {F32({}, {})}},
      "FLOAT or DOUBLE");
}

}  // namespace
}  // namespace caffe2rt::hann_window_test
