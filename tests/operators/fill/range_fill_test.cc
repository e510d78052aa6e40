#include "tests/support/operator_test.h"

namespace caffe2rt::range_fill_test {
namespace {

using test::ExpectShapeInferred;
using test::ExpectTensor;
using test::Feed;
using test::RunOp;

TEST(RangeFillTest, CountsInRowMajorOrder) {
  Workspace ws;
  const char* op = R"(type: "RangeFill" output: "Y" arg { name: "shape" ints: 2 ints: 3 })";
  RunOp(&ws, op);
  ExpectTensor<float>(ws, "Y", {2, 3}, {0, 1, 2, 3, 4, 5});
  ExpectShapeInferred(&ws, op);
}

TEST(RangeFillTest, AcceptsAnEmptyInput) {
  Workspace ws;
  Feed<float>(&ws, "X", {0}, {});
  RunOp(&ws, R"(type: "RangeFill" input: "X" output: "Y")");
  ExpectTensor<float>(ws, "Y", {0}, {});
}

}  // namespace
}  // namespace caffe2rt::range_fill_test
