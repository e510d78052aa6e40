#include "tests/support/operator_test.h"

namespace caffe2rt::test::split_by_lengths_test {
namespace {

std::string Split(int scales) {
  return R"(type: "SplitByLengths" input: "X" input: "L" output: "A" output: "B"
            arg { name: "axis" i: 0 } arg { name: "use_scaling_lengths" i: )" +
         std::string(scales != 0 ? "1" : "0") + " }";
}

TEST(SplitByLengthsTest, AddsTheLengthsOfEachOutput) {
  Workspace ws;
  Feed<float>(&ws, "X", {4}, {1, 2, 3, 4});
  Feed<int32_t>(&ws, "L", {4}, {1, 0, 1, 2});
  RunOp(&ws, Split(0));
  ExpectTensor<float>(ws, "A", {1}, {1});
  ExpectTensor<float>(ws, "B", {3}, {2, 3, 4});
  ExpectShapeInferred(&ws, Split(0), true);
}

TEST(SplitByLengthsTest, ScalesTheLengths) {
  Workspace ws;
  Feed<float>(&ws, "X", {4}, {1, 2, 3, 4});
  Feed<int32_t>(&ws, "L", {2}, {1, 1});
  RunOp(&ws, Split(1));
  ExpectTensor<float>(ws, "A", {2}, {1, 2});
  ExpectTensor<float>(ws, "B", {2}, {3, 4});
  ExpectThrows([&] { RunOp(&ws, Split(0)); }, "sum of the lengths, want the size of the dimension");
  Feed<int32_t>(&ws, "L", {2}, {1, 2});
  ExpectThrows([&] { RunOp(&ws, Split(1)); },
               "size of the dimension, 4, modulo the sum of the lengths, 3");
  Feed<int32_t>(&ws, "L", {3}, {1, 3, 0});
  ExpectThrows([&] { RunOp(&ws, Split(0)); },
               "elements of input 1 (lengths), 3, modulo the outputs, 2");
}

TEST(SplitByLengthsTest, ScalesLengthsOfAnySum) {
  Workspace ws;
  Feed<float>(&ws, "X", {4}, {1, 2, 3, 4});
  // The only length becomes the whole dimension.
  Feed<int32_t>(&ws, "L", {2}, {1, 0});
  RunOp(&ws, Split(1));
  ExpectTensor<float>(ws, "A", {4}, {1, 2, 3, 4});
  ExpectTensor<float>(ws, "B", {0}, {});
  Feed<int32_t>(&ws, "L", {4}, {0, 0, 0, 1});
  RunOp(&ws, Split(1));
  ExpectTensor<float>(ws, "A", {0}, {});
  ExpectTensor<float>(ws, "B", {4}, {1, 2, 3, 4});
  Feed<int32_t>(&ws, "L", {2}, {3, 1});  // the sum is the size already
  RunOp(&ws, Split(1));
  ExpectTensor<float>(ws, "A", {3}, {1, 2, 3});
  ExpectTensor<float>(ws, "B", {1}, {4});
  Feed<float>(&ws, "X", {0}, {});
  for (const int32_t length : {0, 1}) {  // of nothing, any lengths are lengths of 0
    Feed<int32_t>(&ws, "L", {2}, {0, length});
    RunOp(&ws, Split(1));
    ExpectTensor<float>(ws, "A", {0}, {});
    ExpectTensor<float>(ws, "B", {0}, {});
  }
}

}  // namespace
}  // namespace caffe2rt::test::split_by_lengths_test
