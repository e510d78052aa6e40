#include "tests/operators/dataset/dataset.h"

namespace caffe2rt::test::compute_offset_test {
namespace {

constexpr char kOp[] =
    "type: 'ComputeOffset' input: 'cursor' input: 'l' input: 'v' input: 'b' output: 'offsets'";

TEST(ComputeOffsetTest, ReturnsTheFirstRowsOfEachRecord) {
  Workspace ws;
  FeedLists(&ws);
  CreateListCursor(&ws);
  RunOp(&ws, kOp);
  ExpectTensor<int64_t>(ws, "offsets", {5, 2}, {0, 0, 1, 1, 2, 3, 3, 3, 4, 6});
}

TEST(ComputeOffsetTest, StartsAtTheCursorAndRepeatsTheEnd) {
  Workspace ws;
  FeedLists(&ws);
  CreateListCursor(&ws);
  RunOp(&ws,
        "type: 'ReadNextBatch' input: 'cursor' input: 'l' input: 'v' input: 'b' output: 'l1' "
        "output: 'v1' output: 'b1' arg { name: 'batch_size' i: 2 }");
  RunOp(&ws, kOp);
  ExpectTensor<int64_t>(ws, "offsets", {5, 2}, {2, 3, 3, 3, 4, 6, 4, 6, 4, 6});
}

TEST(ComputeOffsetTest, MovesTheCursorToTheBegin) {
  Workspace ws;
  FeedLists(&ws);
  CreateListCursor(&ws);
  const char* const position = "type: 'GetCursorOffset' input: 'cursor' output: 'p'";
  RunOp(&ws, kOp);
  RunOp(&ws, position);
  ExpectTensor<int32_t>(ws, "p", {2}, {0, 0});
  Feed<int64_t>(&ws, "order", {1}, {2});
  RunOp(&ws,
        "type: 'ReadRandomBatch' input: 'cursor' input: 'order' input: 'offsets' input: 'l' input: "
        "'v' input: 'b' output: 'l1' output: 'v1' output: 'b1'");
  RunOp(&ws, position);
  ExpectTensor<int32_t>(ws, "p", {1}, {1});
  ExpectThrows([&] { RunOp(&ws, kOp); }, "numbers in the position of the cursor");
}

TEST(ComputeOffsetTest, HasOneRowForAnEmptyDataset) {
  Workspace ws;
  CreateListCursor(&ws);
  Feed<int32_t>(&ws, "l", {0}, {});
  Feed<float>(&ws, "v", {0}, {});
  Feed<int64_t>(&ws, "b", {0}, {});
  RunOp(&ws, kOp);
  ExpectTensor<int64_t>(ws, "offsets", {1, 2}, {0, 0});
}

TEST(ComputeOffsetTest, RejectsLengthsThatDoNotFit) {
  Workspace ws;
  FeedLists(&ws);
  CreateListCursor(&ws);
  Feed<int32_t>(&ws, "l", {4}, {1, 2, 0, 4});
  ExpectThrows([&] { RunOp(&ws, kOp); }, "lengths in field \"a:lengths\" reach row 7");
  ExpectThrows([&] { RunOp(&ws, "type: 'ComputeOffset' input: 'cursor' output: 'offsets'"); },
               "inputs for the fields of the dataset");
}

}  // namespace
}  // namespace caffe2rt::test::compute_offset_test
