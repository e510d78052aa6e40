#include "caffe2_core/runtime/net.h"
#include "tests/support/allocation_counter.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::steady_state_test {
namespace {

constexpr char kNet[] = R"(
  name: "segment"
  op { type: "SortedSegmentSum" input: "X" input: "S" output: "sums" }
  op { type: "SortedSegmentSumGradient" input: "sums" input: "S" output: "sums_grad" }
  op { type: "SortedSegmentRangeLogSumExp" input: "X" input: "S" output: "logs" }
  op { type: "SortedSegmentRangeLogSumExpGradient" input: "X" input: "logs" input: "logs" input: "S"
       output: "logs_grad" }
  op { type: "UnsortedSegmentMean" input: "X" input: "S" output: "means" }
  op { type: "UnsortedSegmentMeanGradient" input: "means" input: "S" output: "means_grad" }
  op { type: "LengthsMax" input: "X" input: "L" output: "maxima" }
  op { type: "SparseLengthsSum" input: "X" input: "I" input: "L" output: "sparse" }
  op { type: "Unique" input: "I" output: "unique" output: "remapping" }
  op { type: "AccumulateHistogram" input: "X" output: "current" output: "all" }
)";

TEST(SegmentOperatorsTest, AllocateNothingOnceWarm) {
  if (!AllocationCounter::kCounts) GTEST_SKIP() << "a sanitizer replaces malloc";
  Workspace ws;
  FeedRange<float>(&ws, "X", {3, 2}, 1);
  Feed<int32_t>(&ws, "S", {3}, {0, 0, 1});
  Feed<int32_t>(&ws, "L", {2}, {1, 2});
  Feed<int64_t>(&ws, "I", {3}, {2, 0, 2});
  NetBase* net = ws.CreateNet(ParseNet(kNet));
  ASSERT_TRUE(net->Run());
  ASSERT_TRUE(net->Run());
  AllocationCounter counter;
  ASSERT_TRUE(net->Run());
  EXPECT_EQ(counter.Counts().allocations, 0);
  EXPECT_EQ(counter.Counts().locks, 0);
  ExpectTensor<float>(ws, "sums", {2, 2}, {4, 6, 5, 6});
}

}  // namespace
}  // namespace caffe2rt::test::steady_state_test
