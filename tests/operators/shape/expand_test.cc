#include "tests/support/operator_test.h"

namespace caffe2rt::test::expand_test {
namespace {

const char* const kExpand = R"(type: "Expand" input: "X" input: "S" output: "Y")";
const char* const kGradient = R"(type: "ExpandGradient" input: "dY" input: "X" output: "dX")";

TEST(ExpandTest, RepeatsDimensionsOfSizeOne) {
  Workspace ws;
  Feed<float>(&ws, "X", {2, 1}, {1, 2});
  Feed<int64_t>(&ws, "S", {3}, {2, 1, 3});
  RunOp(&ws, kExpand);
  ExpectTensor<float>(ws, "Y", {2, 2, 3}, {1, 1, 1, 2, 2, 2, 1, 1, 1, 2, 2, 2});
  ExpectShapeInferred(&ws, kExpand, true);
}

TEST(ExpandTest, KeepsDimensionsOfMinusOne) {
  Workspace ws;
  Feed<int32_t>(&ws, "X", {2}, {1, 2});
  Feed<int64_t>(&ws, "S", {2}, {2, -1});
  RunOp(&ws, kExpand);
  ExpectTensor<int32_t>(ws, "Y", {2, 2}, {1, 2, 1, 2});
  Feed<int64_t>(&ws, "S", {0}, {});
  RunOp(&ws, kExpand);
  ExpectTensor<int32_t>(ws, "Y", {2}, {1, 2});
  Feed<int32_t>(&ws, "X", {0, 1}, {});
  Feed<int64_t>(&ws, "S", {1}, {3});
  RunOp(&ws, kExpand);
  ExpectTensor<int32_t>(ws, "Y", {0, 3}, {});
}

TEST(ExpandTest, RejectsShapesThatDoNotMatch) {
  Workspace ws;
  Feed<float>(&ws, "X", {2}, {1, 2});
  Feed<int64_t>(&ws, "S", {1}, {3});
  ExpectThrows([&] { RunOp(&ws, kExpand); },
               "X has shape [2], which cannot be broadcast with shape [3]");
  Feed<bool>(&ws, "X", {1}, {true});
  ExpectThrows([&] { RunOp(&ws, kExpand); }, "input 0 (X) has elements of type bool");
}

TEST(ExpandTest, SumsTheGradientsOfRepeatedElements) {
  Workspace ws;
  Feed<float>(&ws, "X", {2, 1}, {1, 2});
  Feed<float>(&ws, "dY", {2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8});
  RunOp(&ws, kGradient);
  ExpectTensor<float>(ws, "dX", {2, 1}, {14, 22});
  ExpectShapeInferred(&ws, kGradient);
  Feed<float>(&ws, "dY", {1, 2}, {1, 2});
  ExpectThrows([&] { RunOp(&ws, kGradient); }, "input 0 (dY) has shape [1, 2]");
}

}  // namespace
}  // namespace caffe2rt::test::expand_test
