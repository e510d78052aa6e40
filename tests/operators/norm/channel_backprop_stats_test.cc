#include "tests/support/gradient_test.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::channel_backprop_stats_test {
namespace {

using test::ExpectShapeInferred;
using test::ExpectTensor;
using test::ExpectThrows;
using test::Feed;
using test::FeedRange;
using test::RunOp;

constexpr char kStats[] = R"(type: "ChannelBackpropStats" input: "X" input: "m" input: "i"
                             input: "dY" output: "ds" output: "db")";

TEST(ChannelBackpropStatsTest, SumsTheGradientsOfScaleAndBias) {
  Workspace ws;
  // The normal values are -1.5 -0.5 0.5 1.5 and -0.5 -0.5 -0.5 1.5.
  Feed<float>(&ws, "X", {2, 2, 2}, {1, 3, 0, 0, 5, 7, 0, 4});
  Feed<float>(&ws, "m", {2}, {4, 1});
  Feed<float>(&ws, "i", {2}, {0.5f, 0.5f});
  Feed<float>(&ws, "dY", {2, 2, 2}, {1, 0, 0, 0, 0, 2, 0, 4});
  ExpectShapeInferred(&ws, kStats);
  ExpectTensor<float>(ws, "ds", {2}, {1.5f, 6}, 1e-6);
  ExpectTensor<float>(ws, "db", {2}, {3, 4}, 1e-6);
  Feed<float>(&ws, "X", {0, 2, 2}, {});
  Feed<float>(&ws, "dY", {0, 2, 2}, {});
  RunOp(&ws, kStats);
  ExpectTensor<float>(ws, "ds", {2}, {0, 0});
}

TEST(ChannelBackpropStatsTest, HasNoGradientAndNamesWhatDoesNotFit) {
  Workspace ws;
  FeedRange<float>(&ws, "X", {2, 2});
  FeedRange<float>(&ws, "dY", {2, 2});
  FeedRange<float>(&ws, "m", {2});
  FeedRange<float>(&ws, "i", {3});
  ExpectThrows([&] { RunOp(&ws, kStats); }, "rank of input 0 (X) of shape [2, 2]");
  FeedRange<float>(&ws, "X", {2, 2, 1});
  ExpectThrows([&] { RunOp(&ws, kStats); }, "elements of input 2 (inv_std) of shape [3]");
  FeedRange<float>(&ws, "dY", {2, 2, 2});
  ExpectThrows([&] { RunOp(&ws, kStats); }, "elements of input 3 (output_grad)");
  ExpectThrows([] { test::DescribeGradient(kStats); }, "ChannelBackpropStats");
}

}  // namespace
}  // namespace caffe2rt::channel_backprop_stats_test
