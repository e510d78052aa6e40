#include "tests/support/gradient_test.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::row_mul_test {
namespace {

const char* const kRowMul = R"(type: "RowMul" input: "X" input: "W" output: "Y")";

TEST(RowMulTest, MultipliesEachRowByItsNumber) {
  Workspace ws;
  Feed<float>(&ws, "X", {2, 2}, {1, 2, 3, 4});
  Feed<float>(&ws, "W", {2}, {10, 100});
  RunOp(&ws, kRowMul);
  ExpectTensor<float>(ws, "Y", {2, 2}, {10, 20, 300, 400});
  ExpectShapeInferred(&ws, kRowMul);
  Feed<float>(&ws, "X", {2, 1, 2}, {1, 2, 3, 4});
  Feed<float>(&ws, "W", {1, 2}, {10, 100});
  RunOp(&ws, kRowMul);
  ExpectTensor<float>(ws, "Y", {2, 1, 2}, {10, 20, 300, 400});
  Feed<float>(&ws, "X", {0, 3}, {});
  Feed<float>(&ws, "W", {0}, {});
  RunOp(&ws, kRowMul);
  ExpectTensor<float>(ws, "Y", {0, 3}, {});
}

TEST(RowMulTest, HasGradientsOfBothInputs) {
  Workspace ws;
  FeedRandom(&ws, "X", {3, 4});
  FeedRandom(&ws, "W", {3});
  ExpectGradientMatches(&ws, kRowMul);
}

TEST(RowMulTest, RejectsOtherNumbersOfRows) {
  Workspace ws;
  FeedRandom(&ws, "X", {2, 2});
  FeedRandom(&ws, "W", {1});
  ExpectThrows([&] { RunOp(&ws, kRowMul); },
               "elements of input 1 (w), want the rows of input 0 (mat)");
  FeedRandom(&ws, "X", {});
  ExpectThrows([&] { RunOp(&ws, kRowMul); }, "rank of input 0 (mat), want at least 1");
}

}  // namespace
}  // namespace caffe2rt::test::row_mul_test
