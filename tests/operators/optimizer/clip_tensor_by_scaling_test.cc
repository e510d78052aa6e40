#include "tests/support/operator_test.h"

namespace caffe2rt::test::clip_tensor_by_scaling_test {
namespace {

constexpr char kClip[] = R"(type: "ClipTensorByScaling" input: "X" input: "V" output: "Y"
                            arg { name: "threshold" f: 2 })";

TEST(ClipTensorByScalingTest, ScalesIfTheValueExceedsTheThreshold) {
  Workspace ws;
  Feed<float>(&ws, "X", {3}, {1, -2, 4});
  Feed<float>(&ws, "V", {1}, {4});
  RunOp(&ws, kClip);
  ExpectTensor<float>(ws, "Y", {3}, {0.5f, -1, 2});
  ExpectShapeInferred(&ws, kClip);
  Feed<float>(&ws, "V", {}, {2});
  RunOp(&ws, kClip);
  ExpectTensor<float>(ws, "Y", {3}, {1, -2, 4});
  Feed<float>(&ws, "V", {1}, {8});
  Feed<float>(&ws, "A", {1}, {2});
  RunOp(&ws, R"(type: "ClipTensorByScaling" input: "X" input: "V" input: "A" output: "X"
                arg { name: "threshold" f: 2 })");
  ExpectTensor<float>(ws, "X", {3}, {0.5f, -1, 2});
}

TEST(ClipTensorByScalingTest, RejectsOtherSizesAndThresholds) {
  Workspace ws;
  Feed<float>(&ws, "X", {0}, {});
  Feed<float>(&ws, "V", {2}, {4, 4});
  ExpectThrows([&] { RunOp(&ws, kClip); }, "elements of input 0 (input_tensor)");
  Feed<float>(&ws, "X", {1}, {1});
  ExpectThrows([&] { RunOp(&ws, kClip); }, "elements of input 1 (val) of shape [2]");
  const std::string op = R"(type: "ClipTensorByScaling" input: "X" input: "V" output: "Y")";
  ExpectThrows([&] { RunOp(&ws, op); }, "threshold");
  ExpectThrows([&] { RunOp(&ws, op + R"( arg { name: "threshold" f: 0 })"); },
               "argument \"threshold\" is 0, want above 0");
}

}  // namespace
}  // namespace caffe2rt::test::clip_tensor_by_scaling_test
