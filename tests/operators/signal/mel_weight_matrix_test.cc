#include <cmath>

#include "tests/support/onnx_case.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::mel_weight_matrix_test {
namespace {

using namespace test;

// Inputs drawn by numpy, outputs computed by ONNX's reference evaluator (onnx 1.23).
const OnnxCase kCases[] = {
    {"MelWeightMatrix",
     R"()",
     {I32({}, {4}), I32({}, {16}), I32({}, {8192}), F32({}, {0}), F32({}, {4096})},
     {F32({9, 4}, {1, 0,   0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0,
                   0, 0.5, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0})},
     1e-06},
    {"MelWeightMatrix",
     R"(arg { name: "output_datatype" i: 13 })",
     {I64({}, {3}), I64({}, {9}), I64({}, {1000}), F32({}, {100}), F32({}, {400})},
     {F64({5, 3}, {0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0})},
     1e-12},
};

TEST(MelWeightMatrixTest, AgreesWithTheReference) {
  for (const OnnxCase& c : kCases) ExpectOnnxCase(c);
}

// Feeds the inputs of a case and expects that the operator throws.
void ExpectCaseThrows(const OnnxCase& c, const std::string& error) {
  SCOPED_TRACE(OnnxCaseOp(c));
  Workspace ws;
  FeedOnnxCase(&ws, c);
  ExpectThrows([&] { RunOp(&ws, OnnxCaseOp(c)); }, error);
}

TEST(MelWeightMatrixTest, RejectsBinsOutsideOfTheSpectrum) {
  ExpectCaseThrows({"MelWeightMatrix",
                    "",
                    {I32({}, {4}), I32({}, {16}), I32({}, {100}), F32({}, {0}), F32({}, {1000})},
                    {F32({}, {})}},
                   "must be at most half of input 2 (sample_rate)");
  ExpectCaseThrows({"MelWeightMatrix",
                    "",
                    {I32({}, {0}), I32({}, {16}), I32({}, {100}), F32({}, {0}), F32({}, {10})},
                    {F32({}, {})}},
                   "input 0 (num_mel_bins) is 0");
}

}  // namespace
}  // namespace caffe2rt::mel_weight_matrix_test
