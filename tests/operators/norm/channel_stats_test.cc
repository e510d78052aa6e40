#include "tests/support/gradient_test.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::channel_stats_test {
namespace {

using test::ExpectShapeInferred;
using test::ExpectTensor;
using test::ExpectThrows;
using test::Feed;
using test::FeedRandom;
using test::FeedRange;
using test::Fetch;
using test::RunOp;

std::string Stats(const std::string& order = "NCHW") {
  return R"(type: "ChannelStats" input: "X" output: "sum" output: "sumsq"
            arg { name: "order" s: ")" +
         order + "\" }";
}

TEST(ChannelStatsTest, SumsEachChannel) {
  Workspace ws;
  Feed<float>(&ws, "X", {2, 2, 2}, {1, 3, 0, 0, 5, 7, 0, 4});
  ExpectShapeInferred(&ws, Stats());
  ExpectTensor<float>(ws, "sum", {2}, {16, 4});
  ExpectTensor<float>(ws, "sumsq", {2}, {84, 16});
  ExpectShapeInferred(&ws, Stats("NHWC"));
  ExpectTensor<float>(ws, "sum", {2}, {6, 14});
  ExpectTensor<float>(ws, "sumsq", {2}, {26, 74});
  Feed<float>(&ws, "X", {2, 2}, {1, 2, 3, 4});
  RunOp(&ws, Stats());
  ExpectTensor<float>(ws, "sum", {2}, {4, 6});
}

// Without elements, even very many rows take no time.
TEST(ChannelStatsTest, AcceptsManyRowsWithoutChannels) {
  Workspace ws;
  Feed<float>(&ws, "X", {int64_t{1} << 60, 0}, {});
  RunOp(&ws, Stats());
  ExpectTensor<float>(ws, "sum", {0}, {});
  ExpectTensor<float>(ws, "sumsq", {0}, {});
}

// More than one block of rows, and channels that are not a multiple of the vector size.
TEST(ChannelStatsTest, BothOrdersAgree) {
  constexpr int kN = 3, kC = 19, kP = 35;
  Workspace nchw, nhwc;
  FeedRandom(&nchw, "X", {kN, kC, 5, 7}, -3, 5);
  const std::vector<float> x = Fetch<float>(nchw, "X");
  std::vector<float> moved(x.size());
  std::vector<float> sum(kC), squares(kC);
  for (int n = 0; n < kN; ++n) {
    for (int c = 0; c < kC; ++c) {
      for (int p = 0; p < kP; ++p) {
        const float value = x[(n * kC + c) * kP + p];
        moved[(n * kP + p) * kC + c] = value;
        sum[c] += value;
        squares[c] += value * value;
      }
    }
  }
  Feed<float>(&nhwc, "X", {kN, 5, 7, kC}, moved);
  RunOp(&nchw, Stats());
  RunOp(&nhwc, Stats("NHWC"));
  for (const Workspace* ws : {&nchw, &nhwc}) {
    ExpectTensor<float>(*ws, "sum", {kC}, sum, 1e-5);
    ExpectTensor<float>(*ws, "sumsq", {kC}, squares, 1e-5);
  }
}

TEST(ChannelStatsTest, EmptyBatchesSumToZero) {
  Workspace ws;
  Feed<float>(&ws, "X", {0, 2, 3}, {});
  RunOp(&ws, Stats());
  ExpectTensor<float>(ws, "sum", {2}, {0, 0});
  ExpectTensor<float>(ws, "sumsq", {2}, {0, 0});
}

TEST(ChannelStatsTest, HasNoGradientAndNamesWhatDoesNotFit) {
  Workspace ws;
  FeedRange<float>(&ws, "X", {2});
  ExpectThrows([&] { RunOp(&ws, Stats()); }, "rank of input 0 (X) of shape [2]");
  FeedRange<double>(&ws, "X", {2, 2});
  ExpectThrows([&] { RunOp(&ws, Stats()); }, "double");
  ExpectThrows([] { test::DescribeGradient(Stats()); }, "ChannelStats");
}

}  // namespace
}  // namespace caffe2rt::channel_stats_test
