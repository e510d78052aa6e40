#include <string>

#include "tests/support/gradient_test.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::remove_padding_test {
namespace {

const char* const kOne = R"(type: "RemovePadding" input: "X" output: "Y" output: "M")";
const char* const kPlain = R"(type: "RemovePadding" input: "X" input: "L" output: "Y" output: "M")";

TEST(RemovePaddingTest, RemovesRowsAroundEachSegment) {
  Workspace ws;
  FeedRange<float>(&ws, "X", {7, 2}, 1);
  Feed<int32_t>(&ws, "L", {2}, {4, 3});
  RunOp(&ws, kPlain);
  ExpectTensor<float>(ws, "Y", {3, 2}, {3, 4, 5, 6, 11, 12});
  ExpectTensor<int32_t>(ws, "M", {2}, {2, 1});
  ExpectShapeInferred(&ws, kPlain, true);
  RunOp(&ws, std::string(kPlain) +
                 R"( arg { name: "padding_width" i: 0 } arg { name: "end_padding_width" i: 3 })");
  ExpectTensor<float>(ws, "Y", {1, 2}, {1, 2});
  ExpectTensor<int32_t>(ws, "M", {2}, {1, 0});
}

TEST(RemovePaddingTest, TreatsDataWithoutLengthsAsOneSegment) {
  Workspace ws;
  Feed<double>(&ws, "X", {3}, {1, 2, 3});
  RunOp(&ws, kOne);
  ExpectTensor<double>(ws, "Y", {1}, {2});
  ExpectTensor<int32_t>(ws, "M", {1}, {1});
  Feed<int64_t>(&ws, "X", {2}, {1, 2});
  RunOp(&ws, kOne);
  ExpectTensor<int64_t>(ws, "Y", {0}, {});
  ExpectTensor<int32_t>(ws, "M", {1}, {0});
}

// Caffe2 leaves the rows behind the last segment undefined.
TEST(RemovePaddingTest, WritesZerosForRowsOfNoSegment) {
  Workspace ws;
  Feed<int32_t>(&ws, "X", {5}, {1, 2, 3, 4, 5});
  Feed<int32_t>(&ws, "L", {1}, {3});
  RunOp(&ws, kPlain);
  ExpectTensor<int32_t>(ws, "Y", {3}, {2, 0, 0});
  Feed<int32_t>(&ws, "L", {0}, {});
  Feed<bool>(&ws, "X", {2, 1}, {true, true});
  RunOp(&ws, kPlain);
  ExpectTensor<bool>(ws, "Y", {2, 1}, {false, false});
}

TEST(RemovePaddingTest, CopiesItsInputsWithoutPadding) {
  Workspace ws;
  FeedRange<float>(&ws, "X", {2, 0});
  Feed<int32_t>(&ws, "L", {1}, {2});
  const std::string none = R"( arg { name: "padding_width" i: 0 })";
  RunOp(&ws, kPlain + none);
  ExpectTensor<float>(ws, "Y", {2, 0}, {});
  ExpectTensor<int32_t>(ws, "M", {1}, {2});
  ExpectThrows([&] { RunOp(&ws, kOne + none); }, "output 1 (lengths_out) needs input 1 (lengths)");
}

TEST(RemovePaddingTest, RejectsSegmentsThatAreTooShort) {
  Workspace ws;
  FeedRange<float>(&ws, "X", {5});
  Feed<int32_t>(&ws, "L", {2}, {4, 1});
  ExpectThrows([&] { RunOp(&ws, kPlain); },
               "length of segment 1, want at least padding_width + end_padding_width");
  FeedRange<float>(&ws, "X", {1});
  ExpectThrows([&] { RunOp(&ws, kOne); }, "length of segment 0");
  Feed<int64_t>(&ws, "L", {1}, {1});
  ExpectThrows([&] { RunOp(&ws, kPlain); }, "int");
}

TEST(RemovePaddingTest, HasTheGradientsOfCaffe2) {
  EXPECT_EQ(DescribeGradient(kOne), "AddPadding(Y_grad)->X_grad | X_grad");
  EXPECT_EQ(DescribeGradient(kPlain), "AddPadding(Y_grad,M)->X_grad | X_grad -");
  ExpectThrows(
      [] { DescribeGradient(R"(type: "RemovePadding" input: "X" input: "L" output: "Y")"); },
      "want output 1 (lengths_out)");
}

}  // namespace
}  // namespace caffe2rt::test::remove_padding_test
