#include "caffe2_core/runtime/net.h"
#include "tests/support/allocation_counter.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::steady_state_test {
namespace {

constexpr char kNet[] = R"(
  name: "fill"
  op { type: "ConstantFill" input: "X" output: "ones" arg { name: "value" f: 1 } }
  op { type: "ConstantFill" input: "S" output: "shaped" arg { name: "input_as_shape" i: 1 } }
  op { type: "GivenTensorFill" output: "given" arg { name: "shape" ints: 2 } arg { name: "values" floats: 1 floats: 2 } }
  op { type: "GaussianFill" output: "normal" arg { name: "shape" ints: 5 } }
  op { type: "UniformFill" input: "X" output: "uniform" }
  op { type: "Float16ConstantFill" output: "halves" arg { name: "shape" ints: 5 } arg { name: "value" f: 0.5 } }
  op { type: "Range" input: "N" output: "range" }
)";

TEST(FillOperatorsTest, AllocateNothingOnceWarm) {
  if (!test::AllocationCounter::kCounts) GTEST_SKIP() << "a sanitizer replaces malloc";
  Workspace ws;
  test::FeedRange<float>(&ws, "X", {2, 3});
  test::Feed<int64_t>(&ws, "S", {2}, {2, 2});
  test::Feed<int32_t>(&ws, "N", {}, {7});
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
