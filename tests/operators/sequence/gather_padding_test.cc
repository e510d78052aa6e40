#include <string>

#include "tests/support/operator_test.h"

namespace caffe2rt::test::gather_padding_test {
namespace {

const char* const kBoth = R"(type: "GatherPadding" input: "X" input: "L" output: "S" output: "E")";
const char* const kOne = R"(type: "GatherPadding" input: "X" input: "L" output: "S")";

std::string Widths(const std::string& op, int start, int end) {
  return MakeString(op, R"( arg { name: "padding_width" i: )", start,
                    R"( } arg { name: "end_padding_width" i: )", end, " }");
}

TEST(GatherPaddingTest, SumsUpThePaddingOfAllSegments) {
  Workspace ws;
  FeedRange<float>(&ws, "X", {6, 2}, 1);
  Feed<int32_t>(&ws, "L", {2}, {3, 3});
  RunOp(&ws, kBoth);
  ExpectTensor<float>(ws, "S", {2}, {8, 10});
  ExpectTensor<float>(ws, "E", {2}, {16, 18});
  ExpectShapeInferred(&ws, kBoth);
  RunOp(&ws, Widths(kBoth, 0, 2));
  ExpectTensor<float>(ws, "S", {2}, {0, 0});
  ExpectTensor<float>(ws, "E", {2}, {28, 32});
}

TEST(GatherPaddingTest, AddsBothSumsUpInOneOutput) {
  Workspace ws;
  Feed<int64_t>(&ws, "X", {6}, {1, 2, 3, 4, 5, 6});
  Feed<int32_t>(&ws, "L", {2}, {3, 3});
  RunOp(&ws, kOne);
  ExpectTensor<int64_t>(ws, "S", {}, {14});
  RunOp(&ws, Widths(kOne, 1, 2));
  ExpectTensor<int64_t>(ws, "S", {}, {21});
}

TEST(GatherPaddingTest, WrapsIntegersAround) {
  Workspace ws;
  Feed<int32_t>(&ws, "X", {2}, {2147483647, 1});
  Feed<int32_t>(&ws, "L", {2}, {1, 1});
  RunOp(&ws, Widths(kBoth, 1, 0));
  ExpectTensor<int32_t>(ws, "S", {}, {-2147483647 - 1});
  ExpectTensor<int32_t>(ws, "E", {}, {0});
}

// A segment shorter than its padding, as in Caffe2.
TEST(GatherPaddingTest, CountsRowsOfNeighboursOfShortSegments) {
  Workspace ws;
  Feed<double>(&ws, "X", {4}, {1, 2, 4, 8});
  Feed<int32_t>(&ws, "L", {3}, {2, 1, 1});
  RunOp(&ws, Widths(kBoth, 1, 2));
  ExpectTensor<double>(ws, "S", {}, {13});
  ExpectTensor<double>(ws, "E", {}, {21});
  ExpectThrows([&] { RunOp(&ws, Widths(kBoth, 2, 1)); },
               "length of segment 2 is 1, want at least padding_width and end_padding_width");
  ExpectThrows([&] { RunOp(&ws, Widths(kBoth, 0, 3)); }, "length of segment 0 is 2");
}

TEST(GatherPaddingTest, AcceptsEmptyTensors) {
  Workspace ws;
  Feed<float>(&ws, "X", {0, 2}, {});
  Feed<int32_t>(&ws, "L", {0}, {});
  RunOp(&ws, kBoth);
  ExpectTensor<float>(ws, "S", {2}, {0, 0});
  ExpectTensor<float>(ws, "E", {2}, {0, 0});
  Feed<float>(&ws, "X", {2, 0}, {});
  Feed<int32_t>(&ws, "L", {1}, {2});
  RunOp(&ws, kOne);
  ExpectTensor<float>(ws, "S", {0}, {});
}

TEST(GatherPaddingTest, GivesIntegersWithoutPadding) {
  Workspace ws;
  Feed<bool>(&ws, "X", {2}, {true, true});
  Feed<int32_t>(&ws, "L", {1}, {2});
  RunOp(&ws, Widths(kBoth, 0, 0));
  ExpectTensor<int64_t>(ws, "S", {}, {0});
  ExpectTensor<int64_t>(ws, "E", {}, {0});
  ExpectThrows([&] { RunOp(&ws, kBoth); }, "input 0 (data_in) has elements of type bool");
}

}  // namespace
}  // namespace caffe2rt::test::gather_padding_test
