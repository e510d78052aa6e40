#include "tests/support/gradient_test.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::scatter_weighted_sum_test {
namespace {

const char* const kOne = R"(type: "ScatterWeightedSum" input: "X" input: "W" input: "I"
    input: "X1" input: "W1" output: "X")";
const char* const kTwo = R"(type: "ScatterWeightedSum" input: "X" input: "W" input: "I"
    input: "X1" input: "W1" input: "X2" input: "W2" output: "X")";

// Slice 1 is named twice: it is multiplied by 3 twice, and both of its slices are added.
TEST(ScatterWeightedSumTest, MultipliesAndAddsSlices) {
  Workspace ws;
  Feed<float>(&ws, "X", {4, 2}, {1, 2, 3, 4, 5, 6, 7, 8});
  Feed<float>(&ws, "W", {1}, {3});
  Feed<int64_t>(&ws, "I", {3}, {1, 3, 1});
  Feed<float>(&ws, "X1", {3, 2}, {1, 2, 3, 4, 5, 6});
  Feed<float>(&ws, "W1", {}, {10});
  ExpectShapeInferred(&ws, kOne);
  ExpectTensor<float>(ws, "X", {4, 2}, {1, 2, 27 + 60, 36 + 80, 5, 6, 21 + 30, 24 + 40});
  Feed<float>(&ws, "X", {4}, {1, 2, 3, 4});
  Feed<float>(&ws, "W", {}, {1});
  Feed<int32_t>(&ws, "I", {2}, {0, 3});
  Feed<float>(&ws, "X1", {2}, {1, 2});
  Feed<float>(&ws, "X2", {2}, {7, 8});
  Feed<float>(&ws, "W2", {1}, {-1});
  RunOp(&ws, kTwo);
  ExpectTensor<float>(ws, "X", {4}, {4, 2, 3, 16});
  Feed<int32_t>(&ws, "I", {0}, {});
  Feed<float>(&ws, "X1", {0}, {});
  RunOp(&ws, kOne);
  ExpectTensor<float>(ws, "X", {4}, {4, 2, 3, 16});
}

TEST(ScatterWeightedSumTest, ReadsIndicesOfAnyShape) {
  Workspace ws;
  Feed<float>(&ws, "W", {1}, {10});
  Feed<float>(&ws, "W1", {}, {2});
  Feed<float>(&ws, "X1", {2, 2}, {1, 2, 3, 4});
  Feed<float>(&ws, "X", {5}, {1, 1, 1, 1, 1});
  Feed<int64_t>(&ws, "I", {2, 2}, {4, 0, 2, 1});
  RunOp(&ws, kOne);
  ExpectTensor<float>(ws, "X", {5}, {14, 18, 16, 1, 12});
  Feed<float>(&ws, "X", {2, 2}, {1, 1, 1, 1});
  Feed<int32_t>(&ws, "I", {}, {1});
  Feed<float>(&ws, "X1", {2}, {3, 4});
  RunOp(&ws, kOne);
  ExpectTensor<float>(ws, "X", {2, 2}, {1, 1, 16, 18});
}

TEST(ScatterWeightedSumTest, RejectsWhatDoesNotFit) {
  Workspace ws;
  Feed<float>(&ws, "X", {3, 2}, {1, 2, 3, 4, 5, 6});
  Feed<float>(&ws, "W", {1}, {1});
  Feed<int32_t>(&ws, "I", {2}, {0, 1});
  Feed<float>(&ws, "X1", {3, 2}, {1, 1, 1, 1, 1, 1});
  Feed<float>(&ws, "W1", {1}, {1});
  ExpectThrows([&] { RunOp(&ws, kOne); },
               "elements of input 3 of shape [3, 2], want 2 slices of 2");
  Feed<float>(&ws, "X1", {2, 2}, {1, 1, 1, 1});
  Feed<float>(&ws, "W1", {2}, {1, 1});
  ExpectThrows([&] { RunOp(&ws, kOne); }, "elements of input 4 (a weight) of shape [2]");
  Feed<float>(&ws, "W1", {1}, {1});
  Feed<float>(&ws, "W", {2}, {1, 1});
  ExpectThrows([&] { RunOp(&ws, kOne); }, "elements of input 1 (a weight) of shape [2]");
  Feed<float>(&ws, "W", {1}, {1});
  for (const int32_t index : {-1, 3}) {
    Feed<int32_t>(&ws, "I", {2}, {0, index});
    ExpectThrows([&] { RunOp(&ws, kOne); }, "is out of range, want at least 0 and below 3");
  }
  ExpectThrows([&] { RunOp(&ws, std::string(kOne) + R"( input: "X2")"); }, "inputs");
  ExpectThrows([] { DescribeGradient(kOne); }, "One should not call gradient");
}

}  // namespace
}  // namespace caffe2rt::test::scatter_weighted_sum_test
