#include "tests/support/gradient_test.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::flatten_to_vec_test {
namespace {

using test::ExpectGradientMatches;
using test::ExpectShapeInferred;
using test::ExpectTensor;
using test::ExpectThrows;
using test::FeedRange;
using test::RunOp;

TEST(FlattenToVecTest, MakesAVector) {
  Workspace ws;
  FeedRange<float>(&ws, "X", {2, 1, 2});
  const char* op = R"(type: "FlattenToVec" input: "X" output: "Y")";
  RunOp(&ws, op);
  ExpectTensor<float>(ws, "Y", {4}, {0, 1, 2, 3});
  ExpectShapeInferred(&ws, op);
}

TEST(FlattenToVecTest, AcceptsEmptyTensorsAndRejectsScalars) {
  Workspace ws;
  FeedRange<float>(&ws, "E", {0, 3});
  FeedRange<float>(&ws, "S", {});
  RunOp(&ws, R"(type: "FlattenToVec" input: "E" output: "Y")");
  ExpectTensor<float>(ws, "Y", {0}, {});
  ExpectThrows([&] { RunOp(&ws, R"(type: "FlattenToVec" input: "S" output: "Y")"); },
               "rank of input 0, want at least 1");
}

TEST(FlattenToVecTest, ShapesTheGradientLikeItsInput) {
  Workspace ws;
  test::FeedRandom(&ws, "X", {2, 3, 2});
  ExpectGradientMatches(&ws, R"(type: "FlattenToVec" input: "X" output: "Y")");
}

// In place the gradient would have the wrong shape.
TEST(FlattenToVecTest, DoesNotWorkInPlace) {
  Workspace ws;
  FeedRange<float>(&ws, "X", {2, 1, 2});
  ExpectThrows([&] { RunOp(&ws, R"(type: "FlattenToVec" input: "X" output: "X")"); },
               "may not be in place");
}

}  // namespace
}  // namespace caffe2rt::flatten_to_vec_test
