#include "caffe2_core/runtime/net.h"
#include "tests/support/allocation_counter.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::steady_state_test {
namespace {

constexpr char kNet[] = R"(
  name: "train"
  op { type: "Iter" input: "N" output: "N" }
  op { type: "LearningRate" input: "N" output: "L" arg { name: "base_lr" f: -0.1 } arg { name: "policy" s: "inv" }
       arg { name: "gamma" f: 0.1 } arg { name: "power" f: 0.75 } }
  op { type: "MomentumSGDUpdate" input: "G" input: "M" input: "L" input: "P" output: "G" output: "M" output: "P" }
  op { type: "Adagrad" input: "P" input: "S" input: "G" input: "L" output: "P" output: "S" output: "E" }
  op { type: "Adam" input: "P" input: "M" input: "S" input: "G" input: "L" input: "N" output: "P" output: "M" output: "S" }
  op { type: "SparseAdam" input: "P" input: "M" input: "S" input: "I" input: "R" input: "L" input: "N" output: "P"
       output: "M" output: "S" output: "Q" }
  op { type: "RowWiseSparseAdagrad" input: "P" input: "W" input: "I" input: "R" input: "L" output: "P" output: "W" }
  op { type: "RmsProp" input: "G" input: "S" input: "M" input: "L" output: "G" output: "S" output: "M" }
  op { type: "GFtrl" input: "P" input: "Z" input: "G" output: "P" output: "Z" }
  op { type: "SparseLpRegularizer" input: "P" input: "I" output: "P" }
  op { type: "Lars" input: "P" input: "G" input: "one" input: "one" input: "one" output: "rate" }
)";

TEST(OptimizersTest, AllocateNothingOnceWarm) {
  if (!AllocationCounter::kCounts) GTEST_SKIP() << "a sanitizer replaces malloc";
  Workspace ws;
  Feed<int64_t>(&ws, "N", {1}, {0});
  for (const char* name : {"G", "M", "P", "S"}) FeedRandom(&ws, name, {4, 3}, 0, 1);
  FeedRandom(&ws, "R", {2, 3});
  FeedRandom(&ws, "W", {4}, 0, 1);
  FeedRandom(&ws, "Z", {4, 3, 2}, 0, 1);
  Feed<float>(&ws, "one", {1}, {1});
  Feed<int64_t>(&ws, "I", {2}, {3, 0});
  NetBase* net = ws.CreateNet(ParseNet(kNet));
  ASSERT_TRUE(net->Run());
  ASSERT_TRUE(net->Run());
  AllocationCounter counter;
  ASSERT_TRUE(net->Run());
  EXPECT_EQ(counter.Counts().allocations, 0);
  EXPECT_EQ(counter.Counts().locks, 0);
  ExpectTensor<int64_t>(ws, "N", {1}, {3});
}

}  // namespace
}  // namespace caffe2rt::test::steady_state_test
