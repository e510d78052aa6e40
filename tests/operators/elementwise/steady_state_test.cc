// Checks that warm elementwise operators make no heap allocation and take no lock.

#include "caffe2_core/runtime/net.h"
#include "tests/support/allocation_counter.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::steady_state_test {
namespace {

using test::AllocationCounter;
using test::FeedRange;

class SteadyStateTest : public testing::TestWithParam<const char*> {};

TEST_P(SteadyStateTest, AllocatesAndLocksNothing) {
  Workspace ws;
  FeedRange<float>(&ws, "X", {2, 3, 4, 5}, 0.25, 0.5);
  FeedRange<float>(&ws, "X2", {2, 3, 4, 5}, 1, 0.5);
  FeedRange<float>(&ws, "row", {1, 3, 1, 5}, 1);
  FeedRange<float>(&ws, "C", {3}, 1);
  FeedRange<float>(&ws, "W", {60}, 1);
  FeedRange<float>(&ws, "one", {1}, 1);
  FeedRange<float>(&ws, "two", {2}, 1);
  FeedRange<bool>(&ws, "rows", {2});
  NetBase* net =
      ws.CreateNet(test::ParseNet(std::string(R"(name: "n" op { )") + GetParam() + " }"));
  ASSERT_TRUE(net->Run());
  ASSERT_TRUE(net->Run());
  const AllocationCounter counter;
  ASSERT_TRUE(net->Run());
  const test::AllocationCounts counts = counter.Counts();
  EXPECT_EQ(counts.allocations, 0);
  EXPECT_EQ(counts.locks, 0);
}

INSTANTIATE_TEST_SUITE_P(
    All, SteadyStateTest,
    testing::Values(
        R"(type: "Relu" input: "X" output: "Y")", R"(type: "Sigmoid" input: "X" output: "Y")",
        R"(type: "Relu" input: "X" output: "X")",
        R"(type: "Add" input: "X" input: "X2" output: "Y")",
        R"(type: "Add" input: "X" input: "row" output: "Y")",
        R"(type: "Mul" input: "X" input: "C" output: "Y" arg { name: "broadcast" i: 1 } arg { name: "axis" i: 1 })",
        R"(type: "LT" input: "X" input: "row" output: "Y")",
        R"(type: "Sum" input: "X" input: "X2" input: "X" output: "Y")",
        R"(type: "SumRelu" input: "X" input: "X2" input: "X" output: "Y")",
        R"(type: "Mean" input: "X" input: "X2" output: "Y")",
        R"(type: "Pow" input: "X" output: "Y" arg { name: "exponent" f: 2.5 })",
        R"(type: "Pow" input: "X" input: "C" output: "Y" arg { name: "broadcast" i: 1 } arg { name: "axis" i: 1 })",
        R"(type: "PRelu" input: "X" input: "C" output: "Y")",
        R"(type: "Cast" input: "X" output: "Y" arg { name: "to" i: 2 })",
        R"(type: "Copy" input: "X" output: "Y")", R"(type: "Alias" input: "X" output: "Y")",
        R"(type: "AliasWithName" input: "X" output: "Y" arg { name: "name" s: "part" })",
        R"(type: "NanCheck" input: "X" output: "Y")",
        R"(type: "Where" input: "rows" input: "X" input: "X2" output: "Y" arg { name: "broadcast_on_rows" i: 1 })",
        R"(type: "Conditional" input: "rows" input: "X" input: "X2" output: "Y")",
        R"(type: "Dropout" input: "X" output: "Y" arg { name: "is_test" i: 1 })",
        R"(type: "Dropout" input: "X" output: "Y" output: "M" arg { name: "is_test" i: 0 })",
        R"(type: "DropoutGrad" input: "X" output: "Y" arg { name: "is_test" i: 1 })",
        R"(type: "ReluGradient" input: "X" input: "X2" output: "Y")",
        R"(type: "SwishGradient" input: "X" input: "X2" input: "X2" output: "Y")",
        R"(type: "AddGradient" input: "X" input: "X2" input: "row" output: "Y" output: "Z")",
        R"(type: "DivGradient" input: "X" input: "X2" input: "C" input: "X" output: "Y" output: "Z" arg { name: "broadcast" i: 1 } arg { name: "axis" i: 1 })",
        R"(type: "ElementwiseLinear" input: "X" input: "W" input: "W" output: "Y")",
        R"(type: "ElementwiseLinearGradient" input: "X" input: "X" input: "W" output: "Y" output: "Z" output: "V")",
        R"(type: "FloatToHalf" input: "X" output: "Y")",
        R"(type: "WeightedSum" input: "X" input: "one" input: "X2" input: "one" output: "Y")",
        R"(type: "SquareRootDivide" input: "X" input: "two" output: "Y")",
        R"(type: "BatchBoxCox" input: "X" input: "W" input: "W" output: "Y")",
        R"(type: "Accumulate" input: "X" output: "Y")",
        R"(type: "ScaleBlobs" input: "X" input: "W" output: "Y" output: "Z" arg { name: "scale" f: 2 })",
        R"(type: "MeanGradient" input: "X" output: "Y" output: "Z")",
        R"(type: "MaxGradient" input: "X" input: "X2" input: "X2" output: "Y")",
        R"(type: "PReluGradient" input: "X" input: "X" input: "X2" input: "C" output: "Y" output: "Z")"));

}  // namespace
}  // namespace caffe2rt::steady_state_test
