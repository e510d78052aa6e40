#include "tests/support/gradient_test.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::prepend_dim_test {
namespace {

using test::ExpectGradientMatches;
using test::ExpectShapeInferred;
using test::ExpectTensor;
using test::ExpectThrows;
using test::FeedRange;
using test::RunOp;

TEST(PrependDimTest, SplitsTheFirstDimension) {
  Workspace ws;
  FeedRange<float>(&ws, "X", {4, 1});
  const char* op = R"(type: "PrependDim" input: "X" output: "Y" arg { name: "dim_size" i: 2 })";
  RunOp(&ws, op);
  ExpectTensor<float>(ws, "Y", {2, 2, 1}, {0, 1, 2, 3});
  ExpectShapeInferred(&ws, op);
  FeedRange<float>(&ws, "X", {0, 1});
  RunOp(&ws, op);
  ExpectTensor<float>(ws, "Y", {2, 0, 1}, {});
}

TEST(PrependDimTest, RejectsSizesThatDoNotDivide) {
  Workspace ws;
  FeedRange<float>(&ws, "X", {4, 1});
  FeedRange<float>(&ws, "S", {});
  ExpectThrows(
      [&] {
        RunOp(&ws, R"(type: "PrependDim" input: "X" output: "Y" arg { name: "dim_size" i: 3 })");
      },
      "want a multiple of argument dim_size 3");
  ExpectThrows([&] { RunOp(&ws, R"(type: "PrependDim" input: "X" output: "Y")"); },
               "argument \"dim_size\" is required but missing");
  ExpectThrows(
      [&] {
        RunOp(&ws, R"(type: "PrependDim" input: "X" output: "Y" arg { name: "dim_size" i: 0 })");
      },
      "argument \"dim_size\" is 0, want above 0");
  ExpectThrows(
      [&] {
        RunOp(&ws, R"(type: "PrependDim" input: "X" output: "Y" arg { name: "dim_size" i: -1 })");
      },
      "argument \"dim_size\" is -1, want above 0");
  ExpectThrows(
      [&] {
        RunOp(&ws, R"(type: "PrependDim" input: "S" output: "Y" arg { name: "dim_size" i: 1 })");
      },
      "rank of input 0, want at least 1");
}

TEST(PrependDimTest, ShapesTheGradientLikeItsInput) {
  Workspace ws;
  test::FeedRandom(&ws, "X", {4, 3});
  ExpectGradientMatches(
      &ws, R"(type: "PrependDim" input: "X" output: "Y" arg { name: "dim_size" i: 2 })");
}

}  // namespace
}  // namespace caffe2rt::prepend_dim_test
