#include "tests/support/gradient_test.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::slice_test {
namespace {

using test::ExpectGradientMatches;
using test::ExpectShapeInferred;
using test::ExpectTensor;
using test::ExpectThrows;
using test::Feed;
using test::FeedRange;
using test::RunOp;

struct Case {
  std::string bounds;
  std::vector<int64_t> want;
  float first;
};

// X is [3, 4] with the values 0 to 11.
class SliceTest : public testing::TestWithParam<Case> {};

TEST_P(SliceTest, CopiesTheSlice) {
  Workspace ws;
  FeedRange<float>(&ws, "X", {3, 4});
  const std::string op = R"(type: "Slice" input: "X" output: "Y" )" + GetParam().bounds;
  RunOp(&ws, op);
  const Tensor& Y = ws.GetBlob("Y")->Get<Tensor>();
  EXPECT_EQ(Y.dims(), GetParam().want);
  for (int64_t i = 0; i < Y.numel(); ++i) {
    const int64_t row = i / Y.dim(1), column = i % Y.dim(1);
    EXPECT_EQ(Y.data<float>()[i], GetParam().first + static_cast<float>(4 * row + column));
  }
  ExpectShapeInferred(&ws, op);
}

std::string Bounds(const std::string& starts, const std::string& ends) {
  return "arg { name: \"starts\" " + starts + "} arg { name: \"ends\" " + ends + "}";
}

INSTANTIATE_TEST_SUITE_P(
    Bounds, SliceTest,
    testing::Values(Case{Bounds("ints: 1", "ints: 3"), {2, 4}, 4},
                    Case{Bounds("ints: 0 ints: 1", "ints: 3 ints: 3"), {3, 2}, 1},
                    Case{Bounds("ints: 0 ints: 0", "ints: -1 ints: -2"), {3, 3}, 0},
                    Case{Bounds("ints: 0 ints: -3", "ints: -1 ints: -1"), {3, 2}, 2},
                    Case{Bounds("ints: -2", "ints: -1"), {1, 4}, 8},
                    Case{Bounds("ints: 2", "ints: 100"), {1, 4}, 8},
                    Case{Bounds("ints: 100", "ints: 200"), {0, 4}, 0},
                    Case{Bounds("ints: 1 ints: 0", "ints: 1 ints: -1"), {0, 4}, 0},
                    Case{Bounds("", ""), {3, 4}, 0}));

TEST(SliceBoundsTest, ComeFromInputsOfOneType) {
  Workspace ws;
  FeedRange<float>(&ws, "X", {3, 2});
  Feed<int32_t>(&ws, "S", {1}, {1});
  Feed<int32_t>(&ws, "E", {1}, {2});
  Feed<int64_t>(&ws, "L", {1}, {2});
  const char* op = R"(type: "Slice" input: "X" input: "S" input: "E" output: "Y")";
  RunOp(&ws, op);
  ExpectTensor<float>(ws, "Y", {1, 2}, {2, 3});
  ExpectShapeInferred(&ws, op, true);
  ExpectThrows([&] { RunOp(&ws, R"(type: "Slice" input: "X" input: "S" input: "L" output: "Y")"); },
               "input 2 (ends) has elements of type");
}

TEST(SliceBoundsTest, LeaveEmptyDimensionsAlone) {
  Workspace ws;
  FeedRange<float>(&ws, "X", {0, 3});
  RunOp(&ws,
        R"(type: "Slice" input: "X" output: "Y" )" + Bounds("ints: 5 ints: 1", "ints: 1 ints: -1"));
  ExpectTensor<float>(ws, "Y", {0, 2}, {});
  // Bounds that would lie before the beginning.
  RunOp(&ws, R"(type: "Slice" input: "X" output: "Y" )" +
                 Bounds("ints: -3 ints: 0", "ints: -2 ints: -1"));
  ExpectTensor<float>(ws, "Y", {0, 3}, {});
}

TEST(SliceBoundsTest, CutStrings) {
  Workspace ws;
  Feed<std::string>(&ws, "X", {2, 2}, {"a", "b", "c", "d"});
  RunOp(&ws,
        R"(type: "Slice" input: "X" output: "Y" )" + Bounds("ints: 0 ints: 1", "ints: 2 ints: 2"));
  ExpectTensor<std::string>(ws, "Y", {2, 1}, {"b", "d"});
}

TEST(SliceBoundsTest, AreRejectedIfOutOfRange) {
  Workspace ws;
  FeedRange<float>(&ws, "X", {3, 4});
  const auto run = [&](const std::string& bounds) {
    RunOp(&ws, R"(type: "Slice" input: "X" output: "Y" )" + bounds);
  };
  ExpectThrows([&] { run(Bounds("ints: 1 ints: 1", "ints: 2 ints: 2")); },
               "slice 2 dimensions, want one");
  ExpectThrows([&] { run(Bounds("ints: 2", "ints: 1")); },
               "dim 0 of input 0 of shape [3, 4] cannot be sliced from 2 to 1");
  ExpectThrows([&] { run(Bounds("ints: 0", "ints: -9")); }, "cannot be sliced from 0 to -9");
  ExpectThrows([&] { run(Bounds("ints: 0", "ints: -9223372036854775808")); }, "cannot be sliced");
  // Both bounds lie before the beginning; the end is behind the start.
  ExpectThrows([&] { run(Bounds("ints: -9", "ints: -8")); }, "cannot be sliced from -9 to -8");
  ExpectThrows([&] { run(Bounds("ints: -9", "ints: 2")); }, "cannot be sliced from -9 to 2");
  ExpectThrows([&] { run(Bounds("ints: 0", "")); }, "elements of starts, want as many as of ends");
  ExpectThrows([&] { run(Bounds("ints: 0 ints: 0 ints: 0", "ints: 1 ints: 1 ints: 1")); },
               "want at most the rank of input 0");
  ExpectThrows([&] { run(""); }, "argument starts is missing");
}

const char* const kGradient = R"(type: "SliceGradient" input: "X" input: "dY" output: "dX"
    arg { name: "starts" ints: 0 ints: 1 } arg { name: "ends" ints: -1 ints: -2 })";

