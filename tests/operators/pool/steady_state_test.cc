#include "caffe2_core/runtime/net.h"
#include "tests/support/allocation_counter.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::steady_state_test {
namespace {

// One operator of each kind and its gradient, whose dY is Y.
constexpr char kNet[] = R"(
  name: "pools"
  op { type: "MaxPool" input: "X" output: "m2"  arg { name: "kernel" i: 2 } arg { name: "stride" i: 2 }}
  op { type: "MaxPoolGradient" input: "X" input: "m2" input: "m2" output: "m2_grad" arg { name: "kernel" i: 2 } arg { name: "stride" i: 2 } }
  op { type: "MaxPool" input: "X" output: "m3"  arg { name: "kernel" i: 3 } arg { name: "stride" i: 2 }}
  op { type: "MaxPoolGradient" input: "X" input: "m3" input: "m3" output: "m3_grad" arg { name: "kernel" i: 3 } arg { name: "stride" i: 2 } }
  op { type: "MaxPool" input: "X" output: "last"  arg { name: "kernel" i: 3 } arg { name: "order" s: "NHWC" }}
  op { type: "MaxPoolGradient" input: "X" input: "last" input: "last" output: "last_grad" arg { name: "kernel" i: 3 } arg { name: "order" s: "NHWC" } }
  op { type: "AveragePool" input: "X" output: "a3"  arg { name: "kernel" i: 3 } arg { name: "stride" i: 2 }}
  op { type: "AveragePoolGradient" input: "X" input: "a3" input: "a3" output: "a3_grad" arg { name: "kernel" i: 3 } arg { name: "stride" i: 2 } }
  op { type: "AveragePool" input: "X" output: "global"  arg { name: "global_pooling" i: 1 }}
  op { type: "AveragePoolGradient" input: "X" input: "global" input: "global" output: "global_grad" arg { name: "global_pooling" i: 1 } }
  op { type: "LpPool" input: "X" output: "lp"  arg { name: "kernel" i: 3 } arg { name: "p" f: 3 }}
  op { type: "LpPoolGradient" input: "X" input: "lp" input: "lp" output: "lp_grad" arg { name: "kernel" i: 3 } arg { name: "p" f: 3 } }
  op { type: "MaxPoolWithIndex" input: "X" output: "i" output: "i_index" arg { name: "kernel" i: 2 } }
  op { type: "MaxPoolWithIndexGradient" input: "X" input: "i" input: "i_index" output: "i_grad" arg { name: "kernel" i: 2 } }
  op { type: "MaxPoolWithIndex" input: "H" output: "h" output: "h_index" arg { name: "kernel" i: 2 } }
  op { type: "MaxPoolWithIndexGradient" input: "H" input: "h" input: "h_index" output: "h_grad" arg { name: "kernel" i: 2 } }
)";

TEST(PoolOperatorsTest, AllocateNothingOnceWarm) {
  if (!test::AllocationCounter::kCounts) GTEST_SKIP() << "a sanitizer replaces malloc";
  Workspace ws;
  test::FeedRange<float>(&ws, "X", {2, 3, 6, 6});
  test::Feed<float16>(&ws, "H", {2, 3, 6, 6}, std::vector<float16>(216, 1.0f));
  NetBase* net = ws.CreateNet(test::ParseNet(kNet));
  ASSERT_TRUE(net->Run());
  ASSERT_TRUE(net->Run());
  test::AllocationCounter counter;
  ASSERT_TRUE(net->Run());
  EXPECT_EQ(counter.Counts().allocations, 0);
  EXPECT_EQ(counter.Counts().locks, 0);
  EXPECT_EQ(test::DimsOf(ws, "h_grad"), (std::vector<int64_t>{2, 3, 6, 6}));
}

}  // namespace
}  // namespace caffe2rt::steady_state_test
