#include "tests/support/gradient_test.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::batch_permutation_test {
namespace {

const char* const kForward = R"(type: "BatchPermutation" input: "X" input: "I" output: "Y")";
const char* const kGradient =
    R"(type: "BatchPermutationGradient" input: "I" input: "dY" output: "dX")";

TEST(BatchPermutationTest, MovesRows) {
  Workspace ws;
  FeedRange<float>(&ws, "X", {3, 1, 2});
  Feed<int32_t>(&ws, "I", {3}, {2, 0, 2});
  RunOp(&ws, kForward);
  ExpectTensor<float>(ws, "Y", {3, 1, 2}, {4, 5, 0, 1, 4, 5});
  ExpectShapeInferred(&ws, kForward);
}

TEST(BatchPermutationTest, GradientAddsUpRowsThatWereCopiedTwice) {
  Workspace ws;
  FeedRange<float>(&ws, "dY", {3, 2}, 1);
  Feed<int32_t>(&ws, "I", {3}, {2, 0, 2});
  RunOp(&ws, kGradient);
  ExpectTensor<float>(ws, "dX", {3, 2}, {3, 4, 0, 0, 6, 8});
  ExpectShapeInferred(&ws, kGradient);
  FeedRandom(&ws, "X", {3, 2});
  ExpectGradientMatches(&ws, kForward, {.inputs = {"X"}});
  EXPECT_EQ(DescribeGradient(kForward), "BatchPermutationGradient(I,Y_grad)->X_grad | X_grad -");
}

TEST(BatchPermutationTest, AcceptsEmptyTensors) {
  Workspace ws;
  Feed<int32_t>(&ws, "I", {0}, {});
  Feed<float>(&ws, "X", {0, 3}, {});
  RunOp(&ws, kForward);
  ExpectTensor<float>(ws, "Y", {0, 3}, {});
  Feed<int32_t>(&ws, "I", {2}, {1, 0});
  Feed<float>(&ws, "dY", {2, 0}, {});
  RunOp(&ws, kGradient);
  ExpectTensor<float>(ws, "dX", {2, 0}, {});
}

TEST(BatchPermutationTest, AcceptsAnyTypeWithoutRows) {
  Workspace ws;
  Feed<int64_t>(&ws, "I", {0}, {});
  Feed<double>(&ws, "X", {0, 3}, {});
  RunOp(&ws, kForward);
  ExpectShapeInferred(&ws, kForward);
  ExpectTensor<float>(ws, "Y", {0, 3}, {});
}

TEST(BatchPermutationTest, GradientUsesTheFirstIndicesOfAnyShape) {
  Workspace ws;
  FeedRange<float>(&ws, "dY", {2, 2}, 1);
  for (const std::vector<int64_t>& dims : {std::vector<int64_t>{3}, {3, 1}}) {
    Feed<int32_t>(&ws, "I", dims, {1, 0, 9});
    RunOp(&ws, kGradient);
    ExpectTensor<float>(ws, "dX", {2, 2}, {3, 4, 1, 2});
  }
}

TEST(BatchPermutationTest, NamesWhatDoesNotFit) {
  Workspace ws;
  FeedRandom(&ws, "X", {2, 2});
  FeedRandom(&ws, "dY", {2, 2});
  for (const int32_t index : {-1, 2}) {
    Feed<int32_t>(&ws, "I", {2}, {0, index});
    const std::string want = "the index of row 1 of the output is " + std::to_string(index) +
                             ", want at least 0 and below 2";
    ExpectThrows([&] { RunOp(&ws, kForward); }, want);
    ExpectThrows([&] { RunOp(&ws, kGradient); }, want);
  }
  Feed<int32_t>(&ws, "I", {3}, {0, 1, 0});
  ExpectThrows([&] { RunOp(&ws, kForward); },
               "input 1 (indices) has shape [3], want one index for each row of input 0 (X)");
  RunOp(&ws, kGradient);  // takes the first indices
  Feed<int32_t>(&ws, "I", {1}, {0});
  ExpectThrows([&] { RunOp(&ws, kGradient); }, "input 0 (indices) has shape [1]");
  Feed<int64_t>(&ws, "I", {2}, {0, 1});
  EXPECT_THROW(RunOp(&ws, kForward), EnforceNotMet);
}

}  // namespace
}  // namespace caffe2rt::test::batch_permutation_test
