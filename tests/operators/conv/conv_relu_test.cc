#include <limits>

#include "caffe2_core/runtime/net.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "tests/operators/common/call_tables.h"
#include "tests/support/allocation_counter.h"
#include "tests/support/gradient_test.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::conv_relu_test {
namespace {

TEST(ConvReluTest, IsNeverBelowZero) {
  ExpectResults({
      {"ConvRelu X w -> Y kernels=2,", "X f 1,1,4 = 1,2,-3,-4; w f 1,1,2 = 1,10",
       "Y f 1,1,3 = 21,0,0"},
      {"ConvRelu X w b -> Y kernel=1", "X f 1,1,2,2 = 1,-2,3,-4; w f 2,1,1,1 = 1,-1; b f 2 = 1,-1",
       "Y f 1,2,2,2 = 2,0,4,0,0,1,0,3"},
      {"ConvRelu X w -> Y kernel=1 group=2 order=NHWC",
       "X f 1,1,2,2 = 1,-2,3,-4; w f 2,1,1,1 = 1,-1", "Y f 1,1,2,2 = 1,2,3,4"},
      {"ConvRelu X w -> Y kernel=1", "X f 0,1,2,2; w f 3,1,1,1", "Y f 0,3,2,2"},
  });
  ExpectInferred(
      {{"ConvRelu X w -> Y kernel=2", "X f 3,2,4,5; w f 6,2,2,2", "float [3, 6, 3, 4]"}});
}

// As in Caffe2, whose Relu keeps NaN.
TEST(ConvReluTest, ReplacesNaN) {
  Workspace ws;
  Feed<float>(&ws, "X", {1, 1, 4},
              {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(),
               -std::numeric_limits<float>::infinity(), 2});
  Feed<float>(&ws, "W", {1, 1, 1}, {1});
  RunOp(&ws,
        R"(type: "ConvRelu" input: "X" input: "W" output: "Y" arg { name: "kernels" ints: 1 })");
  ExpectTensor<float>(ws, "Y", {1, 1, 4}, {0, std::numeric_limits<float>::infinity(), 0, 2});
}

TEST(ConvReluTest, HasNoGradient) {
  ExpectThrows([] { DescribeGradient(R"(type: "ConvRelu" input: "X" input: "W" output: "Y")"); },
               "ConvRelu");
}

TEST(ConvReluTest, AllocatesNothingOnceWarm) {
  if (!AllocationCounter::kCounts) GTEST_SKIP() << "a sanitizer replaces malloc";
  Workspace ws;
  FeedRandom(&ws, "X", {2, 3, 5, 4});
  FeedRandom(&ws, "W", {6, 3, 3, 3});
  NetBase* const net = ws.CreateNet(ParseNet(R"(
      name: "n"
      op { type: "ConvRelu" input: "X" input: "W" output: "Y" arg { name: "kernel" i: 3 } })"));
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(net->Run());
  const AllocationCounter counter;
  ASSERT_TRUE(net->Run());
  EXPECT_EQ(counter.Counts().allocations, 0);
  EXPECT_EQ(counter.Counts().locks, 0);
}

TEST(ConvReluTest, CountsTheComparisons) {
  EnsureBuiltinOperators();
  const OperatorDef def =
      ParseOp(R"(type: "ConvRelu" input: "X" input: "W" output: "Y" arg { name: "kernel" i: 3 })");
  std::vector<TensorShape> in;
  in.push_back(CreateTensorShape(std::vector<int64_t>{1, 2, 4, 4}, TensorProto::FLOAT));
  in.push_back(CreateTensorShape(std::vector<int64_t>{3, 2, 3, 3}, TensorProto::FLOAT));
  // Y has 12 elements, each of 2 * 9 products.
  EXPECT_EQ(OpSchemaRegistry::Schema("ConvRelu")->InferCost(def, in).flops, 12 * (2 * 18 + 1));
}

TEST(ConvReluTest, RejectsWhatConvRejects) {
  ExpectRejected({
      {"ConvRelu X w -> Y kernel=3", "X f 1,2,4,5; w f 2,2,3",
       "rank of input 1 (filter) of shape [2, 2, 3], want that of input 0 (X) (got 3, want 4)"},
      {"ConvRelu X w b -> Y kernel=3", "X f 1,2,4,5; w f 2,2,3,3; b f 3",
       "input 2 (bias) has shape [3], want [2]: one entry for each output channel"},
      {"ConvRelu X w -> Y kernel=3", "X d 1,2,4,5; w f 2,2,3,3",
       "the tensor holds elements of type double, want float"},
  });
}

}  // namespace
}  // namespace caffe2rt::test::conv_relu_test
