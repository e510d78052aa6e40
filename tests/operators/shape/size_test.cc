#include "tests/support/operator_test.h"

namespace caffe2rt::size_test {
namespace {

using test::ExpectShapeInferred;
using test::ExpectTensor;
using test::FeedRange;
using test::RunOp;

TEST(SizeTest, CountsElements) {
  Workspace ws;
  FeedRange<uint8_t>(&ws, "X", {2, 3});
  const char* op = R"(type: "Size" input: "X" output: "Y")";
  RunOp(&ws, op);
  ExpectTensor<int64_t>(ws, "Y", {}, {6});
  ExpectShapeInferred(&ws, op);
  FeedRange<float>(&ws, "X", {2, 0});
  RunOp(&ws, op);
  ExpectTensor<int64_t>(ws, "Y", {}, {0});
}

}  // namespace
}  // namespace caffe2rt::size_test
