#include "caffe2_core/inspect/net_profile.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <thread>
#include <vector>

#include "caffe2_core/inspect/profile_drawing.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"
#include "tests/support/operator_test.h"
#include "tests/support/refusals.h"

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

// The first run takes as long as it does, but for the observation of its operators, which costs next to nothing.
TEST(NetProfileTest, TheFirstRunIsNotShortened) {
  Workspace ws;
  Feed<float>(&ws, "x", {1}, {1});
  NetBase* const net =
      ws.CreateNet(ParseNet(R"(name: "n" op { type: "Relu" input: "x" output: "y" })"));
  std::vector<double> times;
  const auto run = [&] {
    const auto begin = std::chrono::steady_clock::now();
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    const bool success = net->Run();
    const std::chrono::duration<double, std::milli> ms = std::chrono::steady_clock::now() - begin;
    times.push_back(ms.count());
    return success;
  };
  const NetProfile profile = ProfileNet(net, run, {.warmup_runs = 0, .timed_runs = 4});
  ASSERT_EQ(times.size(), 9u);
  // A loaded machine may delay all of the observed runs: every second one, behind the first.
  const double delay = std::min({times[2], times[4], times[6], times[8]}) -
                       std::min({times[1], times[3], times[5], times[7]});
  EXPECT_GE(profile.cold_ms, 0.7 * times[0] - std::max(delay, 0.0));
  EXPECT_GE(profile.warm.least_ms, 5);
  EXPECT_LT(profile.operators.at(0).warm_ms, 5);
}

// Takes 5 ms when it first runs.
class ProfileTestSlowStartOp final : public Operator<CPUContext> {
 public:
  using Operator<CPUContext>::Operator;
  bool RunOnDevice() override {
    if (!has_run_) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    has_run_ = true;
    return true;
  }

 private:
  bool has_run_ = false;
};
REGISTER_CPU_OPERATOR(ProfileTestSlowStart, ProfileTestSlowStartOp);
OPERATOR_SCHEMA(ProfileTestSlowStart).NumInputs(0).NumOutputs(0);

