#include "tests/support/operator_test.h"

namespace caffe2rt::resize_like_test {
namespace {

using test::ExpectShapeInferred;
using test::ExpectTensor;
using test::ExpectThrows;
using test::FeedRange;
using test::RunOp;

TEST(ResizeLikeTest, UsesTheShapeOfTheOther) {
  Workspace ws;
  FeedRange<float>(&ws, "X", {2, 3});
  FeedRange<int32_t>(&ws, "L", {3, 2});
  const char* op = R"(type: "ResizeLike" input: "X" input: "L" output: "Y")";
  RunOp(&ws, op);
  ExpectTensor<float>(ws, "Y", {3, 2}, {0, 1, 2, 3, 4, 5});
  ExpectShapeInferred(&ws, op);
}

TEST(ResizeLikeTest, KeepsAnEmptyTensorEmpty) {
  Workspace ws;
  FeedRange<float>(&ws, "X", {0});
  FeedRange<float>(&ws, "L", {0, 2});
  RunOp(&ws, R"(type: "ResizeLike" input: "X" input: "L" output: "Y")");
  ExpectTensor<float>(ws, "Y", {0, 2}, {});
}

TEST(ResizeLikeTest, RejectsAnotherNumberOfElements) {
  Workspace ws;
  FeedRange<float>(&ws, "X", {2, 3});
  FeedRange<float>(&ws, "L", {5});
  ExpectThrows([&] { RunOp(&ws, R"(type: "ResizeLike" input: "X" input: "L" output: "Y")"); },
               "elements of input 0 of shape [2, 3], want those of input 1 of shape [5]");
}

}  // namespace
}  // namespace caffe2rt::resize_like_test
