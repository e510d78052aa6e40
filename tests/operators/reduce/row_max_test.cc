#include "tests/support/gradient_test.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::row_max_test {
namespace {

using test::ExpectShapeInferred;
using test::ExpectTensor;
using test::ExpectThrows;
using test::Feed;
using test::FeedRange;
using test::RunOp;

const char* const kRows = R"(type: "RowwiseMax" input: "X" output: "Y")";
const char* const kColumns = R"(type: "ColwiseMax" input: "X" output: "Y")";
const char* const kTail = R"(type: "ReduceTailSum" input: "X" output: "Y")";

TEST(RowMaxTest, FindsTheLargestOfRowsAndColumnsOfEachMatrix) {
  Workspace ws;
  Feed<float>(&ws, "X", {2, 2, 3}, {1, 5, 3, 4, 2, 6, -1, -5, -3, -4, -2, -6});
  RunOp(&ws, kRows);
  ExpectTensor<float>(ws, "Y", {2, 2}, {5, 6, -1, -2});
  ExpectShapeInferred(&ws, kRows);
  RunOp(&ws, kColumns);
  ExpectTensor<float>(ws, "Y", {2, 3}, {4, 5, 6, -1, -2, -3});
  ExpectShapeInferred(&ws, kColumns);
}

TEST(RowMaxTest, AcceptsNoMatrixAndRejectsEmptyRows) {
  Workspace ws;
  Feed<float>(&ws, "X", {0, 2, 3}, {});
  RunOp(&ws, kRows);
  ExpectTensor<float>(ws, "Y", {0, 2}, {});
  Feed<float>(&ws, "X", {2, 3, 0}, {});
  RunOp(&ws, kColumns);
  ExpectTensor<float>(ws, "Y", {2, 0}, {});
  ExpectThrows([&] { RunOp(&ws, kRows); }, "want at least one element in each row or column");
}

TEST(RowMaxTest, RequiresThreeDimensionsOfFloats) {
  Workspace ws;
  FeedRange<float>(&ws, "X", {2, 3});
  ExpectThrows([&] { RunOp(&ws, kRows); }, "rank of input 0 (X) of shape [2, 3]");
  FeedRange<double>(&ws, "X", {1, 2, 3});
  ExpectThrows([&] { RunOp(&ws, kColumns); }, "double");
}

TEST(ReduceTailSumTest, AddsEverythingBehindTheFirstDimension) {
  Workspace ws;
  FeedRange<float>(&ws, "X", {2, 3, 4}, 1);
  RunOp(&ws, kTail);
  ExpectTensor<float>(ws, "Y", {2}, {78, 222});
  ExpectShapeInferred(&ws, kTail);
  Feed<float>(&ws, "X", {3, 0}, {});
  RunOp(&ws, kTail);
  ExpectTensor<float>(ws, "Y", {3}, {0, 0, 0});
  FeedRange<float>(&ws, "X", {3}, 1);
  RunOp(&ws, kTail);
  ExpectTensor<float>(ws, "Y", {3}, {1, 2, 3});
  Feed<float>(&ws, "X", {}, {1});
  ExpectThrows([&] { RunOp(&ws, kTail); }, "rank of input 0 (X)");
}

TEST(RowMaxTest, GivesEveryLargestElementItsGradient) {
  Workspace ws;
  Feed<float>(&ws, "X", {1, 2, 3}, {1, 5, 5, 4, 2, 6});
  Feed<float>(&ws, "Y", {1, 2}, {5, 6});
  Feed<float>(&ws, "dY", {1, 2}, {7, 8});
  const char* rows = R"(type: "RowwiseMaxGradient" input: "X" input: "Y" input: "dY" output: "dX")";
  RunOp(&ws, rows);
  ExpectTensor<float>(ws, "dX", {1, 2, 3}, {0, 7, 7, 0, 0, 8});
  ExpectShapeInferred(&ws, rows);
  const char* columns =
      R"(type: "ColwiseMaxGradient" input: "X" input: "Y" input: "dY" output: "dX")";
  ExpectThrows([&] { RunOp(&ws, columns); },
               "elements of input 1 (Y) of shape [1, 2], want one for each output");
  Feed<float>(&ws, "Y", {1, 3}, {4, 5, 6});
  Feed<float>(&ws, "dY", {1, 3}, {7, 8, 9});
  RunOp(&ws, columns);
  ExpectTensor<float>(ws, "dX", {1, 2, 3}, {0, 8, 0, 7, 0, 9});
  Feed<float>(&ws, "X", {2, 3}, {1, 2, 3, 4, 5, 6});
  ExpectThrows([&] { RunOp(&ws, columns); }, "rank of input 0 (X) of shape [2, 3]");
}

TEST(RowMaxTest, HasTheDerivativeAsGradient) {
  Workspace ws;
  Feed<float>(&ws, "X", {2, 2, 3}, {1, 5, 3, 4, 2, 6, -1, -5, -3, -4, -2, -6});
  test::ExpectGradientMatches(&ws, kRows);
  test::ExpectGradientMatches(&ws, kColumns);
}

}  // namespace
}  // namespace caffe2rt::row_max_test
