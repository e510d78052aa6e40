#include "caffe2_core/runtime/net.h"
#include "tests/support/allocation_counter.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::steady_state_test {
namespace {

// The output of each operator that a gradient needs is an input of the net (dY), so that the shapes
// of the blobs do not change.
constexpr char kNet[] = R"(
  name: "norm"
  op { type: "Softmax" input: "X" output: "P" }
  op { type: "SoftmaxGradient" input: "P" input: "dY" output: "dP" }
  op { type: "SpatialBN" input: "X" input: "s" input: "b" input: "m" input: "v"
       output: "B" output: "m" output: "v" output: "sm" output: "sv" arg { name: "is_test" i: 0 } }
  op { type: "SpatialBNGradient" input: "X" input: "s" input: "dY" input: "sm" input: "sv"
       output: "dB" output: "ds" output: "db" }
  op { type: "ChannelStats" input: "X" output: "sum" output: "sumsq" arg { name: "order" s: "NHWC" } }
  op { type: "InstanceNorm" input: "X" input: "s" input: "b" output: "I" output: "im" output: "ii" }
  op { type: "InstanceNormGradient" input: "X" input: "s" input: "b" input: "dY" input: "im"
       input: "ii" output: "dI" output: "ds" output: "db" }
  op { type: "LayerNorm" input: "X" output: "L" output: "lm" output: "ls" }
  op { type: "LayerNormGradient" input: "dY" input: "L" input: "lm" input: "ls" input: "X"
       output: "dL" }
  op { type: "LRN" input: "X" output: "R" arg { name: "size" i: 3 } }
  op { type: "LRNGradient" input: "X" input: "R" input: "dY" output: "dR" arg { name: "size" i: 3 } }
  op { type: "Normalize" input: "X" output: "N" arg { name: "axis" i: 1 } }
  op { type: "NormalizeGradient" input: "X" input: "dY" output: "dN" arg { name: "axis" i: 1 } }
  op { type: "LpNorm" input: "X" output: "norm" }
  op { type: "LpNormGradient" input: "X" input: "norm" output: "dX" }
  op { type: "SparseNormalize" input: "W" input: "K" output: "W" }
  op { type: "Float16SparseNormalize" input: "H" input: "K" output: "H" }
)";

TEST(NormOperatorsTest, AllocateNothingOnceWarm) {
  if (!test::AllocationCounter::kCounts) GTEST_SKIP() << "a sanitizer replaces malloc";
  Workspace ws;
  test::FeedRandom(&ws, "X", {2, 3, 4, 5}, 1, 2);
  test::FeedRandom(&ws, "dY", {2, 3, 4, 5}, 1, 2, 2);
  for (const char* name : {"s", "b", "m", "v"}) test::FeedRandom(&ws, name, {3}, 1, 2);
  test::FeedRandom(&ws, "W", {2, 3}, 1, 2);
  test::Feed<int64_t>(&ws, "K", {1}, {1});
  test::Feed<float16>(&ws, "H", {2, 1}, {float16(3.0f), float16(2.0f)});
  NetBase* net = ws.CreateNet(test::ParseNet(kNet));
  ASSERT_TRUE(net->Run());
  ASSERT_TRUE(net->Run());
  test::AllocationCounter counter;
  ASSERT_TRUE(net->Run());
  EXPECT_EQ(counter.Counts().allocations, 0);
  EXPECT_EQ(counter.Counts().locks, 0);
}

}  // namespace
}  // namespace caffe2rt::steady_state_test
