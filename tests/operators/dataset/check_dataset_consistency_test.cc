#include "tests/operators/dataset/dataset.h"

namespace caffe2rt::test::check_dataset_consistency_test {
namespace {

void Check(Workspace* ws) {
  RunOp(ws, MakeString("type: 'CheckDatasetConsistency' input: 'l' input: 'v' input: 'b'",
                       kListFields));
}

TEST(CheckDatasetConsistencyTest, AcceptsDatasetsThatFit) {
  Workspace ws;
  FeedLists(&ws);
  Check(&ws);
  Feed<int32_t>(&ws, "l", {0}, {});
  Feed<float>(&ws, "v", {0}, {});
  Feed<int64_t>(&ws, "b", {0}, {});
  Check(&ws);
}

TEST(CheckDatasetConsistencyTest, RejectsDatasetsThatDoNotFit) {
  Workspace ws;
  FeedLists(&ws);
  Feed<int32_t>(&ws, "l", {4}, {1, 2, 0, 2});
  ExpectThrows([&] { Check(&ws); }, "got 5, want 6");
  Feed<int32_t>(&ws, "l", {4}, {1, 2, 0, 4});
  ExpectThrows([&] { Check(&ws); }, "lengths in field \"a:lengths\" reach row 7");
  Feed<int32_t>(&ws, "l", {4}, {INT32_MAX, INT32_MAX, INT32_MAX, INT32_MAX});
  ExpectThrows([&] { Check(&ws); }, "lengths in field");
  Feed<int32_t>(&ws, "l", {5}, {1, 2, 0, 2, 1});
  ExpectThrows([&] { Check(&ws); }, "rows of field \"a:lengths\"");
  Feed<int64_t>(&ws, "l", {0}, {});
  Feed<float>(&ws, "v", {0}, {});
  Feed<int64_t>(&ws, "b", {0}, {});
  EXPECT_THROW(Check(&ws), EnforceNotMet);  // although no lengths are read
  FeedLists(&ws);
  Feed<int64_t>(&ws, "l", {4}, {1, 2, 0, 3});
  ExpectThrows([&] { Check(&ws); }, "input 0 (a:lengths) is");
  Feed<int32_t>(&ws, "l", {}, {1});
  ExpectThrows([&] { Check(&ws); }, "input 0 (a:lengths) has no dimension");
  ExpectThrows(
      [&] { RunOp(&ws, MakeString("type: 'CheckDatasetConsistency' input: 'l'", kListFields)); },
      "inputs, want one for each name");
}

}  // namespace
}  // namespace caffe2rt::test::check_dataset_consistency_test
