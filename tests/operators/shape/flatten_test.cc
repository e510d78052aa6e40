#include "tests/support/gradient_test.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::flatten_test {
namespace {

using test::ExpectGradientMatches;
using test::ExpectShapeInferred;
using test::ExpectTensor;
using test::ExpectThrows;
using test::FeedRange;
using test::Fetch;
using test::RunOp;

TEST(FlattenTest, SplitsTheDimensionsAtTheAxis) {
  Workspace ws;
  FeedRange<float>(&ws, "X", {2, 3, 4});
  const std::vector<std::vector<int64_t>> want = {{1, 24}, {2, 12}, {6, 4}, {24, 1}};
  for (int axis = 0; axis <= 3; ++axis) {
    const std::string op = R"(type: "Flatten" input: "X" output: "Y" arg { name: "axis" i: )" +
                           std::to_string(axis) + "}";
    RunOp(&ws, op);
    ExpectTensor<float>(ws, "Y", want[axis], Fetch<float>(ws, "X"));
    ExpectShapeInferred(&ws, op);
  }
}

TEST(FlattenTest, KeepsEmptyDimensions) {
  Workspace ws;
  FeedRange<float>(&ws, "X", {0, 3, 2});
  RunOp(&ws, R"(type: "Flatten" input: "X" output: "Y")");
  ExpectTensor<float>(ws, "Y", {0, 6}, {});
}

TEST(FlattenTest, RejectsAxesOutOfRange) {
  Workspace ws;
  FeedRange<float>(&ws, "X", {2, 3});
  for (const char* axis : {"-1", "3"}) {
    ExpectThrows(
        [&] {
          RunOp(&ws,
                std::string(R"(type: "Flatten" input: "X" output: "Y" arg { name: "axis" i: )") +
                    axis + "}");
        },
        "want 0 to the rank of input 0 of shape [2, 3]");
  }
}

TEST(FlattenTest, ShapesTheGradientLikeItsInput) {
  Workspace ws;
  test::FeedRandom(&ws, "X", {2, 3, 2});
  ExpectGradientMatches(&ws, R"(type: "Flatten" input: "X" output: "Y")");
  ExpectGradientMatches(&ws, R"(type: "Flatten" input: "X" output: "Y" arg { name: "axis" i: 0 })");
}

// In place the gradient would have the wrong shape.
TEST(FlattenTest, DoesNotWorkInPlace) {
  Workspace ws;
  FeedRange<float>(&ws, "X", {2, 1, 2});
  ExpectThrows([&] { RunOp(&ws, R"(type: "Flatten" input: "X" output: "X")"); },
               "may not be in place");
}

}  // namespace
}  // namespace caffe2rt::flatten_test
