#include "caffe2_core/runtime/net.h"
#include "tests/support/allocation_counter.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::steady_state_test {
namespace {

// One operator of each kind. X is [2, 3, 4, 4].
constexpr char kNet[] = R"(
  name: "shapes"
  op { type: "NCHW2NHWC" input: "X" output: "nhwc" }
  op { type: "NHWC2NCHW" input: "nhwc" output: "nchw" }
  op { type: "Concat" input: "X" input: "nchw" output: "joined" output: "sizes" }
  op { type: "Split" input: "joined" input: "sizes" output: "a" output: "b" }
  op { type: "Slice" input: "a" output: "part" arg { name: "starts" ints: 0 ints: 1 } arg { name: "ends" ints: -1 ints: 3 } }
  op { type: "Transpose" input: "part" output: "turned" arg { name: "axes" ints: 3 ints: 0 ints: 2 ints: 1 } }
  op { type: "Shape" input: "turned" output: "dims" }
  op { type: "Flatten" input: "turned" output: "flat" }
  op { type: "Reshape" input: "flat" input: "dims" output: "back" output: "old" }
  op { type: "Tile" input: "back" output: "tiled" arg { name: "tiles" i: 2 } arg { name: "axis" i: 1 } }
  op { type: "ExpandDims" input: "tiled" output: "wide" arg { name: "dims" ints: 0 } }
  op { type: "Squeeze" input: "wide" output: "narrow" arg { name: "dims" ints: 0 } }
  op { type: "Gather" input: "narrow" input: "I" output: "rows" }
  op { type: "FlattenToVec" input: "rows" output: "vector" }
  op { type: "Size" input: "vector" output: "size" }
  op { type: "SparseToDense" input: "P" input: "rows" input: "narrow" output: "rows_grad" }
  op { type: "TileGradient" input: "rows_grad" output: "untiled" arg { name: "tiles" i: 2 } arg { name: "axis" i: 1 } }
  op { type: "SliceGradient" input: "a" input: "part" output: "part_grad" arg { name: "starts" ints: 0 ints: 1 } arg { name: "ends" ints: -1 ints: 3 } }
  op { type: "BatchGatherGradient" input: "X" input: "P" input: "part" output: "gather_grad" }
  op { type: "ScatterWeightedSum" input: "part_grad" input: "one" input: "P" input: "a" input: "one" output: "part_grad" }
  op { type: "ScatterAssign" input: "part_grad" input: "P" input: "a" output: "part_grad" }
  op { type: "BatchDenseToSparse" input: "L" input: "C" input: "D" output: "values" }
  op { type: "BatchSparseToDense" input: "L" input: "C" input: "values" output: "dense" arg { name: "dense_last_dim" i: 2 } }
  op { type: "Partition" input: "P" input: "X" output: "k0" output: "x0" output: "k1" output: "x1" arg { name: "pack_first_input" i: 1 } }
  op { type: "LengthsPartition" input: "N" input: "P" output: "n0" output: "l0" output: "n1" output: "l1" }
  op { type: "GatherByKey" input: "P" input: "x0" input: "x1" output: "merged" }
  op { type: "RemoveDataBlocks" input: "X" input: "N" output: "rest" }
)";

TEST(ShapeOperatorsTest, AllocateNothingOnceWarm) {
  if (!test::AllocationCounter::kCounts) GTEST_SKIP() << "a sanitizer replaces malloc";
  Workspace ws;
  test::FeedRange<float>(&ws, "X", {2, 3, 4, 4});
  test::Feed<int32_t>(&ws, "I", {2}, {-1, 0});
  test::Feed<int32_t>(&ws, "P", {2}, {1, 0});
  test::Feed<float>(&ws, "one", {1}, {1});
  test::Feed<int64_t>(&ws, "L", {2}, {1, 1});
  test::Feed<int64_t>(&ws, "C", {2}, {1, 0});
  test::Feed<float>(&ws, "D", {2, 2}, {1, 2, 3, 4});
  test::Feed<int32_t>(&ws, "N", {2}, {1, 1});
  NetBase* net = ws.CreateNet(test::ParseNet(kNet));
  ASSERT_TRUE(net->Run());
  ASSERT_TRUE(net->Run());
  test::AllocationCounter counter;
  ASSERT_TRUE(net->Run());
  EXPECT_EQ(counter.Counts().allocations, 0);
  EXPECT_EQ(counter.Counts().locks, 0);
  test::ExpectTensor<float>(ws, "dense", {2, 2}, {0, 2, 3, 0});
  test::ExpectTensor<int64_t>(ws, "size", {}, {2 * 4 * 4 * 2});
}

}  // namespace
}  // namespace caffe2rt::steady_state_test