// What was measured before the first run does not count.
TEST(NetProfileTest, TheColdTimeOfAnOperatorIsThatOfItsFirstRun) {
  Workspace ws;
  NetBase* const net = ws.CreateNet(ParseNet(R"(name: "n" op { type: "ProfileTestSlowStart" })"));
  const NetProfile profile =
      ProfileNet(net, [net] { return net->Run(); }, {.warmup_runs = 0, .timed_runs = 3});
  ASSERT_EQ(profile.operators.size(), 1u);
  EXPECT_GE(profile.operators[0].cold_ms, 5);
  EXPECT_LT(profile.operators[0].warm_ms, 5);  // the median of three runs
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

// The whole drawing of the profile above: 860 px for 7 ms, then the totals of the types, the time
// that no operator has, and the bars of two operators, of at most 368 px.
TEST(ProfileDrawingTest, DrawsStripTotalsAndBars) {
  const auto text = [](int x, int y, const std::string& text_class, const std::string& content) {
    return MakeString("<text x=\"", x, "\" y=\"", y, "\"",
                      text_class.empty() ? "" : " class=\"" + text_class + "\"", ">", content,
                      "</text>\n");
  };
  const auto bar = [](const std::string& x, int y, const std::string& width, int height,
                      const std::string& colour, const std::string& hint) {
    return MakeString("<rect x=\"", x, "\" y=\"", y, "\" width=\"", width, "\" height=\"", height,
                      "\" fill=\"", colour, "\"><title>", hint, "</title></rect>\n");
  };
  const auto numbers = [&](int y, const std::string& ms, const std::string& share) {
    return text(425, y, "n", ms + " ms") + text(500, y, "n", share + " %");
  };
  const std::string blue = "#0072b2", orange = "#e69f00";
  const std::string
      a = "0 Relu  a: 1.0000 ms, 12.5 %, first run 0.0000 ms",
      b = "1 Conv  b&amp;c: 4.0000 ms, 50.0 %, first run 0.0000 ms, 2.0 GFLOP/s, 0.5 GB/s",
      d = "2 Relu  d: 2.0000 ms, 25.0 %, first run 0.0000 ms";
  EXPECT_EQ(
      ProfileAsSvg(HandMadeProfile(), 2),
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"900\" height=\"288\" viewBox=\"0 0 900 "
      "288\">\n"
      "<style>text{font:13px sans-serif}.h{font-weight:bold}.n{text-anchor:end}</style>\n"
      "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n" +
          text(20, 35, "h",
               "net &quot;n&lt;1&gt;&quot;: median 8.000 ms of 5 runs, first run 20.000 ms") +
          bar("20.00", 50, "122.86", 40, orange, a) + bar("142.86", 50, "491.43", 40, blue, b) +
          bar("634.29", 50, "245.71", 40, orange, d) + text(20, 117, "h", "operator types") +
          bar("20.00", 124, "14.00", 14, blue, "Conv (1)") + text(42, 139, "", "Conv (1)") +
          numbers(139, "4.000", "50.0") + bar("20.00", 146, "14.00", 14, orange, "Relu (2)") +
          text(42, 161, "", "Relu (2)") + numbers(161, "3.000", "37.5") +
          text(42, 183, "", "net minus its operators") + numbers(183, "1.000", "12.5") +
          text(20, 217, "h", "the 2 costliest of 3 operators") +
          text(20, 239, "", "1 Conv  b&amp;c") + numbers(239, "4.000", "50.0") +
          bar("512.00", 224, "368.00", 16, blue, b) + text(20, 261, "", "2 Relu  d") +
          numbers(261, "2.000", "25.0") + bar("512.00", 246, "184.00", 16, orange, d) + "</svg>\n");
}

// Seven types have a colour; the times of the others are one sum.
TEST(ProfileDrawingTest, AddsUpTheTimesOfOtherTypes) {
  NetProfile profile{.net = "n", .warm = {.median_ms = 32}};
  for (int i = 0; i < 10; ++i) {
    profile.operators.push_back({.index = static_cast<size_t>(i),
                                 .type = MakeString("T", i),
                                 .output = "y",
                                 .warm_ms = i < 7 ? 4 - 0.25 * i : 0.125 * (10 - i)});
  }
  const std::string svg = ProfileAsSvg(profile, 1);
  EXPECT_THAT(svg, HasSubstr(">T6 (1)</text>"));
  EXPECT_THAT(svg, Not(HasSubstr(">T7 (1)</text>")));
  // 0.375 + 0.25 + 0.125 of 32 ms
  const size_t other = svg.find(">other types</text>");
  ASSERT_NE(other, std::string::npos);
  const std::string behind = svg.substr(other, 600);
  EXPECT_THAT(behind, HasSubstr(">0.750 ms</text>"));
  EXPECT_THAT(behind, HasSubstr(">2.3 %</text>"));
}

TEST(ProfileDrawingTest, HintsHaveAllThatIsKnown) {
  NetProfile profile{.net = "n", .warm = {.median_ms = 2}};
  profile.operators = {{.index = 3,
                        .type = "Conv",
                        .output = "y_ideep",
                        .cold_ms = 12.5,
                        .warm_ms = 0.5,
                        .multiply_adds = 1000000,
                        .flops = 2000000,
                        .bytes = 500000},
                       {.index = 4, .type = "Copy", .output = "", .warm_ms = 0.25, .bytes = 1000}};
  const std::string svg = ProfileAsSvg(profile);
  EXPECT_THAT(svg, HasSubstr("<title>3 Conv  y: 0.5000 ms, 25.0 %, first run 12.5000 ms, 1000000 "
                             "multiply-adds, 4.0 GFLOP/s, 1.0 GB/s</title>"));
  EXPECT_THAT(svg, HasSubstr("<title>4 Copy: 0.2500 ms, 12.5 %, first run 0.0000 ms, 0.0 GB/s"
                             "</title>"));
  EXPECT_THAT(svg, HasSubstr(">operators</text>"));  // all of them by default
  EXPECT_THAT(svg, Not(HasSubstr("_ideep")));
}

// Of a type with an engine, of the user's own.
class ProfiledOp final : public Operator<CPUContext> {
 public:
  using Operator<CPUContext>::Operator;
  bool RunOnDevice() override { return true; }
};
REGISTER_CPU_OPERATOR(ProfiledOperator, ProfiledOp);
REGISTER_CPU_OPERATOR_WITH_ENGINE(ProfiledOperator, PROFILED, ProfiledOp);
OPERATOR_SCHEMA(ProfiledOperator).NumInputs(0, 2).NumOutputs(0, 2);

TEST(NetProfileTest, NamesEnginesAndKernels) {
  Workspace ws;
  NetBase* const net = ws.CreateNet(ParseNet(
      R"(name: "n" op { type: "ProfiledOperator" engine: "PROFILED" output: "a" output: "b" }
         op { type: "ProfiledOperator" name: "m" })"));
  const NetProfile profile =
      ProfileNet(net, [&] { return net->Run(); }, {.warmup_runs = 0, .timed_runs = 1});
  ASSERT_EQ(profile.operators.size(), 2u);
  EXPECT_EQ(profile.operators[0].engine, "PROFILED");
  ASSERT_TRUE(profile.operators[0].kernel.has_value());
  EXPECT_EQ(profile.operators[0].kernel->taken().algorithm, "PROFILED");
  EXPECT_EQ(profile.operators[0].output, "a");
  EXPECT_EQ(profile.operators[1].engine, "");
  EXPECT_FALSE(profile.operators[1].kernel.has_value());
  EXPECT_EQ(profile.operators[1].name, "m");
}

// The types beyond the seventh share grey and one line.
TEST(ProfileDrawingTest, JoinsTheCheapestTypes) {
  NetProfile profile{.net = "n", .warm = {.median_ms = 45}};
  for (size_t i = 0; i < 9; ++i) {
    profile.operators.push_back(
        {.index = i, .type = MakeString("T", i), .warm_ms = static_cast<double>(9 - i)});
  }
  const std::string svg = ProfileAsSvg(profile, 9);
  EXPECT_THAT(svg, HasSubstr(">T6 (1)</text>"));
  EXPECT_THAT(svg, Not(HasSubstr(">T7 (1)</text>")));
  EXPECT_THAT(svg, HasSubstr(">other types</text>"));
  EXPECT_THAT(svg, HasSubstr(">3.000 ms</text>"));  // 2 and 1 of T7 and T8; T6 has 3 as well
  EXPECT_THAT(svg, HasSubstr("fill=\"#f0e442\"><title>T6 (1)"));
  EXPECT_THAT(svg, HasSubstr("fill=\"#999999\"><title>other types"));
  EXPECT_THAT(svg, HasSubstr("fill=\"#999999\"><title>7 T7: 2.0000 ms"));
  EXPECT_THAT(svg, HasSubstr(">operators</text>"));  // all of them
}

// The title has room for 60 columns of a net's name, a line of types for 40 and one of operators for 42.
TEST(ProfileDrawingTest, LongNamesAreShortenedInTheMiddleButForHints) {
  const auto svg_of = [](size_t net, size_t type, size_t output) {
    NetProfile profile{.net = std::string(net - 1, 'n') + "N", .warm = {.median_ms = 1}};
    profile.operators = {{.type = std::string(type - 1, 't') + "T",
                          .output = std::string(output - 1, 'o') + "O",
                          .warm_ms = 1}};
    return ProfileAsSvg(profile);
  };
  const std::string fitting = svg_of(60, 36, 2), longer = svg_of(61, 37, 2);
  EXPECT_THAT(fitting, HasSubstr("net &quot;" + std::string(59, 'n') + "N&quot;: median"));
  EXPECT_THAT(fitting, HasSubstr(">" + std::string(35, 't') + "T (1)</text>"));
  EXPECT_THAT(fitting, HasSubstr(">0 " + std::string(35, 't') + "T  oO</text>"));
  // 30 columns before the ellipsis and 29 behind it; 20 and 19; 21 and 20.
  EXPECT_THAT(longer,
              HasSubstr("&quot;" + std::string(30, 'n') + "…" + std::string(28, 'n') + "N&quot;"));
  EXPECT_THAT(longer,
              HasSubstr(">" + std::string(20, 't') + "…" + std::string(14, 't') + "T (1)</text>"));
  EXPECT_THAT(longer, HasSubstr("<title>" + std::string(36, 't') + "T (1)</title>"));
  EXPECT_THAT(longer, HasSubstr("<title>0 " + std::string(36, 't') + "T  oO: 1.0000 ms"));
  EXPECT_THAT(svg_of(1, 36, 2), HasSubstr(">0 " + std::string(35, 't') + "T  oO</text>"));
  EXPECT_THAT(svg_of(1, 5, 33), HasSubstr(">0 ttttT  " + std::string(32, 'o') + "O</text>"));
  EXPECT_THAT(svg_of(1, 5, 34),
              HasSubstr(">0 ttttT  " + std::string(12, 'o') + "…" + std::string(19, 'o') + "O<"));
}

TEST(ProfileDrawingTest, OperatorsThatTakeNoTimeHaveNoWidth) {
  NetProfile profile{.net = "n"};
  profile.operators = {{.index = 0, .type = "A"}, {.index = 1, .type = "B"}};
  const std::string svg = ProfileAsSvg(profile);
  EXPECT_THAT(svg, HasSubstr("<rect x=\"512.00\" y=\""));
  EXPECT_THAT(svg, HasSubstr("width=\"0.00\" height=\"16\""));
  EXPECT_THAT(svg, HasSubstr("<rect x=\"20.00\" y=\"50\" width=\"0.00\" height=\"40\""));
  EXPECT_THAT(svg, HasSubstr("0 A: 0.0000 ms, 0.0 %"));
  EXPECT_THAT(svg, Not(HasSubstr("nan")));
}

TEST(NetProfileTest, RunsTheNetOnceColdThenWarmThenInTurns) {
  Workspace ws;
  FeedRandom(&ws, "x", {2, 3});
  NetBase* const net =
      ws.CreateNet(ParseNet(R"(name: "n" op { type: "Relu" name: "r" input: "x" output: "y" }
      op { type: "ZeroGradient" input: "y" })"));
  int runs = 0;
  const NetProfile profile =
      ProfileNet(net, [&] { return ++runs, net->Run(); }, {.warmup_runs = 3, .timed_runs = 4});
  EXPECT_EQ(runs, 1 + 3 + 2 * 4);
  EXPECT_EQ(profile.net, "n");
  EXPECT_EQ(profile.timed_runs, 4);
  ASSERT_EQ(profile.operators.size(), 2u);
  EXPECT_EQ(profile.operators[0].name, "r");
  EXPECT_EQ(profile.operators[0].output, "y");
  EXPECT_EQ(profile.operators[1].index, 1u);
  EXPECT_EQ(profile.operators[1].output, "");
  EXPECT_LE(profile.warm.least_ms, profile.warm.median_ms);
  EXPECT_EQ(MessageOf([&] { ProfileNet(nullptr, [] { return true; }, {}); }),
            "argument net or run of ProfileNet is null");
  EXPECT_EQ(MessageOf([&] { ProfileNet(net, nullptr, {}); }),
            "argument net or run of ProfileNet is null");
  EXPECT_EQ(MessageOf([&] { ProfileNet(net, [] { return true; }, {.warmup_runs = -1}); }),
            "runs of ProfileNet are -1 and 20, want at least 0 and 1");
  EXPECT_EQ(MessageOf([&] { ProfileNet(net, [] { return true; }, {.timed_runs = 0}); }),
            "runs of ProfileNet are 5 and 0, want at least 0 and 1");
  EXPECT_EQ(MessageOf([&] { ProfileNet(net, [] { return false; }, {}); }), "net \"n\" failed");
}

}  // namespace
}  // namespace caffe2rt::net_profile_test
