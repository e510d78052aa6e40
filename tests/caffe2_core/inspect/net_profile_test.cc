#include "caffe2_core/inspect/net_profile.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "caffe2_core/inspect/profile_drawing.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::net_profile_test {
namespace {

using namespace test;  // used throughout this file
using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kNet[] = R"(
    name: "small" external_input: "x" external_input: "w" external_output: "s"
    op { type: "Conv" name: "first" input: "x" input: "w" output: "y" arg { name: "kernel" i: 3 } }
    op { type: "Relu" input: "y" output: "z" }
    op { type: "Shape" input: "z" output: "s" })";

NetProfile ProfileSmallNet(Workspace* ws, int* runs) {
  FeedRandom(ws, "x", {1, 2, 5, 5});
  FeedRandom(ws, "w", {4, 2, 3, 3});
  NetBase* const net = ws->CreateNet(ParseNet(kNet));
  const auto run = [net, runs] {
    ++*runs;
    return net->Run();
  };
  return ProfileNet(net, run, {.warmup_runs = 2, .timed_runs = 3});
}

TEST(NetProfileTest, TimesTheNetAndItsOperatorsInSeparateRuns) {
  Workspace ws;
  int runs = 0;
  const NetProfile profile = ProfileSmallNet(&ws, &runs);
  EXPECT_EQ(runs, 1 + 2 + 3 + 3);
  EXPECT_EQ(profile.net, "small");
  EXPECT_GT(profile.cold_ms, 0);
  EXPECT_GT(profile.warm.median_ms, 0);
  EXPECT_LE(profile.warm.least_ms, profile.warm.median_ms);
  ASSERT_EQ(profile.operators.size(), 3u);
  EXPECT_EQ(profile.operators[0].type, "Conv");
  EXPECT_EQ(profile.operators[0].name, "first");
  EXPECT_EQ(profile.operators[1].output, "z");
  for (const OperatorProfile& op : profile.operators) EXPECT_GT(op.cold_ms, 0);
  for (OperatorBase* op : ws.GetNet("small")->GetOperators()) EXPECT_EQ(op->NumObservers(), 0u);
}

TEST(NetProfileTest, DerivesTheCostsFromTheShapes) {
  Workspace ws;
  int runs = 0;
  const NetProfile profile = ProfileSmallNet(&ws, &runs);
  const OperatorProfile& conv = profile.operators[0];
  EXPECT_EQ(conv.multiply_adds, 4 * 9 * 2 * 9);           // 4 channels of 3x3, each of 2 * 3 * 3
  EXPECT_EQ(conv.flops, 2u * 4 * 9 * 2 * 9);              // without a bias
  EXPECT_EQ(conv.bytes, 4u * (2 * 25 + 4 * 18 + 4 * 9));  // floats of X, the filter and Y
  EXPECT_EQ(profile.operators[2].multiply_adds, 0);
}

TEST(NetProfileTest, FailsAsTheRunDoes) {
  Workspace ws;
  FeedRandom(&ws, "x", {1});
  NetBase* const net =
      ws.CreateNet(ParseNet(R"(name: "n" op { type: "Relu" input: "x" output: "y" })"));
  ExpectThrows([&] { ProfileNet(net, [] { return false; }, {}); }, "net \"n\" failed");
  ExpectThrows([&] { ProfileNet(net, [] { return true; }, {.timed_runs = 0}); }, "want at least");
}

TEST(NetProfileTest, MedianOfAnEvenNumberIsTheMeanOfTheMiddle) {
  const RunTimes times = SummarizeTimes({4, 1, 3, 10});
  EXPECT_EQ(times.median_ms, 3.5);
  EXPECT_EQ(times.least_ms, 1);
  EXPECT_EQ(times.mean_ms, 4.5);
  EXPECT_EQ(SummarizeTimes({5, 1, 2}).median_ms, 2);
  EXPECT_EQ(SummarizeTimes({}).median_ms, 0);
}

NetProfile HandMadeProfile() {
  NetProfile profile{.net = "n<1>", .cold_ms = 20, .warm = {.median_ms = 8}, .timed_runs = 5};
  profile.operators = {{.index = 0, .type = "Relu", .output = "a", .warm_ms = 1},
                       {.index = 1,
                        .type = "Conv",
                        .output = "b&c",
                        .warm_ms = 4,
                        .flops = 8000000,
                        .bytes = 2000000},
                       {.index = 2, .type = "Relu", .output = "d", .warm_ms = 2}};
  return profile;
}

TEST(NetProfileTest, SortsByCostAndRelatesItToTheNet) {
  const NetProfile profile = HandMadeProfile();
  EXPECT_EQ(profile.ByCost()[0]->type, "Conv");
  EXPECT_EQ(profile.ByCost()[1]->output, "d");
  EXPECT_EQ(profile.SumOfOperators(), 7);
  EXPECT_EQ(profile.ShareOf(4), 50);  // of the net's 8 ms, not of the sum of 7 ms
  EXPECT_EQ(profile.ByType()[1].type, "Relu");
  EXPECT_EQ(profile.ByType()[1].warm_ms, 3);
  EXPECT_EQ(profile.ByType()[1].operators, 2);
  EXPECT_EQ(profile.operators[1].GigaflopsPerSecond(), 2);  // 8e6 in 4e-3 s
  EXPECT_EQ(profile.operators[1].GigabytesPerSecond(), 0.5);
  EXPECT_EQ(profile.operators[0].GigaflopsPerSecond(), 0);
}

TEST(ProfileDrawingTest, DrawsTheCostliestOperators) {
  const std::string svg = ProfileAsSvg(HandMadeProfile(), 2);
  EXPECT_THAT(svg, HasSubstr("<svg xmlns"));
  EXPECT_THAT(svg, HasSubstr("net &quot;n&lt;1&gt;&quot;: median 8.000 ms of 5 runs"));
  EXPECT_THAT(svg, HasSubstr(">1 Conv  b&amp;c</text>"));
  EXPECT_THAT(svg, HasSubstr("50.0 %"));
  EXPECT_THAT(svg, HasSubstr("the 2 costliest of 3 operators"));
  EXPECT_THAT(svg, Not(HasSubstr(">0 Relu  a</text>")));
  EXPECT_THAT(svg, HasSubstr("net minus its operators"));
}

TEST(ProfileDrawingTest, DrawsANetWithoutOperators) {
  EXPECT_THAT(ProfileAsSvg({.net = "empty"}), HasSubstr("</svg>"));
}

}  // namespace
}  // namespace caffe2rt::net_profile_test
