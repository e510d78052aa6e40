// Checks that warm operators of detectors make no heap allocation and take no lock.

#include "caffe2_core/runtime/net.h"
#include "tests/support/allocation_counter.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::steady_state_test {
namespace {

// One operator of each class.
constexpr char kNet[] = R"(
  name: "detection"
  op { type: "AffineChannel" input: "X" input: "scale" input: "scale" output: "Y" }
  op { type: "AffineChannelGradient" input: "X" input: "Y" input: "scale" output: "d" output: "e" output: "f"
       arg { name: "is_learnable" i: 1 } }
  op { type: "BatchPermutation" input: "X" input: "I" output: "Y" }
  op { type: "BatchPermutationGradient" input: "I" input: "X" output: "Y" }
  op { type: "RoIAlign" input: "X" input: "R" output: "A" arg { name: "pooled_h" i: 2 } }
  op { type: "RoIAlignGradient" input: "X" input: "R" input: "A" output: "d" arg { name: "pooled_h" i: 2 } }
  op { type: "RoIAlignRotated" input: "X" input: "R" output: "A" }
  op { type: "RoIAlignRotatedGradient" input: "X" input: "R" input: "A" output: "d" }
  op { type: "RoIPool" input: "X" input: "R" output: "B" output: "C" }
  op { type: "RoIPoolGradient" input: "X" input: "R" input: "C" input: "B" output: "d" }
  op { type: "PSRoIPool" input: "X" input: "R" output: "B" output: "C" arg { name: "group_size" i: 2 } }
  op { type: "PSRoIPoolGradient" input: "X" input: "R" input: "C" input: "B" output: "d"
       arg { name: "group_size" i: 2 } }
  op { type: "BBoxTransform" input: "R" input: "D" input: "info" output: "E" output: "n" }
  op { type: "GenerateProposals" input: "S" input: "M" input: "info" input: "anchors" output: "P" output: "Q"
       arg { name: "min_size" f: 0 } }
  op { type: "BoxWithNMSLimit" input: "K" input: "D" output: "s" output: "b" output: "c" }
  op { type: "BoxWithNMSLimit" input: "K" input: "D" output: "s" output: "b" output: "c"
       arg { name: "soft_nms_enabled" i: 1 } arg { name: "detections_per_im" i: 1 } }
  op { type: "CollectAndDistributeFpnRpnProposals" input: "R" input: "p" output: "Z" output: "Z1" output: "i"
       arg { name: "rpn_min_level" i: 1 } arg { name: "rpn_max_level" i: 1 }
       arg { name: "roi_min_level" i: 1 } arg { name: "roi_max_level" i: 1 } }
  op { type: "RMACRegions" input: "X" output: "regions" }
)";

TEST(DetectionOperatorsTest, AllocateNothingOnceWarm) {
  if (!AllocationCounter::kCounts) GTEST_SKIP() << "a sanitizer replaces malloc";
  Workspace ws;
  FeedRandom(&ws, "X", {2, 4, 5, 6});
  FeedRandom(&ws, "scale", {4});
  Feed<int32_t>(&ws, "I", {2}, {1, 0});
  Feed<float>(&ws, "R", {3, 5}, {0, 1, 1, 3, 4, 1, 0, 0, 2, 2, 1, 2, 2, 4, 4});
  FeedRandom(&ws, "D", {3, 8}, 0, 20);
  Feed<float>(&ws, "info", {2, 3}, {90, 90, 1, 90, 90, 1});
  FeedRandom(&ws, "S", {2, 1, 2, 3}, 0, 1);
  FeedRandom(&ws, "M", {2, 4, 2, 3});
  Feed<float>(&ws, "anchors", {1, 4}, {0, 0, 20, 20});
  FeedRandom(&ws, "K", {3, 2}, 0.1f, 1);
  FeedRandom(&ws, "p", {3}, 0, 1);
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
