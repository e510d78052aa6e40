#include "tests/support/operator_test.h"

namespace caffe2rt::test::copy_rows_to_tensor_test {
namespace {

const char* const kCopy =
    R"(type: "CopyRowsToTensor" input: "X" input: "I" input: "R" output: "X")";

TEST(CopyRowsToTensorTest, WritesTheRowOverRows) {
  Workspace ws;
  Feed<float>(&ws, "X", {3, 2}, {1, 2, 3, 4, 5, 6});
  Feed<int64_t>(&ws, "I", {2}, {2, 0});
  Feed<float>(&ws, "R", {2}, {9, 8});
  RunOp(&ws, kCopy);
  ExpectTensor<float>(ws, "X", {3, 2}, {9, 8, 3, 4, 9, 8});
}

TEST(CopyRowsToTensorTest, ChangesNothingIfAnIndexIsInvalid) {
  Workspace ws;
  Feed<float>(&ws, "X", {2, 1}, {1, 2});
  Feed<int64_t>(&ws, "I", {2}, {0, 2});
  Feed<float>(&ws, "R", {1}, {9});
  ExpectThrows([&] { RunOp(&ws, kCopy); }, "element 1 of input 1 (indices) is 2");
  ExpectTensor<float>(ws, "X", {2, 1}, {1, 2});
  Feed<float>(&ws, "R", {2}, {9, 9});
  ExpectThrows([&] { RunOp(&ws, kCopy); }, "elements of input 2 (row)");
  Feed<int32_t>(&ws, "R", {1}, {9});
  ExpectThrows([&] { RunOp(&ws, kCopy); }, "input 2 (row) has elements of type int32");
}

TEST(CopyRowsToTensorTest, PassesTheGradientOn) {
  Workspace ws;
  Feed<float>(&ws, "dY", {2}, {1, 2});
  RunOp(&ws, R"(type: "CopyRowsToTensorGradient" input: "dY" output: "dX")");
  ExpectTensor<float>(ws, "dX", {2}, {1, 2});
}

}  // namespace
}  // namespace caffe2rt::test::copy_rows_to_tensor_test
