#include "tests/support/operator_test.h"

namespace caffe2rt::test::free_test {
namespace {

TEST(FreeTest, EmptiesBlobs) {
  Workspace ws;
  Feed<float>(&ws, "x", {2}, {1, 2});
  Feed<int64_t>(&ws, "y", {}, {3});
  RunOp(&ws, "type: 'Free' input: 'x' input: 'y' output: 'x' output: 'y'");
  EXPECT_TRUE(ws.GetBlob("x")->IsEmpty());
  EXPECT_TRUE(ws.GetBlob("y")->IsEmpty());
  RunOp(&ws, "type: 'Free' input: 'x' output: 'x'");
  EXPECT_TRUE(ws.GetBlob("x")->IsEmpty());
}

TEST(FreeTest, IsInPlace) {
  Workspace ws;
  Feed<float>(&ws, "x", {2}, {1, 2});
  ExpectThrows([&] { RunOp(&ws, "type: 'Free' input: 'x' output: 'y'"); }, "must be the same blob");
  ExpectThrows([&] { RunOp(&ws, "type: 'Free' input: 'x' output: 'x' output: 'y'"); }, "outputs");
}

}  // namespace
}  // namespace caffe2rt::test::free_test
