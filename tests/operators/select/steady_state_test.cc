#include "caffe2_core/runtime/net.h"
#include "tests/support/allocation_counter.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::steady_state_test {
namespace {

constexpr char kNet[] = R"(
  name: "select"
  op { type: "TopK" input: "X" output: "values" output: "indices" output: "flat" arg { name: "k" i: 2 } }
  op { type: "TopKGradient" input: "values" input: "indices" input: "X" output: "top_grad" }
  op { type: "ArgMax" input: "X" output: "best" arg { name: "axis" i: 0 } }
  op { type: "ArgMin" input: "X" output: "worst" }
  op { type: "Accuracy" input: "X" input: "L" output: "accuracy" }
  op { type: "OneHot" input: "I" input: "S" output: "hot" }
  op { type: "Summarize" input: "X" output: "summary" }
  op { type: "IsEmpty" input: "X" output: "empty" }
  op { type: "HasElements" input: "X" output: "some" }
  op { type: "Find" input: "S" input: "I" output: "found" }
  op { type: "IsMemberOf" input: "I" output: "member" arg { name: "value" ints: 4 ints: 1 } }
  op { type: "StringJoin" input: "X" output: "texts" }
  op { type: "StumpFuncIndex" input: "X" output: "low" output: "high" }
  op { type: "SelfBinningHistogram" input: "X" output: "edges" output: "counts" arg { name: "num_bins" i: 3 } }
  op { type: "FlexibleTopK" input: "X" input: "K" output: "flexible" output: "places" }
  op { type: "FlexibleTopKGradient" input: "X" input: "K" input: "flexible" input: "places" output: "flexible_grad" }
  op { type: "APMeter" input: "X" input: "B" output: "precision" arg { name: "buffer_size" i: 3 } }
  op { type: "WeightedMultiSampling" input: "C" output: "samples" arg { name: "num_samples" i: 4 } }
  op { type: "NGramFromCategorical" input: "X" output: "grams" arg { name: "col_ids" ints: 2 ints: 0 }
       arg { name: "categorical_limits" ints: 2 ints: 1 } arg { name: "vals" ints: 4 ints: 5 ints: 3 } }
)";

TEST(SelectOperatorsTest, AllocateNothingOnceWarm) {
  if (!test::AllocationCounter::kCounts) GTEST_SKIP() << "a sanitizer replaces malloc";
  Workspace ws;
  test::FeedRange<float>(&ws, "X", {2, 3});
  test::Feed<int32_t>(&ws, "L", {2}, {2, 0});
  test::Feed<int64_t>(&ws, "I", {1}, {1});
  test::Feed<int64_t>(&ws, "S", {1}, {3});
  test::Feed<int64_t>(&ws, "K", {2}, {1, 3});
  test::Feed<int32_t>(&ws, "B", {2, 3}, {1, 0, 0, 0, 1, 1});
  test::Feed<float>(&ws, "C", {3}, {1, 2, 4});
  NetBase* net = ws.CreateNet(test::ParseNet(kNet));
  ASSERT_TRUE(net->Run());
  ASSERT_TRUE(net->Run());
  test::AllocationCounter counter;
  ASSERT_TRUE(net->Run());
  EXPECT_EQ(counter.Counts().allocations, 0);
  EXPECT_EQ(counter.Counts().locks, 0);
  test::ExpectTensor<std::string>(ws, "texts", {2}, {"0,1,2,", "3,4,5,"});
  test::ExpectTensor<float>(ws, "flexible_grad", {2, 3}, {0, 0, 2, 3, 4, 5});
  test::ExpectTensor<int64_t>(ws, "grams", {2}, {0, 1});
  test::ExpectTensor<float>(ws, "accuracy", {}, {0.5});
}

}  // namespace
}  // namespace caffe2rt::steady_state_test
