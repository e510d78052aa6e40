#include "tests/support/operator_test.h"

namespace caffe2rt::merge_dim_test {
namespace {

using test::ExpectShapeInferred;
using test::ExpectTensor;
using test::ExpectThrows;
using test::FeedRange;
using test::RunOp;

TEST(MergeDimTest, MakesOneDimensionOfTwo) {
  Workspace ws;
  FeedRange<float>(&ws, "X", {2, 2, 1});
  const char* op = R"(type: "MergeDim" input: "X" output: "Y")";
  RunOp(&ws, op);
  ExpectTensor<float>(ws, "Y", {4, 1}, {0, 1, 2, 3});
  ExpectShapeInferred(&ws, op);
  FeedRange<float>(&ws, "E", {0, 3});
  RunOp(&ws, R"(type: "MergeDim" input: "E" output: "E")");
  ExpectTensor<float>(ws, "E", {0}, {});
}

TEST(MergeDimTest, RejectsVectors) {
  Workspace ws;
  FeedRange<float>(&ws, "X", {2});
  ExpectThrows([&] { RunOp(&ws, R"(type: "MergeDim" input: "X" output: "Y")"); },
               "rank of input 0, want at least 2");
}

}  // namespace
}  // namespace caffe2rt::merge_dim_test
