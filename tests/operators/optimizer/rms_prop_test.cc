#include "tests/support/operator_test.h"

namespace caffe2rt::test::rms_prop_test {
namespace {

constexpr char kRmsProp[] = R"(type: "RmsProp" input: "G" input: "S" input: "M" input: "L"
    output: "G" output: "S" output: "M" arg { name: "decay" f: 0.75 }
    arg { name: "momentum" f: 0.5 } arg { name: "epsilon" f: 5 })";

TEST(RmsPropTest, DividesByTheRootOfTheMeanOfSquares) {
  Workspace ws;
  Feed<float>(&ws, "G", {2}, {4, 0});
  Feed<float>(&ws, "S", {2}, {0, 16});
  Feed<float>(&ws, "M", {2}, {2, -4});
  Feed<float>(&ws, "L", {1}, {6});
  RunOp(&ws, kRmsProp);
  // Means 4 and 12; 6 * 4 / sqrt(4 + 5) = 8.
  ExpectTensor<float>(ws, "S", {2}, {4, 12}, 1e-6);
  ExpectTensor<float>(ws, "M", {2}, {9, -2}, 1e-6);
  ExpectTensor<float>(ws, "G", {2}, {9, -2}, 1e-6);
  ExpectShapeInferred(&ws, kRmsProp);
}

TEST(RmsPropTest, AcceptsEmptyTensorsAndRejectsOtherSizes) {
  Workspace ws;
  for (const char* name : {"G", "S", "M"}) Feed<float>(&ws, name, {0, 2}, {});
  Feed<float>(&ws, "L", {}, {1});
  RunOp(&ws, kRmsProp);
  ExpectTensor<float>(ws, "G", {0, 2}, {});
  Feed<float>(&ws, "M", {1}, {1});
  ExpectThrows([&] { RunOp(&ws, kRmsProp); },
               "elements of input 2 (moment) of shape [1], want as many as input 0 (grad)");
  Feed<float>(&ws, "L", {0}, {});
  Feed<float>(&ws, "M", {0}, {});
  ExpectThrows([&] { RunOp(&ws, kRmsProp); }, "elements of input 3 (lr) of shape [0]");
}

}  // namespace
}  // namespace caffe2rt::test::rms_prop_test
