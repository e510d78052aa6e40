#include "tests/support/operator_test.h"

namespace caffe2rt::diagonal_fill_test {
namespace {

using test::ExpectShapeInferred;
using test::ExpectTensor;
using test::ExpectThrows;
using test::Feed;
using test::RunOp;

std::string WithShape(const std::vector<int64_t>& shape) {
  std::string op = R"(type: "DiagonalFill" output: "Y" arg { name: "value" f: 1 }
                      arg { name: "shape")";
  for (const int64_t dim : shape) op += " ints: " + std::to_string(dim);
  return op + " }";
}

TEST(DiagonalFillTest, FillsTheDiagonalOfAMatrix) {
  Workspace ws;
  const char* op = R"(type: "DiagonalFill" output: "Y" arg { name: "shape" ints: 2 ints: 3 }
                      arg { name: "value" f: 2.5 })";
  RunOp(&ws, op);
  ExpectTensor<float>(ws, "Y", {2, 3}, {2.5, 0, 0, 0, 2.5, 0});
  ExpectShapeInferred(&ws, op);
}

TEST(DiagonalFillTest, StartsAgainInAHighMatrix) {
  Workspace ws;
  RunOp(&ws, R"(type: "DiagonalFill" output: "Y" arg { name: "shape" ints: 4 ints: 2 }
                arg { name: "value" i: 3 } arg { name: "dtype" i: 2 })");
  ExpectTensor<int32_t>(ws, "Y", {4, 2}, {3, 0, 0, 3, 0, 0, 3, 0});
}

TEST(DiagonalFillTest, FillsTheDiagonalOfACube) {
  Workspace ws;
  RunOp(&ws, R"(type: "DiagonalFill" output: "Y" arg { name: "shape" ints: 2 ints: 2 ints: 2 }
                arg { name: "value" f: 1 })");
  ExpectTensor<float>(ws, "Y", {2, 2, 2}, {1, 0, 0, 0, 0, 0, 0, 1});
}

TEST(DiagonalFillTest, MakesAnEmptyTensor) {
  Workspace ws;
  for (const std::vector<int64_t>& shape :
       {std::vector<int64_t>{0, 3}, {3, 0}, {0, 0}, {0, 0, 0}, {0, 0, 0, 0}}) {
    RunOp(&ws, WithShape(shape));
    ExpectTensor<float>(ws, "Y", shape, {});
    ExpectShapeInferred(&ws, WithShape(shape));
  }
}

// As in the original, a dimension of 0 does not change the rule.
TEST(DiagonalFillTest, RejectsUnequalDimensionsOfEmptyTensors) {
  Workspace ws;
  for (const std::vector<int64_t>& shape :
       {std::vector<int64_t>{0, 3, 3}, {3, 0, 3}, {3, 3, 0}, {2, 0, 3}, {1, 1, 0, 1}}) {
    ExpectThrows([&] { RunOp(&ws, WithShape(shape)); }, "want that of dim 0");
  }
  ExpectThrows([&] { RunOp(&ws, WithShape({0})); }, "rank of the output, want at least 2");
  Feed<float>(&ws, "X", {0, 3, 3}, {});
  ExpectThrows([&] { RunOp(&ws, R"(type: "DiagonalFill" input: "X" output: "Y")"); },
               "dim 2 of the output of shape [0, 3, 3], want that of dim 0");
}

TEST(DiagonalFillTest, RejectsVectorsUnevenCubesAndStrings) {
  Workspace ws;
  ExpectThrows(
      [&] { RunOp(&ws, R"(type: "DiagonalFill" output: "Y" arg { name: "shape" ints: 3 })"); },
      "rank of the output, want at least 2");
  ExpectThrows(
      [&] {
        RunOp(&ws,
              R"(type: "DiagonalFill" output: "Y" arg { name: "shape" ints: 2 ints: 3 ints: 2 })");
      },
      "dim 1 of the output of shape [2, 3, 2], want that of dim 0");
  ExpectThrows(
      [&] { RunOp(&ws, R"(type: "DiagonalFill" output: "Y" arg { name: "dtype" i: 4 })"); },
      "want the number of a numeric type or BOOL");
}

}  // namespace
}  // namespace caffe2rt::diagonal_fill_test
