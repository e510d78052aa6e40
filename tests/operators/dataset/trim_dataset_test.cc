#include "tests/operators/dataset/dataset.h"

namespace caffe2rt::test::trim_dataset_test {
namespace {

void Trim(Workspace* ws, int multiple) {
  RunOp(ws,
        MakeString("type: 'TrimDataset' input: 'l' input: 'v' input: 'b' output: 'l' output: 'v' "
                   "output: 'b' arg { name: 'multiple_of' i: ",
                   multiple, " }", kListFields));
}

TEST(TrimDatasetTest, DropsTheLastRecords) {
  Workspace ws;
  FeedLists(&ws);
  Trim(&ws, 2);
  ExpectTensor<float>(ws, "v", {6}, {0, 1, 2, 3, 4, 5});
  Trim(&ws, 3);
  ExpectTensor<int32_t>(ws, "l", {3}, {1, 2, 0});
  ExpectTensor<float>(ws, "v", {3}, {0, 1, 2});
  ExpectTensor<int64_t>(ws, "b", {3}, {1, 2, 3});
  Trim(&ws, 5);
  ExpectTensor<int32_t>(ws, "l", {0}, {});
  ExpectTensor<float>(ws, "v", {0}, {});
}

TEST(TrimDatasetTest, RejectsInvalidDatasets) {
  Workspace ws;
  FeedLists(&ws);
  ExpectThrows([&] { Trim(&ws, 0); }, "argument \"multiple_of\" is 0, want above 0");
  Feed<int32_t>(&ws, "l", {4}, {1, 6, 0, 0});
  ExpectThrows([&] { Trim(&ws, 3); }, "lengths in field");
  Feed<int32_t>(&ws, "l", {4}, {-1, 0, 0, 0});
  ExpectThrows([&] { Trim(&ws, 3); }, "sum of the lengths that split field \"a:values\"");
  ExpectTensor<int32_t>(ws, "l", {4}, {-1, 0, 0, 0});  // not trimmed either
  ExpectTensor<float>(ws, "v", {6}, {0, 1, 2, 3, 4, 5});
  ExpectTensor<int64_t>(ws, "b", {4}, {1, 2, 3, 4});
  ExpectThrows(
      [&] { RunOp(&ws, MakeString("type: 'TrimDataset' input: 'l' output: 'l'", kListFields)); },
      "inputs, want one for each name");
}

}  // namespace
}  // namespace caffe2rt::test::trim_dataset_test
