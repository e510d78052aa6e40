#include "tests/support/operator_test.h"

namespace caffe2rt::test::weight_scale_test {
namespace {

constexpr char kScale[] = R"(type: "WeightScale" input: "W" input: "N" output: "V"
    arg { name: "stepsize" i: 2 } arg { name: "upper_bound_iter" i: 6 }
    arg { name: "scale" f: 0.5 })";

TEST(WeightScaleTest, MultipliesAtTheEndOfEachPeriodBelowTheBound) {
  const float want[] = {2, 1, 2, 1, 2, 2, 2, 2};
  for (int64_t iteration = 0; iteration < 8; ++iteration) {
    Workspace ws;
    Feed<float>(&ws, "W", {2}, {2, -4});
    Feed<int64_t>(&ws, "N", {1}, {iteration});
    RunOp(&ws, kScale);
    ExpectTensor<float>(ws, "V", {2}, {want[iteration], -2 * want[iteration]});
    ExpectShapeInferred(&ws, kScale);
  }
}

TEST(WeightScaleTest, KeepsTheParameterByDefaultAndRejectsAStepOfZero) {
  Workspace ws;
  Feed<float>(&ws, "W", {1}, {2});
  Feed<int64_t>(&ws, "N", {1}, {5});
  const std::string op = R"(type: "WeightScale" input: "W" input: "N" output: "W")";
  RunOp(&ws, op);
  ExpectTensor<float>(ws, "W", {1}, {2});
  ExpectThrows([&] { RunOp(&ws, op + R"( arg { name: "stepsize" i: 0 })"); },
               "argument \"stepsize\" is 0");
  Feed<int64_t>(&ws, "N", {0}, {});
  ExpectThrows([&] { RunOp(&ws, op); }, "elements of input 1 (iter)");
}

}  // namespace
}  // namespace caffe2rt::test::weight_scale_test
