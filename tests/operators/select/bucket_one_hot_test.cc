#include "tests/support/operator_test.h"

namespace caffe2rt::test::bucket_one_hot_test {
namespace {

const char* const kBuckets =
    R"(type: "BatchBucketOneHot" input: "X" input: "L" input: "B" output: "Y")";
const char* const kSegments =
    R"(type: "SegmentOneHot" input: "L" input: "I" input: "N" output: "Y")";

TEST(BatchBucketOneHotTest, FindsTheBucketsOfEachColumn) {
  Workspace ws;
  Feed<float>(&ws, "X", {2, 2}, {-1, 5, 0.5f, 1});
  Feed<int32_t>(&ws, "L", {2}, {1, 2});
  Feed<float>(&ws, "B", {3}, {0, 1, 2});
  RunOp(&ws, kBuckets);
  // -1 is below 0; 5 above 1 and 2; 0.5 above 0; 1 equals a boundary and is in the bucket below it.
  ExpectTensor<float>(ws, "Y", {2, 5}, {1, 0, 0, 0, 1, 0, 1, 1, 0, 0});
  ExpectShapeInferred(&ws, kBuckets);
}

TEST(BatchBucketOneHotTest, TakesTheMiddleOfEqualBoundaries) {
  Workspace ws;
  Feed<float>(&ws, "X", {1, 1}, {0});
  Feed<int32_t>(&ws, "L", {1}, {2});
  Feed<float>(&ws, "B", {2}, {0, 0});
  RunOp(&ws, kBuckets);
  ExpectTensor<float>(ws, "Y", {1, 3}, {0, 1, 0});
  Feed<float>(&ws, "X", {0, 1}, {});
  RunOp(&ws, kBuckets);
  ExpectTensor<float>(ws, "Y", {0, 3}, {});
}

TEST(BatchBucketOneHotTest, RejectsBoundariesThatDoNotFit) {
  Workspace ws;
  Feed<float>(&ws, "X", {1, 2}, {0, 0});
  Feed<int32_t>(&ws, "L", {2}, {1, 0});
  Feed<float>(&ws, "B", {1}, {0});
  ExpectThrows([&] { RunOp(&ws, kBuckets); }, "element 1 of input 1 (lengths)");
  Feed<int32_t>(&ws, "L", {2}, {1, 1});
  ExpectThrows([&] { RunOp(&ws, kBuckets); }, "elements of input 2 (boundaries)");
  Feed<int32_t>(&ws, "L", {1}, {1});
  ExpectThrows([&] { RunOp(&ws, kBuckets); }, "elements of input 1 (lengths), want the columns");
}

TEST(SegmentOneHotTest, MarksTheIndicesOfEachSegment) {
  Workspace ws;
  Feed<int32_t>(&ws, "L", {3}, {2, 0, 1});
  Feed<int64_t>(&ws, "I", {3}, {0, 2, 1});
  Feed<int64_t>(&ws, "N", {}, {3});
  RunOp(&ws, kSegments);
  ExpectTensor<float>(ws, "Y", {3, 3}, {1, 0, 1, 0, 0, 0, 0, 1, 0});
  ExpectShapeInferred(&ws, kSegments, true);
  Feed<int64_t>(&ws, "N", {}, {2});
  ExpectThrows([&] { RunOp(&ws, kSegments); }, "element 1 of input 1 (indices) is 2");
  Feed<int32_t>(&ws, "L", {1}, {2});
  ExpectThrows([&] { RunOp(&ws, kSegments); }, "elements of input 1 (indices), want the sum");
}

}  // namespace
}  // namespace caffe2rt::test::bucket_one_hot_test
