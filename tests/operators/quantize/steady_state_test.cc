#include "caffe2_core/runtime/net.h"
#include "tests/support/allocation_counter.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::steady_state_test {
namespace {

// One operator of each class.
constexpr char kNet[] = R"(
  name: "quantize"
  op { type: "FloatToFused8BitRowwiseQuantized" input: "X" output: "x8" }
  op { type: "Fused8BitRowwiseQuantizedToFloat" input: "x8" output: "y8" }
  op { type: "FloatToFused4BitRowwiseQuantized" input: "X" output: "x4" }
  op { type: "FloatToFused2BitRowwiseQuantized" input: "X" output: "x2" engine: "GREEDY" }
  op { type: "FloatToFused4BitFakeRowwiseQuantized" input: "X" output: "fake" }
  op { type: "Fused4BitRowwiseQuantizedToHalf" input: "x4" output: "y4" }
  op { type: "HalfToFused2BitRowwiseQuantized" input: "y4" output: "h2" }
  op { type: "Fused2BitRowwiseQuantizedToFloat" input: "x2" output: "y2" }
  op { type: "FloatToFusedRandRowwiseQuantized" input: "X" output: "random" arg { name: "bitwidth" i: 4 } }
  op { type: "FusedRandRowwiseQuantizedToFloat" input: "random" output: "y" }
  op { type: "SparseLengthsSumFused8BitRowwise" input: "x8" input: "I" input: "L" output: "s8" }
  op { type: "SparseLengthsMeanFused4BitRowwise" input: "x4" input: "I" input: "L" output: "s4" }
  op { type: "SparseLengthsWeightedSumFused2BitRowwise" input: "x2" input: "W" input: "I" input: "L" output: "s2" }
  op { type: "SparseLengthsSum4BitRowwiseSparse" input: "x4" input: "I" input: "L" input: "M" output: "m4" }
  op { type: "SparseLengthsWeightedSum8BitRowwiseSparse" input: "x8" input: "W" input: "I" input: "L" input: "M"
       output: "m8" }
  op { type: "SparseLengthsSumSparseLookup" input: "I" input: "L" input: "M" input: "W"
       output: "rows" output: "lengths" output: "weights" }
  op { type: "QuantDecode" input: "B" input: "C" output: "decoded" }
  op { type: "QuantDecodeGradient" input: "B" input: "C" input: "decoded" output: "B_grad" }
)";

TEST(QuantizeOperatorsTest, AllocateNothingOnceWarm) {
  if (!AllocationCounter::kCounts) GTEST_SKIP() << "a sanitizer replaces malloc";
  Workspace ws;
  FeedRandom(&ws, "X", {2, 8});
  Feed<int64_t>(&ws, "I", {3}, {1, 0, 1});
  Feed<int32_t>(&ws, "L", {2}, {2, 1});
  Feed<int32_t>(&ws, "M", {2}, {-1, 1});
  Feed<float>(&ws, "W", {3}, {1, 2, 3});
  Feed<float>(&ws, "B", {3}, {5, 6, 7});
  Feed<uint8_t>(&ws, "C", {4}, {2, 0, 1, 2});
  NetBase* net = ws.CreateNet(ParseNet(kNet));
  ASSERT_TRUE(net->Run());
  ASSERT_TRUE(net->Run());
  AllocationCounter counter;
  ASSERT_TRUE(net->Run());
  EXPECT_EQ(counter.Counts().allocations, 0);
  EXPECT_EQ(counter.Counts().locks, 0);
  ExpectTensor<float>(ws, "weights", {2}, {1, 3});
  ExpectTensor<float>(ws, "B_grad", {3}, {5, 6, 14});
}

}  // namespace
}  // namespace caffe2rt::test::steady_state_test
