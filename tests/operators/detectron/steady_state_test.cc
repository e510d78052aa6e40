// Checks that warm operators make no heap allocation and take no lock.

#include "caffe2_core/runtime/net.h"
#include "tests/support/allocation_counter.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::steady_state_test {
namespace {

// One operator of each class.
constexpr char kNet[] = R"(
  name: "detectron"
  op { type: "GroupSpatialSoftmax" input: "X" output: "P" arg { name: "num_classes" i: 2 } }
  op { type: "GroupSpatialSoftmaxGradient" input: "P" input: "X" output: "dX"
       arg { name: "num_classes" i: 2 } }
  op { type: "SampleAs" input: "X" input: "T" output: "sample" }
  op { type: "SampleAsGradient" input: "X" input: "T" input: "sample" output: "dX" }
  op { type: "SelectSmoothL1Loss" input: "X" input: "Y" input: "at" input: "S" output: "loss" }
  op { type: "SelectSmoothL1LossGradient" input: "X" input: "Y" input: "at" input: "S" input: "loss"
       output: "dX" }
  op { type: "SigmoidCrossEntropyLoss" input: "S" input: "one" output: "loss" }
  op { type: "SigmoidCrossEntropyLossGradient" input: "S" input: "one" input: "loss" output: "dS" }
  op { type: "SigmoidFocalLoss" input: "X" input: "L" input: "S" output: "loss"
       arg { name: "num_classes" i: 2 } }
  op { type: "SigmoidFocalLossGradient" input: "X" input: "L" input: "S" input: "loss" output: "dX"
       arg { name: "num_classes" i: 2 } }
  op { type: "SmoothL1Loss" input: "X" input: "P" input: "X" input: "X" output: "loss" }
  op { type: "SmoothL1LossGradient" input: "X" input: "P" input: "X" input: "X" input: "loss"
       output: "dX" }
  op { type: "SoftmaxFocalLoss" input: "X" input: "L" input: "S" output: "loss" output: "P"
       arg { name: "num_classes" i: 2 } }
  op { type: "SoftmaxFocalLossGradient" input: "X" input: "L" input: "S" input: "P" input: "loss"
       output: "dX" arg { name: "num_classes" i: 2 } }
  op { type: "SpatialNarrowAs" input: "X" input: "small" output: "C" }
  op { type: "SpatialNarrowAsGradient" input: "X" input: "small" input: "C" output: "dX" }
)";

TEST(DetectronOperatorsTest, AllocateNothingOnceWarm) {
  if (!AllocationCounter::kCounts) GTEST_SKIP() << "a sanitizer replaces malloc";
  Workspace ws;
  FeedRandom(&ws, "X", {2, 4, 3, 5});
  FeedRandom(&ws, "Y", {2, 4});
  Feed<float>(&ws, "at", {2, 4}, {0, 0, 2, 4, 1, 0, 0, 0});
  Feed<float>(&ws, "S", {1}, {3});
  Feed<int32_t>(&ws, "one", {1}, {1});
  Feed<int32_t>(&ws, "T", {2}, {0, 1});
  FeedRange<int32_t>(&ws, "L", {2, 2, 3, 5}, 0, 0.02);
  FeedRandom(&ws, "small", {2, 4, 2, 2});
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
