#include <limits>

#include "tests/support/gradient_test.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::unique_test {
namespace {

const char* const kBoth = R"(type: "Unique" input: "X" output: "Y" output: "R")";
const char* const kOne = R"(type: "Unique" input: "X" output: "Y")";

TEST(UniqueTest, SortsTheDistinctNumbers) {
  Workspace ws;
  Feed<int32_t>(&ws, "X", {6}, {3, -1, 3, 2, -5, -1});
  RunOp(&ws, kBoth);
  ExpectTensor<int32_t>(ws, "Y", {4}, {-5, -1, 2, 3});
  ExpectTensor<int32_t>(ws, "R", {6}, {3, 1, 3, 2, 0, 1});
  ExpectShapeInferred(&ws, kBoth, true);
  RunOp(&ws, R"(type: "Unique" engine: "SparseHash" input: "X" output: "Y")");
  ExpectTensor<int32_t>(ws, "Y", {4}, {-5, -1, 2, 3});
}

TEST(UniqueTest, AcceptsLargeNumbers) {
  constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  Workspace ws;
  Feed<int64_t>(&ws, "X", {5}, {kMost, 0, kLeast, kMost, -1});
  RunOp(&ws, kBoth);
  ExpectTensor<int64_t>(ws, "Y", {4}, {kLeast, -1, 0, kMost});
  ExpectTensor<int32_t>(ws, "R", {5}, {3, 2, 0, 3, 1});
}

TEST(UniqueTest, AcceptsNoNumberAndOneNumber) {
  Workspace ws;
  Feed<int32_t>(&ws, "X", {0}, {});
  RunOp(&ws, kBoth);
  ExpectTensor<int32_t>(ws, "Y", {0}, {});
  ExpectTensor<int32_t>(ws, "R", {0}, {});
  ExpectShapeInferred(&ws, kBoth);
  Feed<int64_t>(&ws, "X", {1}, {7});
  RunOp(&ws, kOne);
  ExpectTensor<int64_t>(ws, "Y", {1}, {7});
  ExpectShapeInferred(&ws, kOne);
}

TEST(UniqueTest, RejectsWhatItCannotSort) {
  Workspace ws;
  Feed<int32_t>(&ws, "X", {2, 1}, {1, 2});
  ExpectThrows([&] { RunOp(&ws, kOne); },
               "rank of input 0 (indices) of shape [2, 1], want a vector");
  Feed<float>(&ws, "X", {1}, {1});
  ExpectThrows([&] { RunOp(&ws, kOne); }, "has elements of type float, want int32");
  ExpectThrows([] { DescribeGradient(kOne); }, "Unique");
}

}  // namespace
}  // namespace caffe2rt::test::unique_test
