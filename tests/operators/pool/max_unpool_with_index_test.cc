#include "tests/support/operator_test.h"

namespace caffe2rt::test::max_unpool_with_index_test {
namespace {

std::string Unpool(int height, int width) {
  return R"(type: "MaxUnpoolWithIndex" input: "X" input: "Index" output: "Y" arg { name: "height" i: )" +
         std::to_string(height) + " } arg { name: \"width\" i: " + std::to_string(width) + " }";
}

TEST(MaxUnpoolWithIndexTest, WritesElementsToTheirPlaces) {
  Workspace ws;
  Feed<float>(&ws, "X", {1, 2, 1, 3}, {1, 2, 3, 4, 5, 6});
  // 5 has no place, and 6 comes after 4.
  Feed<int32_t>(&ws, "Index", {1, 2, 1, 3}, {5, 0, 2, 1, -1, 1});
  RunOp(&ws, Unpool(2, 3));
  ExpectTensor<float>(ws, "Y", {1, 2, 2, 3}, {2, 0, 3, 0, 0, 1, 0, 6, 0, 0, 0, 0});
  ExpectShapeInferred(&ws, Unpool(2, 3));
}

// On CUDA a thread enters each element, in any order.
TEST(MaxUnpoolWithIndexTest, TakesTheLastOfManyElementsForOnePlace) {
  Workspace ws;
  constexpr int kPlanes = 3, kElements = 1000, kPlaces = 7;
  std::vector<float> x, want;
  std::vector<int32_t> index;
  for (int p = 0; p < kPlanes; ++p) {
    for (int i = 0; i < kElements; ++i) {
      x.push_back(static_cast<float>(p * kElements + i) - 1500);  // also zeros and negative ones
      index.push_back(i % kPlaces);
    }
    // Elements 994 to 999 are for places 0 to 5, element 993 for place 6.
    for (const int i : {994, 995, 996, 997, 998, 999, 993}) {
      want.push_back(static_cast<float>(p * kElements + i) - 1500);
    }
  }
  Feed<float>(&ws, "X", {1, kPlanes, 10, 100}, x);
  Feed<int32_t>(&ws, "Index", {1, kPlanes, 10, 100}, index);
  RunOp(&ws, Unpool(1, kPlaces));
  ExpectTensor<float>(ws, "Y", {1, kPlanes, 1, kPlaces}, want);
}

TEST(MaxUnpoolWithIndexTest, UndoesMaxPoolWithIndex) {
  Workspace ws;
  Feed<float>(&ws, "X", {1, 1, 2, 4}, {1, 9, 3, 4, 5, 6, 8, 7});
  RunOp(&ws, R"(type: "MaxPoolWithIndex" input: "X" output: "P" output: "Index"
      arg { name: "kernels" ints: 2 ints: 2 } arg { name: "strides" ints: 2 ints: 2 })");
  RunOp(&ws, R"(type: "MaxUnpoolWithIndex" input: "P" input: "Index" output: "Y"
      arg { name: "height" i: 2 } arg { name: "width" i: 4 })");
  ExpectTensor<float>(ws, "Y", {1, 1, 2, 4}, {0, 9, 0, 0, 0, 0, 8, 0});
}

TEST(MaxUnpoolWithIndexTest, AnEmptyBatchStaysEmpty) {
  Workspace ws;
  Feed<float>(&ws, "X", {0, 2, 1, 1}, {});
  Feed<int32_t>(&ws, "Index", {0, 2, 1, 1}, {});
  RunOp(&ws, Unpool(2, 3));
  ExpectTensor<float>(ws, "Y", {0, 2, 2, 3}, {});
}

TEST(MaxUnpoolWithIndexTest, RejectsWhatDoesNotFit) {
  Workspace ws;
  Feed<float>(&ws, "X", {1, 1, 1, 1}, {1});
  Feed<int32_t>(&ws, "Index", {1, 1, 1, 1}, {6});
  ExpectThrows([&] { RunOp(&ws, Unpool(2, 3)); }, "has value 6, want -1 to 5");
  ExpectThrows([&] { RunOp(&ws, Unpool(0, 3)); }, "want at least 1");
  Feed<int32_t>(&ws, "Index", {1}, {0});
  ExpectThrows([&] { RunOp(&ws, Unpool(2, 3)); }, "want that of input 0 (X)");
}

}  // namespace
}  // namespace caffe2rt::test::max_unpool_with_index_test
