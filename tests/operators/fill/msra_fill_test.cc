#include <cmath>
#include <vector>

#include "tests/support/operator_test.h"

namespace caffe2rt::msra_fill_test {
namespace {

using test::ExpectShapeInferred;
using test::ExpectTensor;
using test::ExpectThrows;
using test::Fetch;
using test::RunOp;

// fan_out = 6 / 3 = 2, so the standard deviation is 1, and the values are the normal sequence of
// seed 1 itself.
TEST(MSRAFillTest, HasTheDeviationOfFanOut) {
  Workspace ws;
  const char* op = R"(type: "MSRAFill" output: "Y" arg { name: "shape" ints: 2 ints: 3 }
                      device_option { random_seed: 1 })";
  RunOp(&ws, op);
  ExpectTensor<float>(
      ws, "Y", {2, 3},
      {0.03879548f, -0.80844897f, -1.3361154f, 0.93191576f, 1.7634561f, 0.32815418f}, 1e-6);
  ExpectShapeInferred(&ws, op);
}

// Of filters [out, in, height, width] it is out * height * width: the deviation is sqrt(2 / 200).
TEST(MSRAFillTest, FanOutOfFiltersHasTheSizeOfAWindow) {
  Workspace ws;
  RunOp(&ws, R"(type: "MSRAFill" output: "Y" device_option { random_seed: 3 }
                arg { name: "shape" ints: 8 ints: 30 ints: 5 ints: 5 })");
  double squares = 0;
  const std::vector<float> values = Fetch<float>(ws, "Y");
  for (const float value : values) squares += static_cast<double>(value) * value;
  EXPECT_NEAR(std::sqrt(squares / static_cast<double>(values.size())), 0.1, 0.004);
}

TEST(MSRAFillTest, ReturnsAnEmptyTensorAndRejectsShapesWithoutDimOne) {
  Workspace ws;
  RunOp(&ws, R"(type: "MSRAFill" output: "Y" arg { name: "shape" ints: 0 ints: 2 })");
  ExpectTensor<float>(ws, "Y", {0, 2}, {});
  ExpectThrows([&] { RunOp(&ws, R"(type: "MSRAFill" output: "Y" arg { name: "shape" ints: 3 })"); },
               "dim 1 is the number of inputs");
  ExpectThrows(
      [&] { RunOp(&ws, R"(type: "MSRAFill" output: "Y" arg { name: "shape" ints: 2 ints: 0 })"); },
      "dim 1 of the output of shape [2, 0]");
}

}  // namespace
}  // namespace caffe2rt::msra_fill_test
