// Checks that warm losses and their gradients make no heap allocation and take no lock.

#include "caffe2_core/runtime/net.h"
#include "tests/support/allocation_counter.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::steady_state_test {
namespace {

// One operator of each class.
constexpr char kNet[] = R"(
  name: "losses"
  op { type: "AveragedLoss" input: "X" output: "mean" }
  op { type: "AveragedLossGradient" input: "X" input: "mean" output: "d" }
  op { type: "LabelCrossEntropy" input: "X" input: "label" output: "rows" }
  op { type: "LabelCrossEntropyGradient" input: "X" input: "label" input: "rows" output: "d" }
  op { type: "CrossEntropy" input: "X" input: "T" output: "rows" }
  op { type: "CrossEntropyGradient" input: "X" input: "T" input: "rows" output: "d" }
  op { type: "CosineSimilarity" input: "X" input: "T" output: "rows" }
  op { type: "CosineSimilarityGradient" input: "X" input: "T" input: "rows" output: "d" output: "e" }
  op { type: "DotProductWithPadding" input: "X" input: "T" output: "z" }
  op { type: "MakeTwoClass" input: "X" output: "two" }
  op { type: "MakeTwoClassGradient" input: "two" output: "d" }
  op { type: "SigmoidCrossEntropyWithLogits" input: "X" input: "T" output: "rows" }
  op { type: "WeightedSigmoidCrossEntropyWithLogitsGradient"
       input: "rows" input: "X" input: "T" input: "T" output: "d" }
  op { type: "HSoftmax" input: "X" input: "HW" input: "Hb" input: "word" output: "HY" output: "HI"
       arg { name: "hierarchy"
             s: "\022\012\010\000\022\006\010\000\020\002\030\000\022\012\010\001\022\006\010\000\020\002\030\001" } }
  op { type: "HSoftmaxGradient" input: "X" input: "HW" input: "Hb" input: "word" input: "HI" input: "HY"
       output: "d" output: "dHW" output: "dHb" output: "dHI"
       arg { name: "hierarchy"
             s: "\022\012\010\000\022\006\010\000\020\002\030\000\022\012\010\001\022\006\010\000\020\002\030\001" } }
  op { type: "HSoftmaxSearch" input: "X" input: "HW" input: "Hb" output: "Hnames" output: "Hscores"
       arg { name: "tree" s: "\n\011\020\005\020\006\030\000\042\001r" } arg { name: "beam" f: 50 } }
  op { type: "SoftmaxWithLoss" input: "X" input: "label" output: "P" output: "Z" }
  op { type: "SoftmaxWithLossGradient" input: "X" input: "label" input: "P" input: "Z" output: "d" }
  op { type: "SpatialSoftmaxWithLoss" input: "SX" input: "SL" output: "SP" output: "SZ" }
  op { type: "SpatialSoftmaxWithLossGradient" input: "SX" input: "SL" input: "SP" input: "SZ" output: "Sd" }
)";

TEST(LossOperatorsTest, AllocateNothingOnceWarm) {
  if (!AllocationCounter::kCounts) GTEST_SKIP() << "a sanitizer replaces malloc";
  Workspace ws;
  FeedRandom(&ws, "X", {4, 10}, 0, 1, 1);
  FeedRandom(&ws, "T", {4, 10}, 0, 1, 2);
  Feed<int32_t>(&ws, "label", {4}, {9, 0, 3, 3});
  FeedRandom(&ws, "HW", {2, 10});
  FeedRandom(&ws, "Hb", {2});
  Feed<int32_t>(&ws, "word", {4}, {0, 1, 0, 1});
  FeedRandom(&ws, "SX", {1, 3, 1, 2});
  Feed<int32_t>(&ws, "SL", {1, 1, 2}, {-1, 1});
  NetBase* net = ws.CreateNet(ParseNet(kNet));
  ASSERT_TRUE(net->Run());
  ASSERT_TRUE(net->Run());
  const AllocationCounter counter;
  ASSERT_TRUE(net->Run());
  EXPECT_EQ(counter.Counts().allocations, 0);
  EXPECT_EQ(counter.Counts().locks, 0);
}

}  // namespace
}  // namespace caffe2rt::test::steady_state_test
