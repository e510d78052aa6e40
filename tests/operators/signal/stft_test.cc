#include <cmath>

#include "tests/support/onnx_case.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::stft_test {
namespace {

using namespace test;

// Inputs drawn by numpy, outputs computed by ONNX's reference evaluator (onnx 1.23).
const OnnxCase kCases[] = {
    {"STFT",
     R"()",
     {F32({2, 12, 1},
          {2.86, 1.89, -1.09, -1.21, -0.53, -0.96, 2.7,   -0.37, -1.15, 1.14, -2.46, 2.7,
           2,    1.31, 1.33,  -2.31, -0.11, 0.41,  -1.15, 1.78,  2.29,  1.22, 2.72,  -0.59}),
      I64({}, {3}), F32({6}, {0.1, 0.5, 1, 1, 0.5, 0.1})},
     {F32({2, 3, 4, 2}, {-1.4300001,  0,
                         2.598,       -0.18706144,
                         -0.67100006, -1.6160034,
                         -0.708,      -1.3877787807814457e-17,
                         1.054,       0,
                         -2.4385002,  0.8010735,
                         3.3415,      -0.54126585,
                         -3.586,      0,
                         -0.885,      0,
                         0.3625,      0.3247595,
                         2.5575,      0.46332365,
                         -3.335,      -2.7755575615628914e-17,
                         -0.13899992, 0,
                         2.2205,      -1.7311848,
                         -3.0955,     0.66770566,
                         3.089,       -1.1102230246251565e-16,
                         0.09300002,  0,
                         0.356,       0.6616434,
                         -2.118,      -0.16974097,
                         2.045,       5.551115123125783e-17,
                         5.586,       0,
                         -2.7445,     -1.6272616,
                         -1.1355,     -0.016454512,
                         1.484,       0})},
     1e-05},
    {"STFT",
     R"(arg { name: "onesided" i: 0 })",
     {F32({1, 12, 1}, {0.13, 1.67, -2.93, 0.38, -0.04, 0.88, 2.22, 0.58, -0.94, -1.03, 1.84, 2.43}),
      I64({}, {4}), F32({4}, {0.1, 0.5, 1, 0.2}), I64({}, {4})},
     {F32({1, 3, 4, 2},
          {-2.006,    0, 2.943,  -0.759, -3.828,    0, 2.943,  0.759, 2.772, 0, -2.224, -0.324,
           1.6600001, 0, -2.224, 0.324,  1.7170001, 0, -1.934, 1.001, 1.775, 0, -1.934, -1.001})},
     1e-05},
};

TEST(StftTest, AgreesWithTheReference) {
  for (const OnnxCase& c : kCases) ExpectOnnxCase(c);
}

// Feeds the inputs of a case and expects that the operator throws.
void ExpectCaseThrows(const OnnxCase& c, const std::string& error) {
  SCOPED_TRACE(OnnxCaseOp(c));
  Workspace ws;
  FeedOnnxCase(&ws, c);
  ExpectThrows([&] { RunOp(&ws, OnnxCaseOp(c)); }, error);
}

TEST(StftTest, RejectsOtherFrames) {
  const OnnxCaseTensor x = F32({1, 4, 1}, {1, 2, 3, 4});
  ExpectCaseThrows({"STFT", "", {x, I64({}, {1})}, {F32({}, {})}}, "want one of them");
  ExpectCaseThrows({"STFT", "", {x, I64({}, {0}), F32({2}, {1, 1})}, {F32({}, {})}},
                   "input 1 (frame_step)");
  ExpectCaseThrows({"STFT", "", {x, I64({}, {1}), F32({5}, {1, 1, 1, 1, 1})}, {F32({}, {})}},
                   "frames have 5 elements, want 1 to the 4");
}

}  // namespace
}  // namespace caffe2rt::stft_test
