#include "tests/support/operator_test.h"

namespace caffe2rt::test::lengths_to_ranges_test {
namespace {

class LengthsToRangesTest : public testing::Test {
 protected:
  void Run(const std::string& type, const std::string& more = "") {
    RunOp(&ws_, MakeString("type: '", type, "' input: 'in' output: 'out' ", more));
  }
  void FeedLengths(const std::vector<int32_t>& lengths) {
    Feed<int32_t>(&ws_, "in", {static_cast<int64_t>(lengths.size())}, lengths);
  }

  Workspace ws_;
};

TEST_F(LengthsToRangesTest, ConvertsLengths) {
  FeedLengths({2, 0, 3});
  Run("LengthsToRanges");
  ExpectTensor<int32_t>(ws_, "out", {3, 2}, {0, 2, 2, 0, 2, 3});
  Run("LengthsToOffsets");
  ExpectTensor<int32_t>(ws_, "out", {3}, {0, 2, 2});
  Run("LengthsToOffsets", "arg { name: 'include_last_offset' i: 1 }");
  ExpectTensor<int32_t>(ws_, "out", {4}, {0, 2, 2, 5});
  Run("LengthsToSegmentIds");
  ExpectTensor<int32_t>(ws_, "out", {5}, {0, 0, 2, 2, 2});
}

TEST_F(LengthsToRangesTest, WeighsRowsByTheLengthOfTheirSegment) {
  FeedLengths({4, 0, 1});
  Run("LengthsToWeights");
  ExpectTensor<float>(ws_, "out", {5}, {0.5f, 0.5f, 0.5f, 0.5f, 1}, 1e-6);
  Run("LengthsToWeights", "arg { name: 'power' f: 1 }");
  ExpectTensor<float>(ws_, "out", {5}, {0.25f, 0.25f, 0.25f, 0.25f, 1}, 1e-6);
  Feed<int64_t>(&ws_, "in", {1}, {2});
  Run("LengthsToWeights", "arg { name: 'power' f: 2 }");
  ExpectTensor<float>(ws_, "out", {2}, {0.25f, 0.25f}, 1e-6);
}

TEST_F(LengthsToRangesTest, InfersShapesThatDoNotDependOnValues) {
  FeedLengths({2, 2, 2});
  for (const char* type : {"LengthsToRanges", "LengthsToOffsets", "LengthsToShape"}) {
    ExpectShapeInferred(&ws_, MakeString("type: '", type, "' input: 'in' output: 'out'"));
  }
  ExpectShapeInferred(&ws_,
                      "type: 'LengthsToOffsets' input: 'in' output: 'out' "
                      "arg { name: 'include_last_offset' i: 1 }");
}

TEST_F(LengthsToRangesTest, AcceptsNoSegments) {
  FeedLengths({});
  Run("LengthsToRanges");
  ExpectTensor<int32_t>(ws_, "out", {0, 2}, {});
  Run("LengthsToOffsets", "arg { name: 'include_last_offset' i: 1 }");
  ExpectTensor<int32_t>(ws_, "out", {1}, {0});
  Run("LengthsToSegmentIds");
  ExpectTensor<int32_t>(ws_, "out", {0}, {});
  Run("SegmentIdsToLengths");
  ExpectTensor<int32_t>(ws_, "out", {0}, {});
}

TEST_F(LengthsToRangesTest, GivesTheShapeOfEqualLengths) {
  FeedLengths({7, 7, 7});
  Run("LengthsToShape");
  ExpectTensor<int32_t>(ws_, "out", {2}, {3, 7});
  FeedLengths({7, 6});
  ExpectThrows([&] { Run("LengthsToShape"); }, "want all to be equal");
  FeedLengths({});
  ExpectThrows([&] { Run("LengthsToShape"); }, "elements of input 0 (lengths)");
}

TEST_F(LengthsToRangesTest, ConvertsSegmentIds) {
  Feed<int32_t>(&ws_, "in", {5}, {0, 0, 2, 2, 2});
  Run("SegmentIdsToLengths");
  ExpectTensor<int32_t>(ws_, "out", {3}, {2, 0, 3});
  Run("SegmentIdsToRanges");
  ExpectTensor<int32_t>(ws_, "out", {3, 2}, {0, 2, 2, 0, 2, 3});
  Feed<int64_t>(&ws_, "in", {1, 2}, {1, 1});
  Feed<float>(&ws_, "data", {4, 1}, {0, 0, 0, 0});
  Run("SegmentIdsToLengths", "input: 'data'");
  ExpectTensor<int32_t>(ws_, "out", {4}, {0, 2, 0, 0});
  // As recorded from the original: segments behind the last row begin at 0.
  Run("SegmentIdsToRanges", "input: 'data'");
  ExpectTensor<int32_t>(ws_, "out", {4, 2}, {0, 0, 0, 2, 0, 0, 0, 0});
}

TEST_F(LengthsToRangesTest, RejectsInputsThatDescribeNoSegments) {
  FeedLengths({2, -1});
  for (const char* type : {"LengthsToRanges", "LengthsToOffsets", "LengthsToSegmentIds",
                           "LengthsToWeights", "LengthsToShape"}) {
    ExpectThrows([&] { Run(type); }, "element 1 of input 0 (lengths)");
  }
  // The lower halves of -2^32 + 1 and 2^32 + 1 are 1.
  Feed<int64_t>(&ws_, "in", {2}, {1, -4294967295});
  ExpectThrows([&] { Run("LengthsToWeights"); }, "element 1 of input 0 (lengths)");
  Feed<int64_t>(&ws_, "in", {1}, {4294967297});
  ExpectThrows([&] { Run("LengthsToWeights"); }, "rows of all segments");
  FeedLengths({2000000000, 2000000000});
  ExpectThrows([&] { Run("LengthsToRanges"); }, "rows of all segments");
  FeedLengths({1, 0});
  ExpectThrows([&] { Run("SegmentIdsToLengths"); }, "element 1 of input 0 (segment_ids) is 0");
  FeedLengths({-3, 0});
  ExpectThrows([&] { Run("SegmentIdsToRanges"); }, "element 0 of input 0 (segment_ids) is -3");
  FeedLengths({0, 4});
  Feed<float>(&ws_, "data", {4}, {0, 0, 0, 0});
  ExpectThrows([&] { Run("SegmentIdsToRanges", "input: 'data'"); }, "want at most the rows");
}

}  // namespace
}  // namespace caffe2rt::test::lengths_to_ranges_test
