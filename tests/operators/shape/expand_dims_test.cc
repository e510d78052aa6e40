#include "operators/shape/expand_dims.h"

#include "tests/support/gradient_test.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::expand_dims_test {
namespace {

using test::ExpectGradientMatches;
using test::ExpectShapeInferred;
using test::ExpectTensor;
using test::ExpectThrows;
using test::FeedRange;
using test::RunOp;

TEST(ExpandDimsTest, PutsDimensionsWhereTheyStandInTheResult) {
  Workspace ws;
  FeedRange<float>(&ws, "X", {2, 3});
  const char* op =
      R"(type: "ExpandDims" input: "X" output: "Y" arg { name: "dims" ints: 4 ints: 0 ints: 1 ints: 0 })";
  RunOp(&ws, op);
  ExpectTensor<float>(ws, "Y", {1, 1, 2, 3, 1}, {0, 1, 2, 3, 4, 5});
  ExpectShapeInferred(&ws, op);
}

// Whatever stands in memory behind the places.
TEST(ExpandDimsTest, EndsAtTheLastPlace) {
  std::vector<int> places = {0, 2};
  places.pop_back();
  std::vector<int64_t> dims;
  ExpandedDims(std::vector<int64_t>{5, 6, 7}, places, &dims);
  EXPECT_EQ(dims, (std::vector<int64_t>{1, 5, 6, 7}));
}

TEST(ExpandDimsTest, RunsInPlaceOnScalarsAndEmptyTensors) {
  Workspace ws;
  FeedRange<float>(&ws, "X", {}, 5);
  RunOp(&ws, R"(type: "ExpandDims" input: "X" output: "X" arg { name: "dims" ints: 0 })");
  ExpectTensor<float>(ws, "X", {1}, {5});
  FeedRange<float>(&ws, "E", {0});
  RunOp(&ws, R"(type: "ExpandDims" input: "E" output: "Y" arg { name: "dims" ints: 1 })");
  ExpectTensor<float>(ws, "Y", {0, 1}, {});
}

TEST(ExpandDimsTest, RejectsDimsOutOfRange) {
  Workspace ws;
  FeedRange<float>(&ws, "X", {2, 3});
  for (const char* dims : {"ints: 3", "ints: 2 ints: 4", "ints: 1000000000"}) {
    ExpectThrows(
        [&] {
          RunOp(&ws,
                std::string(R"(type: "ExpandDims" input: "X" output: "Y" arg { name: "dims" )") +
                    dims + "}");
        },
        "want more than the largest of argument dims");
  }
  ExpectThrows(
      [&] {
        RunOp(&ws, R"(type: "ExpandDims" input: "X" output: "Y" arg { name: "dims" ints: -1 })");
      },
      "argument \"dims\" is [-1], want at least one dimension, none negative");
  ExpectThrows([&] { RunOp(&ws, R"(type: "ExpandDims" input: "X" output: "Y")"); },
               "argument \"dims\" is required but missing");
}

TEST(ExpandDimsTest, ShapesTheGradientLikeItsInput) {
  Workspace ws;
  test::FeedRandom(&ws, "X", {2, 3});
  ExpectGradientMatches(
      &ws,
      R"(type: "ExpandDims" input: "X" output: "Y" arg { name: "dims" ints: 2 ints: 0 ints: 0 })");
}

}  // namespace
}  // namespace caffe2rt::expand_dims_test
