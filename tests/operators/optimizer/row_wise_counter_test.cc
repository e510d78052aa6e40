#include "tests/support/operator_test.h"

namespace caffe2rt::test::row_wise_counter_test {
namespace {

const std::string kCount = R"(type: "RowWiseCounter" input: "N" input: "C" input: "I" input: "T"
                              output: "N" output: "C" arg { name: "counter_halflife" i: )";

TEST(RowWiseCounterTest, HalvesCountsAndAddsOne) {
  Workspace ws;
  Feed<int64_t>(&ws, "N", {3}, {0, 1, 9});
  Feed<double>(&ws, "C", {3}, {1, 2, 3});
  Feed<int32_t>(&ws, "I", {3}, {1, 2, 1});
  Feed<int64_t>(&ws, "T", {1}, {5});
  RunOp(&ws, kCount + "0 }");
  ExpectTensor<double>(ws, "C", {3}, {1, 2, 3});
  // Row 1 is 4 iterations old, 2 half-lives; then it is counted again. Row 2 is of the future.
  RunOp(&ws, kCount + "2 }");
  ExpectTensor<int64_t>(ws, "N", {3}, {0, 5, 9});
  ExpectTensor<double>(ws, "C", {3}, {1, 2.5, 4});
  ExpectShapeInferred(&ws, kCount + "2 }");
}

TEST(RowWiseCounterTest, RejectsOtherSizesTypesAndIndices) {
  Workspace ws;
  Feed<int64_t>(&ws, "N", {2}, {0, 1});
  Feed<double>(&ws, "C", {2}, {1, 2});
  Feed<int64_t>(&ws, "I", {1}, {2});
  Feed<int64_t>(&ws, "T", {1}, {5});
  const auto rejects = [&](const char* part) {
    ExpectThrows([&] { RunOp(&ws, kCount + "1 }"); }, part);
  };
  rejects("index 2 at position 0 is out of range, want at least 0 and below 2");
  Feed<float>(&ws, "C", {2}, {1, 2});
  rejects("double");
  Feed<int64_t>(&ws, "T", {2}, {5, 6});
  rejects("elements of input 3 (iter) of shape [2]");
  Feed<double>(&ws, "C", {1}, {1});
  rejects("elements of input 0 (prev_iter) of shape [2]");
}

}  // namespace
}  // namespace caffe2rt::test::row_wise_counter_test
