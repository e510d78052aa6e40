#include "caffe2_core/runtime/net.h"
#include "tests/support/allocation_counter.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::steady_state_test {
namespace {

// One operator of each kind and its gradient, whose dY is Y.
constexpr char kNet[] = R"(
  name: "images"
  op { type: "PadImage" input: "X" output: "padded" arg { name: "pad" i: 2 } arg { name: "mode" s: "reflect" } }
  op { type: "PadImageGradient" input: "padded" output: "padded_grad" arg { name: "pad" i: 2 } arg { name: "mode" s: "reflect" } }
  op { type: "ChannelShuffle" input: "X" output: "shuffled" arg { name: "group" i: 2 } }
  op { type: "ChannelShuffleGradient" input: "shuffled" output: "shuffled_grad" arg { name: "group" i: 2 } }
  op { type: "ResizeNearest" input: "X" input: "scales" output: "resized" }
  op { type: "ResizeNearestGradient" input: "resized" input: "X" input: "scales" output: "resized_grad" }
  op { type: "UpsampleBilinear" input: "X" input: "scales" output: "smooth" }
  op { type: "UpsampleBilinearGradient" input: "smooth" input: "X" input: "scales" output: "smooth_grad" }
  op { type: "UpsampleNearest" input: "X" output: "large" }
  op { type: "UpsampleNearestGradient" input: "X" input: "large" output: "large_grad" }
  op { type: "SpaceToBatch" input: "X" output: "narrow" }
  op { type: "BatchToSpace" input: "narrow" output: "wide" }
  op { type: "NormalizePlanarYUV" input: "X" input: "means" input: "means" output: "normal" }
)";

TEST(ImageOperatorsTest, AllocateNothingOnceWarm) {
  if (!test::AllocationCounter::kCounts) GTEST_SKIP() << "a sanitizer replaces malloc";
  Workspace ws;
  test::FeedRange<float>(&ws, "X", {2, 4, 6, 6});
  test::Feed<float>(&ws, "scales", {2}, {1.5f, 2});
  test::Feed<float>(&ws, "means", {1, 4}, {1, 2, 3, 4});
  NetBase* net = ws.CreateNet(test::ParseNet(kNet));
  ASSERT_TRUE(net->Run());
  ASSERT_TRUE(net->Run());
  test::AllocationCounter counter;
  ASSERT_TRUE(net->Run());
  EXPECT_EQ(counter.Counts().allocations, 0);
  EXPECT_EQ(counter.Counts().locks, 0);
  EXPECT_EQ(test::Fetch<float>(ws, "wide"), test::Fetch<float>(ws, "X"));
}

}  // namespace
}  // namespace caffe2rt::steady_state_test
