#include <cmath>

#include "tests/support/onnx_case.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::max_unpool_test {
namespace {

using namespace test;

// Inputs drawn by numpy, outputs computed by ONNX's reference evaluator (onnx 1.23).
const OnnxCase kCases[] = {
    {"MaxUnpool",
     R"(arg { name: "kernel_shape" ints: 2 ints: 2 } arg { name: "strides" ints: 2 ints: 2 })",
     {F32({1, 1, 2, 2}, {1, 2, 3, 4}), I64({1, 1, 2, 2}, {5, 7, 13, 15})},
     {F32({1, 1, 4, 4}, {0, 0, 0, 0, 0, 1, 0, 2, 0, 0, 0, 0, 0, 3, 0, 4})}},
    {"MaxUnpool",
     R"(arg { name: "kernel_shape" ints: 2 ints: 2 } arg { name: "strides" ints: 2 ints: 2 })",
     {F32({1, 1, 2, 2}, {5, 6, 7, 8}), I64({1, 1, 2, 2}, {5, 7, 13, 15}), I64({4}, {1, 1, 5, 5})},
     {F32({1, 1, 5, 5},
          {0, 0, 0, 0, 0, 0, 5, 0, 6, 0, 0, 0, 0, 0, 0, 0, 7, 0, 8, 0, 0, 0, 0, 0, 0})}},
    // Two images; the positions count in outputs of [2, 1, 4], the first part of those that are asked for.
    {"MaxUnpool",
     R"(arg { name: "kernel_shape" ints: 2 } arg { name: "strides" ints: 2 })",
     {F32({2, 1, 2}, {1, 2, 3, 4}), I64({2, 1, 2}, {1, 3, 4, 6}), I64({3}, {2, 1, 6})},
     {F32({2, 1, 6}, {0, 1, 0, 2, 0, 0, 3, 0, 4, 0, 0, 0})}},
};

TEST(MaxUnpoolTest, AgreesWithTheReference) {
  for (const OnnxCase& c : kCases) ExpectOnnxCase(c);
}

// Feeds the inputs of a case and expects that the operator throws.
void ExpectCaseThrows(const OnnxCase& c, const std::string& error) {
  SCOPED_TRACE(OnnxCaseOp(c));
  Workspace ws;
  FeedOnnxCase(&ws, c);
  ExpectThrows([&] { RunOp(&ws, OnnxCaseOp(c)); }, error);
}

TEST(MaxUnpoolTest, RejectsPositionsOutsideOfTheOutput) {
  const char* two = R"(arg { name: "kernel_shape" ints: 2 })";
  const OnnxCaseTensor x = F32({1, 1, 2}, {1, 2});
  ExpectCaseThrows({"MaxUnpool", two, {x, I64({1, 1, 2}, {0, 3})}, {F32({}, {})}},
                   "input 1 (I) is 3 at element 1, want 0 to 2");
  ExpectCaseThrows({"MaxUnpool", two, {x, I64({1, 1, 2}, {0, -1})}, {F32({}, {})}},
                   "input 1 (I) is -1");
  ExpectCaseThrows(
      {"MaxUnpool", two, {x, I64({1, 1, 2}, {0, 1}), I64({3}, {1, 1, 2})}, {F32({}, {})}},
      "axis 2 of input 2 (output_shape)");
  // One element less than the windows imply, in each axis.
  for (int axis = 0; axis < 4; ++axis) {
    std::vector<double> shape = {1, 2, 4, 6};
    --shape[static_cast<size_t>(axis)];
    ExpectCaseThrows({"MaxUnpool",
                      R"(arg { name: "kernel_shape" ints: 2 ints: 2 }
                         arg { name: "strides" ints: 2 ints: 2 })",
                      {F32({1, 2, 2, 3}, std::vector<double>(12)),
                       I64({1, 2, 2, 3}, std::vector<double>(12)), I64({4}, shape)},
                      {F32({}, {})}},
                     MakeString("axis ", axis, " of input 2 (output_shape)"));
  }
}

}  // namespace
}  // namespace caffe2rt::max_unpool_test
