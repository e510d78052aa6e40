#include "operators/recurrent/recurrent_network_blob_fetcher.h"

#include "tests/operators/recurrent/recurrent_nets.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::recurrent_network_blob_fetcher_test {
namespace {

TEST(RecurrentNetworkBlobFetcherTest, CopiesTheBlobsOfEachStep) {
  Workspace ws;
  FeedRange<float>(&ws, "x", {2, 1, 1}, 1);
  Feed<float>(&ws, "init", {1, 1, 1}, {1});
  RunOp(&ws, SumMulNetwork(SumMulBackward()));
  RunOp(&ws, R"(type: "RecurrentNetworkBlobFetcher" input: "steps" output: "names")");
  ExpectTensor<std::string>(ws, "names", {10},
                            {"rnn_cur0", "rnn_input_t0", "rnn_prev0", "rnn_sum0", "rnn_timestep0",
                             "rnn_cur1", "rnn_input_t1", "rnn_prev1", "rnn_sum1", "rnn_timestep1"});
  ExpectTensor<float>(ws, "rnn_sum0", {1, 1, 1}, {2});
  ExpectTensor<float>(ws, "rnn_prev1", {1, 1, 1}, {2});
  ExpectTensor<int32_t>(ws, "rnn_timestep1", {1}, {1});
  RunOp(&ws, R"(type: "RecurrentNetworkBlobFetcher" input: "steps" output: "names"
                arg { name: "prefix" s: "p" })");
  ExpectTensor<float>(ws, "p_cur1", {1, 1, 1}, {8});
}

// The steps are numbered from 0, with as many digits as they need.
TEST(RecurrentNetworkBlobFetcherTest, NumbersMoreThanTenSteps) {
  constexpr int kSteps = 12;
  Workspace ws;
  FeedRange<float>(&ws, "x", {kSteps, 1, 1}, 1);
  Feed<float>(&ws, "init", {1, 1, 1}, {0});
  RunOp(&ws, SumMulNetwork(SumMulBackward()));
  RunOp(&ws, R"(type: "RecurrentNetworkBlobFetcher" input: "steps" output: "names")");
  std::vector<std::string> want;
  for (int t = 0; t < kSteps; ++t) {
    for (const char* blob : {"cur", "input_t", "prev", "sum", "timestep"})
      want.push_back(MakeString("rnn_", blob, t));
    ExpectTensor<float>(ws, MakeString("rnn_input_t", t), {1, 1, 1}, {static_cast<float>(t + 1)});
    ExpectTensor<int32_t>(ws, MakeString("rnn_timestep", t), {1}, {t});
  }
  ExpectTensor<std::string>(ws, "names", {5 * kSteps}, want);
}

// The gradient may name its outputs itself, so the backward net alone keeps the steps.
TEST(RecurrentNetworkBlobFetcherTest, FindsTheStepsOfANetWithABackwardNet) {
  std::string backward = SumMulBackward();
  const std::string outputs = R"(arg { name: "outputs_with_grads" ints: 0 })";
  ASSERT_EQ(backward.find(outputs), 0u);
  backward.erase(0, outputs.size());
  Workspace ws;
  FeedRange<float>(&ws, "x", {3, 1, 1}, 1);
  Feed<float>(&ws, "init", {1, 1, 1}, {0});
  RunOp(&ws, SumMulNetwork(backward));
  RunOp(&ws, R"(type: "RecurrentNetworkBlobFetcher" input: "steps" output: "names")");
  EXPECT_EQ(DimsOf(ws, "names"), std::vector<int64_t>{15});
  for (int t = 0; t < 3; ++t) ExpectTensor<int32_t>(ws, MakeString("rnn_timestep", t), {1}, {t});
}

// As after a RecurrentNetwork that failed before its first step.
TEST(RecurrentNetworkBlobFetcherTest, CopiesNothingWithoutSteps) {
  Workspace ws;
  (void)ws.CreateBlob("steps")->GetMutable<ScratchWorkspaces>();
  RunOp(&ws, R"(type: "RecurrentNetworkBlobFetcher" input: "steps" output: "names")");
  ExpectTensor<std::string>(ws, "names", {0}, {});
}

TEST(RecurrentNetworkBlobFetcherTest, RejectsOtherBlobs) {
  Workspace ws;
  Feed<float>(&ws, "steps", {1}, {1});
  ExpectThrows(
      [&] { RunOp(&ws, R"(type: "RecurrentNetworkBlobFetcher" input: "steps" output: "names")"); },
      "input 0 (\"steps\") holds");
}

}  // namespace
}  // namespace caffe2rt::test::recurrent_network_blob_fetcher_test
