#include "tests/support/gradient_test.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::reverse_packed_segs_test {
namespace {

const char* const kReverse = R"(type: "ReversePackedSegs" input: "X" input: "L" output: "Y")";

TEST(ReversePackedSegsTest, ReversesTheFirstStepsOfEachEntry) {
  Workspace ws;
  FeedRange<float>(&ws, "X", {3, 2, 2}, 1);
  Feed<int32_t>(&ws, "L", {2}, {3, 2});
  RunOp(&ws, kReverse);
  ExpectTensor<float>(ws, "Y", {3, 2, 2}, {9, 10, 7, 8, 5, 6, 3, 4, 1, 2, 11, 12});
  ExpectShapeInferred(&ws, kReverse);
}

TEST(ReversePackedSegsTest, AcceptsLengthsThatReverseNothing) {
  Workspace ws;
  Feed<int64_t>(&ws, "L", {3}, {0, 1, -1});
  Feed<bool>(&ws, "X", {2, 3, 1}, {true, false, true, false, true, true});
  RunOp(&ws, kReverse);
  ExpectTensor<bool>(ws, "Y", {2, 3, 1}, {true, false, true, false, true, true});
  Feed<double>(&ws, "X", {2, 3, 1}, {1, 2, 3, 4, 5, 6});
  RunOp(&ws, kReverse);
  ExpectTensor<double>(ws, "Y", {2, 3, 1}, {1, 2, 3, 4, 5, 6});
}

TEST(ReversePackedSegsTest, AcceptsEmptyTensors) {
  Workspace ws;
  Feed<int32_t>(&ws, "L", {2}, {0, 0});
  Feed<int64_t>(&ws, "X", {0, 2, 3}, {});
  RunOp(&ws, kReverse);
  ExpectTensor<int64_t>(ws, "Y", {0, 2, 3}, {});
  Feed<int32_t>(&ws, "X", {2, 2, 0}, {});
  RunOp(&ws, kReverse);
  ExpectTensor<int32_t>(ws, "Y", {2, 2, 0}, {});
}

TEST(ReversePackedSegsTest, RejectsWhatDoesNotFit) {
  Workspace ws;
  const auto run = [&] { RunOp(&ws, kReverse); };
  FeedRange<float>(&ws, "X", {3, 2, 2});
  Feed<int32_t>(&ws, "L", {2}, {1, 4});
  ExpectThrows(run, "element 1 of input 1 (lengths), want at most dim 0 of input 0 (data)");
  Feed<int32_t>(&ws, "L", {3}, {1, 1, 1});
  ExpectThrows(run, "number of lengths, want dim 1 of input 0 (data) of shape [3, 2, 2]");
  Feed<int32_t>(&ws, "L", {2, 1}, {1, 1});
  ExpectThrows(run, "rank of input 1 (lengths) of shape [2, 1], want a vector");
  FeedRange<float>(&ws, "X", {3, 2});
  ExpectThrows(run, "rank of input 0 (data) of shape [3, 2], want [steps, batch, inner]");
  Feed<uint8_t>(&ws, "X", {1, 2, 1}, {1, 2});
  ExpectThrows(run, "input 0 (data) has elements of type");
}

TEST(ReversePackedSegsTest, IsItsOwnGradient) {
  EXPECT_EQ(DescribeGradient(kReverse), "ReversePackedSegs(Y_grad,L)->X_grad | X_grad -");
}

}  // namespace
}  // namespace caffe2rt::test::reverse_packed_segs_test
