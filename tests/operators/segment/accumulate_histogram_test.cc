#include <limits>
#include <string>

#include "caffe2_core/runtime/net.h"
#include "tests/support/gradient_test.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::accumulate_histogram_test {
namespace {

std::string Op(float lower, float upper, int buckets) {
  return MakeString(R"(type: "AccumulateHistogram" input: "X" output: "C" output: "A"
                       arg { name: "lower_bound" f: )",
                    lower, R"( } arg { name: "upper_bound" f: )", upper,
                    R"( } arg { name: "num_buckets" i: )", buckets, " }");
}

TEST(AccumulateHistogramTest, CountsElementsInEqualIntervals) {
  Workspace ws;
  Feed<float>(&ws, "X", {2, 4}, {-2, -1, -0.75, -0.5, 0.25, 0.5, 1, 7});
  RunOp(&ws, Op(-1, 1, 4));
  ExpectTensor<int64_t>(ws, "C", {6}, {1, 2, 1, 1, 1, 2});
  ExpectShapeInferred(&ws, Op(-1, 1, 4));
  Feed<float>(&ws, "X", {}, {0.5});
  RunOp(&ws, R"(type: "AccumulateHistogram" input: "X" output: "C" output: "A")");
  ExpectTensor<int64_t>(ws, "C", {3}, {0, 1, 0});
  Feed<float>(&ws, "X", {0}, {});
  RunOp(&ws, Op(0, 1, 1));
  ExpectTensor<int64_t>(ws, "C", {3}, {0, 0, 0});
}

TEST(AccumulateHistogramTest, AddsUpTheCountsOfItsRuns) {
  Workspace ws;
  Feed<float>(&ws, "X", {2}, {0, 5});
  NetBase* const net = ws.CreateNet(ParseNet("name: \"n\" op { " + Op(0, 2, 2) + " }"));
  ASSERT_TRUE(net->Run());
  Feed<float>(&ws, "X", {2}, {1, 5});
  ASSERT_TRUE(net->Run());
  ExpectTensor<int64_t>(ws, "C", {4}, {0, 0, 1, 1});
  ExpectTensor<int64_t>(ws, "A", {4}, {0, 1, 1, 2});
}

TEST(AccumulateHistogramTest, AcceptsBoundsInAnyOrderAndSpecialValues) {
  constexpr float kInf = std::numeric_limits<float>::infinity();
  constexpr float kLargest = std::numeric_limits<float>::max();
  Workspace ws;
  Feed<float>(&ws, "X", {5}, {std::numeric_limits<float>::quiet_NaN(), kInf, -kInf, 0, 0.999999f});
  RunOp(&ws, Op(0, 1, 2));
  ExpectTensor<int64_t>(ws, "C", {4}, {1, 1, 1, 1});
  RunOp(&ws, Op(1, -1, 2));
  ExpectTensor<int64_t>(ws, "C", {4}, {3, 0, 0, 1});
  RunOp(&ws, Op(0, 0, 2));
  ExpectTensor<int64_t>(ws, "C", {4}, {1, 0, 0, 3});
  RunOp(&ws, Op(-kLargest, kLargest, 1));
  const std::vector<int64_t> counts = Fetch<int64_t>(ws, "C");
  EXPECT_EQ(counts[0], 1);
  EXPECT_EQ(counts[2], 1);
}

TEST(AccumulateHistogramTest, RejectsWhatItCannotCount) {
  Workspace ws;
  FeedRange<double>(&ws, "X", {2});
  ExpectThrows([&] { RunOp(&ws, Op(0, 1, 1)); }, "double");
  ExpectThrows([&] { RunOp(&ws, Op(0, 1, 0)); }, "argument \"num_buckets\" is 0, want from 1");
  ExpectThrows([] { DescribeGradient(Op(0, 1, 1)); }, "AccumulateHistogram");
}

}  // namespace
}  // namespace caffe2rt::test::accumulate_histogram_test