TEST(SliceGradientTest, SurroundsTheGradientWithZeros) {
  Workspace ws;
  FeedRange<int32_t>(&ws, "X", {2, 4});
  Feed<double>(&ws, "dY", {2, 2}, {1, 2, 3, 4});
  RunOp(&ws, kGradient);
  ExpectTensor<double>(ws, "dX", {2, 4}, {0, 1, 2, 0, 0, 3, 4, 0});
  ExpectShapeInferred(&ws, kGradient);

  Feed<int64_t>(&ws, "S", {1}, {1});
  Feed<int64_t>(&ws, "E", {1}, {2});
  Feed<float>(&ws, "dY", {1, 4}, {5, 6, 7, 8});
  const char* op =
      R"(type: "SliceGradient" input: "X" input: "S" input: "E" input: "dY" output: "dX")";
  RunOp(&ws, op);
  ExpectTensor<float>(ws, "dX", {2, 4}, {0, 0, 0, 0, 5, 6, 7, 8});
  ExpectShapeInferred(&ws, op);
  Feed<int64_t>(&ws, "S", {1}, {0});
  FeedRange<float>(&ws, "dY", {2, 4}, 1);
  RunOp(&ws, op);
  ExpectTensor<float>(ws, "dX", {2, 4}, {1, 2, 3, 4, 5, 6, 7, 8});
}

TEST(SliceGradientTest, AcceptsEmptySlicesAndEmptyInputs) {
  Workspace ws;
  FeedRange<float>(&ws, "X", {2, 2});
  Feed<float>(&ws, "dY", {2, 0}, {});
  RunOp(&ws, kGradient);
  ExpectTensor<float>(ws, "dX", {2, 2}, {0, 0, 0, 0});
  Feed<float>(&ws, "X", {0, 4}, {});
  Feed<float>(&ws, "dY", {0, 2}, {});
  RunOp(&ws, kGradient);
  ExpectTensor<float>(ws, "dX", {0, 4}, {});
}

TEST(SliceGradientTest, RejectsWhatDoesNotFit) {
  Workspace ws;
  FeedRange<float>(&ws, "X", {2, 4});
  FeedRange<float>(&ws, "dY", {2, 3});
  const auto run = [&](const char* op) { return [&ws, op] { RunOp(&ws, op); }; };
  ExpectThrows(run(kGradient),
               "elements of input 1 (dY) of shape [2, 3], want those of the slice, [2, 2]");
  ExpectThrows(run(R"(type: "SliceGradient" input: "X" input: "dY" output: "dX")"),
               "argument starts is missing");
  ExpectThrows(run(R"(type: "SliceGradient" input: "X" input: "X" input: "dY" output: "dX")"),
               "inputs");
}

TEST(SliceGradientTest, PassesTheGradientToTheSlice) {
  Workspace ws;
  test::FeedRandom(&ws, "X", {3, 4});
  Feed<int32_t>(&ws, "S", {2}, {0, 1});
  Feed<int32_t>(&ws, "E", {2}, {-1, 3});
  ExpectGradientMatches(&ws, R"(type: "Slice" input: "X" output: "Y"
      arg { name: "starts" ints: 1 } arg { name: "ends" ints: -1 })");
  ExpectGradientMatches(&ws, R"(type: "Slice" input: "X" input: "S" input: "E" output: "Y")");
}

}  // namespace
}  // namespace caffe2rt::slice_test
