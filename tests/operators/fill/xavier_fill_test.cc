#include <algorithm>
#include <cmath>

#include "tests/support/operator_test.h"

namespace caffe2rt::xavier_fill_test {
namespace {

using test::ExpectShapeInferred;
using test::ExpectTensor;
using test::ExpectThrows;
using test::Fetch;
using test::RunOp;

// fan_in = 4 / 2 = 2 and bound = sqrt(3 / 2) = 1.2247449. The uniform sequence of seed 1 starts
// with 0.7576316, 0.2793109.
TEST(XavierFillTest, DrawsWithinTheBoundOfFanIn) {
  Workspace ws;
  const char* op = R"(type: "XavierFill" output: "Y" arg { name: "shape" ints: 2 ints: 2 }
                      device_option { random_seed: 1 })";
  RunOp(&ws, op);
  ExpectTensor<float>(ws, "Y", {2, 2}, {0.63106596f, -0.54057574f, -0.23743087f, 0.57485723f},
                      1e-6);
  ExpectShapeInferred(&ws, op);
}

// Of filters [out, in, height, width] it is in * height * width: the bound is sqrt(3 / 75).
TEST(XavierFillTest, FanInOfFiltersHasTheSizeOfAWindow) {
  Workspace ws;
  RunOp(&ws, R"(type: "XavierFill" output: "Y" device_option { random_seed: 3 }
                arg { name: "shape" ints: 8 ints: 3 ints: 5 ints: 5 })");
  float largest = 0;
  for (const float value : Fetch<float>(ws, "Y")) largest = std::max(largest, std::abs(value));
  EXPECT_LE(largest, 0.2f);
  EXPECT_GT(largest, 0.19f);
}

TEST(XavierFillTest, RejectsShapesWithoutFanIn) {
  Workspace ws;
  ExpectThrows([&] { RunOp(&ws, R"(type: "XavierFill" output: "Y")"); },
               "dim 0 is the number of outputs");
  ExpectThrows(
      [&] {
        RunOp(&ws, R"(type: "XavierFill" output: "Y" arg { name: "shape" ints: 0 ints: 2 })");
      },
      "elements of the output of shape [0, 2]");
}

}  // namespace
}  // namespace caffe2rt::xavier_fill_test
