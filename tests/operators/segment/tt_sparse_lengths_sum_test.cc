#include "tests/support/operator_test.h"

namespace caffe2rt::test::tt_sparse_lengths_sum_test {
namespace {

const char* const kArguments = R"(arg { name: "factor_i" ints: 2 ints: 1 ints: 2 }
    arg { name: "factor_j" ints: 1 ints: 2 ints: 1 } arg { name: "ranks" ints: 1 ints: 1 ints: 1 ints: 1 }
    arg { name: "emb_size" i: 2 })";

std::string Sum() {
  return R"(type: "TTSparseLengthsSum" input: "A" input: "B" input: "C" input: "I" input: "L"
            output: "Y" output: "P" output: "Q" output: "J" )" +
         std::string(kArguments);
}

void FeedCores(Workspace* ws) {
  Feed<float>(ws, "A", {2, 1, 1, 1}, {2, 3});
  Feed<float>(ws, "B", {1, 1, 2, 1}, {5, 7});
  Feed<float>(ws, "C", {2, 1, 1, 1}, {11, 13});
}

TEST(TTSparseLengthsSumTest, SumsProductsOfCores) {
  Workspace ws;
  FeedCores(&ws);
  Feed<int64_t>(&ws, "I", {3}, {1, 2, 3});
  Feed<int32_t>(&ws, "L", {3}, {1, 0, 2});
  RunOp(&ws, Sum());
  // Row i is A[i % 2] * B * C[i / 2]: rows 1, 2, 3 are 33 * (5, 7), 26 * (5, 7), 39 * (5, 7).
  ExpectTensor<float>(ws, "Y", {3, 2}, {165, 231, 0, 0, 325, 455});
  ExpectTensor<float>(ws, "P", {3, 1, 1}, {3, 2, 3});
  ExpectTensor<float>(ws, "Q", {3, 2, 1}, {15, 21, 10, 14, 15, 21});
  ExpectTensor<int64_t>(ws, "J", {3, 3}, {1, 0, 0, 0, 0, 1, 1, 0, 1});
  ExpectShapeInferred(&ws, Sum());
}

TEST(TTSparseLengthsSumTest, HasGradientsOfTheCores) {
  Workspace ws;
  FeedCores(&ws);
  Feed<int64_t>(&ws, "I", {1}, {1});
  Feed<int32_t>(&ws, "L", {1}, {1});
  RunOp(&ws, Sum());
  Feed<float>(&ws, "dY", {1, 2}, {1, 10});
  RunOp(
      &ws,
      R"(type: "TTSparseLengthsSumGradient" input: "A" input: "B" input: "C" input: "L" input: "P" input: "Q"
                input: "J" input: "dY" output: "dA" output: "dB" output: "dC" )" +
          std::string(kArguments));
  // Y = A[1] * B * C[0]
  ExpectTensor<float>(ws, "dA", {2, 1, 1, 1}, {0, 11 * (5 + 70)});
  ExpectTensor<float>(ws, "dB", {1, 1, 2, 1}, {33, 330});
  ExpectTensor<float>(ws, "dC", {2, 1, 1, 1}, {3 * (5 + 70), 0});
}

TEST(TTSparseLengthsSumTest, RejectsRowsAndCoresThatDoNotFit) {
  Workspace ws;
  FeedCores(&ws);
  Feed<int64_t>(&ws, "I", {1}, {4});
  Feed<int32_t>(&ws, "L", {1}, {1});
  ExpectThrows([&] { RunOp(&ws, Sum()); },
               "element 0 of input 3 (index) is 4, want at least 0 and less than 4");
  Feed<int32_t>(&ws, "L", {1}, {2});
  ExpectThrows([&] { RunOp(&ws, Sum()); }, "sum of the lengths, want the elements of input 3");
  Feed<float>(&ws, "B", {2}, {5, 7});
  ExpectThrows([&] { RunOp(&ws, Sum()); }, "input 1 (core1) has shape [2], want [1, 1, 2, 1]");
}

}  // namespace
}  // namespace caffe2rt::test::tt_sparse_lengths_sum_test
