#include "tests/support/operator_test.h"

namespace caffe2rt::gaussian_fill_test {
namespace {

using test::ExpectShapeInferred;
using test::ExpectTensor;
using test::ExpectThrows;
using test::Fetch;
using test::RunOp;

// The first values that the last version of Caffe2 generates for these seeds.
TEST(GaussianFillTest, RepeatsCaffe2sSequenceOfASeed) {
  Workspace ws;
  const char* op = R"(type: "GaussianFill" output: "Y" arg { name: "shape" ints: 5 }
                      device_option { random_seed: 1 })";
  RunOp(&ws, op);
  ExpectTensor<float>(ws, "Y", {5},
                      {0.03879548f, -0.80844897f, -1.3361154f, 0.93191576f, 1.7634561f}, 1e-6);
  ExpectShapeInferred(&ws, op);
  RunOp(&ws,
        R"(type: "GaussianFill" output: "Y" arg { name: "shape" ints: 3 } arg { name: "mean" f: 1 }
                arg { name: "std" f: 2 } device_option { random_seed: 3 })");
  ExpectTensor<float>(ws, "Y", {3}, {1.9444062f, 1.0253053f, 0.89559436f}, 1e-6);
}

TEST(GaussianFillTest, GivesTheMeanWithoutDeviation) {
  Workspace ws;
  RunOp(&ws,
        R"(type: "GaussianFill" output: "Y" arg { name: "shape" ints: 2 } arg { name: "mean" f: 3 }
                arg { name: "std" f: 0 })");
  ExpectTensor<float>(ws, "Y", {2}, {3, 3});
}

TEST(GaussianFillTest, HasTheMomentsOfTheDistribution) {
  Workspace ws;
  RunOp(
      &ws,
      R"(type: "GaussianFill" output: "Y" arg { name: "shape" ints: 100001 } arg { name: "mean" f: 2 }
                arg { name: "std" f: 3 } device_option { random_seed: 9 })");
  double sum = 0, squares = 0;
  const std::vector<float> values = Fetch<float>(ws, "Y");
  for (const float value : values) {
    sum += value;
    squares += (value - 2.0) * (value - 2.0);
  }
  EXPECT_NEAR(sum / values.size(), 2, 0.05);
  EXPECT_NEAR(squares / values.size(), 9, 0.15);
}

TEST(GaussianFillTest, ReturnsAnEmptyTensorAndRejectsANegativeDeviation) {
  Workspace ws;
  RunOp(&ws, R"(type: "GaussianFill" output: "Y" arg { name: "shape" ints: 0 })");
  ExpectTensor<float>(ws, "Y", {0}, {});
  ExpectThrows([&] { RunOp(&ws, R"(type: "GaussianFill" output: "Y" arg { name: "std" f: -1 })"); },
               "argument \"std\" is -1, want at least 0");
  ExpectThrows(
      [&] { RunOp(&ws, R"(type: "GaussianFill" output: "Y" arg { name: "std" f: nan })"); },
      "argument \"std\" is nan, want at least 0");
}

}  // namespace
}  // namespace caffe2rt::gaussian_fill_test
