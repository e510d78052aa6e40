#include <string>

#include "tests/support/gradient_test.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::add_padding_test {
namespace {

const char* const kOne = R"(type: "AddPadding" input: "X" output: "Y")";
const char* const kPlain = R"(type: "AddPadding" input: "X" input: "L" output: "Y" output: "M")";
const char* const kStart =
    R"(type: "AddPadding" input: "X" input: "L" input: "S" output: "Y" output: "M")";
const char* const kBoth =
    R"(type: "AddPadding" input: "X" input: "L" input: "S" input: "E" output: "Y" output: "M")";

std::string Widths(const std::string& op, int start, int end) {
  return MakeString(op, R"( arg { name: "padding_width" i: )", start,
                    R"( } arg { name: "end_padding_width" i: )", end, " }");
}

TEST(AddPaddingTest, AddsZerosAroundEachSegment) {
  Workspace ws;
  FeedRange<float>(&ws, "X", {3, 2}, 1);
  Feed<int32_t>(&ws, "L", {2}, {1, 2});
  RunOp(&ws, kPlain);
  ExpectTensor<float>(ws, "Y", {7, 2}, {0, 0, 1, 2, 0, 0, 0, 0, 3, 4, 5, 6, 0, 0});
  ExpectTensor<int32_t>(ws, "M", {2}, {3, 4});
  ExpectShapeInferred(&ws, kPlain);
}

TEST(AddPaddingTest, AddsRowsOfTheUser) {
  Workspace ws;
  FeedRange<float>(&ws, "X", {2, 2}, 1);
  Feed<int32_t>(&ws, "L", {2}, {2, 0});
  Feed<float>(&ws, "S", {2}, {7, 8});
  Feed<float>(&ws, "E", {2}, {9, 10});
  RunOp(&ws, Widths(kBoth, 1, 2));
  ExpectTensor<float>(ws, "Y", {8, 2}, {7, 8, 1, 2, 3, 4, 9, 10, 9, 10, 7, 8, 9, 10, 9, 10});
  ExpectTensor<int32_t>(ws, "M", {2}, {5, 3});
  RunOp(&ws, Widths(kStart, 0, 1));
  ExpectTensor<float>(ws, "Y", {4, 2}, {1, 2, 3, 4, 7, 8, 7, 8});
  RunOp(&ws, Widths(kStart, 1, -3));
  ExpectTensor<float>(ws, "Y", {6, 2}, {7, 8, 1, 2, 3, 4, 7, 8, 7, 8, 7, 8});
}

TEST(AddPaddingTest, TreatsDataWithoutLengthsAsOneSegment) {
  Workspace ws;
  Feed<int64_t>(&ws, "X", {2}, {1, 2});
  const std::string op = Widths(std::string(kOne) + R"( output: "M")", 2, 0);
  RunOp(&ws, op);
  ExpectTensor<int64_t>(ws, "Y", {4}, {0, 0, 1, 2});
  ExpectTensor<int32_t>(ws, "M", {1}, {4});
  ExpectShapeInferred(&ws, op);
  Feed<bool>(&ws, "X", {1}, {true});
  RunOp(&ws, kOne);
  ExpectTensor<bool>(ws, "Y", {3}, {false, true, false});
  Feed<double>(&ws, "X", {0}, {});
  RunOp(&ws, kOne);
  ExpectTensor<double>(ws, "Y", {2}, {0, 0});
}

// Caffe2 leaves the rows behind the last segment undefined.
TEST(AddPaddingTest, WritesZerosForRowsOfNoSegment) {
  Workspace ws;
  Feed<int32_t>(&ws, "X", {3}, {1, 2, 3});
  Feed<int32_t>(&ws, "L", {1}, {1});
  Feed<int32_t>(&ws, "S", {1}, {9});
  RunOp(&ws, kStart);
  ExpectTensor<int32_t>(ws, "Y", {5}, {9, 1, 9, 0, 0});
  ExpectTensor<int32_t>(ws, "M", {1}, {3});
  Feed<int32_t>(&ws, "L", {0}, {});
  RunOp(&ws, kStart);
  ExpectTensor<int32_t>(ws, "Y", {3}, {0, 0, 0});
}

TEST(AddPaddingTest, CopiesItsInputsWithoutPadding) {
  Workspace ws;
  Feed<uint8_t>(&ws, "X", {2}, {1, 2});
  Feed<int32_t>(&ws, "L", {2}, {7, 8});
  RunOp(&ws, Widths(kPlain, 0, 0));
  ExpectTensor<uint8_t>(ws, "Y", {2}, {1, 2});
  ExpectTensor<int32_t>(ws, "M", {2}, {7, 8});
  ExpectThrows([&] { RunOp(&ws, Widths(std::string(kOne) + R"( output: "M")", 0, 0)); },
               "output 1 (lengths_out) needs input 1 (lengths)");
}

TEST(AddPaddingTest, RejectsWhatDoesNotFit) {
  Workspace ws;
  const auto run = [&](const std::string& op) { return [&ws, op] { RunOp(&ws, op); }; };
  FeedRange<float>(&ws, "X", {3, 2});
  Feed<int32_t>(&ws, "L", {2}, {1, 3});
  ExpectThrows(run(kPlain), "sum of input 1 (lengths), want at most dim 0 of input 0 (data_in)");
  Feed<int32_t>(&ws, "L", {2}, {-1, 3});
  ExpectThrows(run(kPlain), "element 0 of input 1 (lengths), want at least 0");
  ExpectThrows(run(Widths(kPlain, -1, 0)), "argument \"padding_width\" is -1, want at least 0");
  Feed<int32_t>(&ws, "L", {2}, {1, 2});
  FeedRange<float>(&ws, "S", {3});
  ExpectThrows(run(kStart), "elements of input 2 (start_padding) of shape [3]");
  FeedRange<float>(&ws, "S", {2});
  FeedRange<float>(&ws, "E", {1});
  ExpectThrows(run(kBoth), "elements of input 3 (end_padding) of shape [1]");
  FeedRange<double>(&ws, "S", {2});
  ExpectThrows(run(kStart), "input 2 (start_padding) has elements of type double, want float");
  Feed<uint8_t>(&ws, "X", {3}, {1, 2, 3});
  ExpectThrows(run(kPlain), "input 0 (data_in) has elements of type");
  FeedRange<float>(&ws, "X", {});
  ExpectThrows(run(kOne), "rank of input 0 (data_in)");
}

TEST(AddPaddingTest, HasTheGradientsOfCaffe2) {
  EXPECT_EQ(DescribeGradient(kOne), "RemovePadding(Y_grad)->X_grad | X_grad");
  EXPECT_EQ(DescribeGradient(kPlain), "RemovePadding(Y_grad,M)->X_grad | X_grad -");
  EXPECT_EQ(DescribeGradient(kStart),
            "RemovePadding(Y_grad,M)->X_grad; GatherPadding(Y_grad,M)->S_grad | X_grad - S_grad");
  EXPECT_EQ(DescribeGradient(kBoth),
            "RemovePadding(Y_grad,M)->X_grad; GatherPadding(Y_grad,M)->S_grad,E_grad | "
            "X_grad - S_grad E_grad");
  ExpectThrows([] { DescribeGradient(R"(type: "AddPadding" input: "X" input: "L" output: "Y")"); },
               "want output 1 (lengths_out)");
}

}  // namespace
}  // namespace caffe2rt::test::add_padding_test
