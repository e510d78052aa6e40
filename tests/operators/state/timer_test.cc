#include <chrono>

#include "caffe2_core/graph/dependencies.h"
#include "caffe2_core/runtime/net.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::timer_test {
namespace {

constexpr char kBegin[] = "type: 'TimerBegin' output: 't' arg { name: 'counter_name' s: 'time' }";

TEST(TimerTest, ReturnsNanosecondsWhileItRuns) {
  Workspace ws;
  RunOp(&ws, kBegin);
  RunOp(&ws, "type: 'TimerGet' input: 't' output: 'n'");
  RunOp(&ws, "type: 'TimerGetAndEnd' input: 't' output: 'm'");
  EXPECT_EQ(DimsOf(ws, "n"), std::vector<int64_t>{});
  EXPECT_EQ(DimsOf(ws, "m"), std::vector<int64_t>{1});
  EXPECT_GE(Fetch<int64_t>(ws, "n")[0], 0);
  EXPECT_GE(Fetch<int64_t>(ws, "m")[0], Fetch<int64_t>(ws, "n")[0]);
}

// The time between the two is at least as long for the timer, which begins before it and is read after it.
TEST(TimerTest, CountsNanosecondsFromItsBeginning) {
  using Clock = std::chrono::steady_clock;
  Workspace ws;
  const Clock::time_point before = Clock::now();
  RunOp(&ws, kBegin);
  const Clock::time_point begun = Clock::now();
  while (Clock::now() - begun < std::chrono::milliseconds(2)) {
  }
  RunOp(&ws, "type: 'TimerGet' input: 't' output: 'n'");
  RunOp(&ws, "type: 'TimerGetAndEnd' input: 't' output: 'm'");
  const std::chrono::nanoseconds all = Clock::now() - before;
  for (const char* name : {"n", "m"}) {
    EXPECT_GE(Fetch<int64_t>(ws, name)[0], 2000000);
    EXPECT_LE(Fetch<int64_t>(ws, name)[0], all.count());
  }
}

TEST(TimerTest, BeginsAgainFromZero) {
  Workspace ws;
  NetBase* const net = ws.CreateNet(ParseNet(MakeString(
      "name: 'n' op { ", kBegin, " } op { type: 'TimerGetAndEnd' input: 't' output: 'n' }")));
  const auto begin = std::chrono::steady_clock::now();
  ASSERT_TRUE(net->Run());
  while (std::chrono::steady_clock::now() - begin < std::chrono::milliseconds(2)) {
  }
  const auto second = std::chrono::steady_clock::now();
  ASSERT_TRUE(net->Run());
  const std::chrono::nanoseconds all = std::chrono::steady_clock::now() - second;
  EXPECT_LE(Fetch<int64_t>(ws, "n")[0], all.count());
}

TEST(TimerTest, RunsAgainInTheNextRunOfItsNet) {
  Workspace ws;
  NetBase* const net = ws.CreateNet(
      ParseNet(MakeString("name: 'n' op { ", kBegin, " } op { type: 'TimerEnd' input: 't' }")));
  EXPECT_TRUE(net->Run());
  EXPECT_TRUE(net->Run());
}

TEST(TimerTest, RejectsTimersThatAreNotInTheRightState) {
  Workspace ws;
  NetBase* const net = ws.CreateNet(ParseNet(MakeString("name: 'n' op { ", kBegin, " }")));
  EXPECT_TRUE(net->Run());
  ExpectThrows([&] { net->Run(); }, "output 0 (timer) is already running");
  RunOp(&ws, "type: 'TimerEnd' input: 't'");
  for (const char* type : {"TimerEnd", "TimerGet", "TimerGetAndEnd"}) {
    const std::string output = std::string(type) == "TimerEnd" ? "" : " output: 'n'";
    ExpectThrows([&] { RunOp(&ws, MakeString("type: '", type, "' input: 't'", output)); },
                 "input 0 (timer) is not running");
  }
  Feed<float>(&ws, "t", {1}, {1});
  ExpectThrows([&] { RunOp(&ws, "type: 'TimerEnd' input: 't'"); }, "input 0");
}

// Otherwise a timer would not measure the operators between.
TEST(TimerTest, KeepsItsPlaceAmongOtherOperators) {
  const NetDef net = ParseNet(MakeString("op { type: 'Relu' input: 'a' output: 'b' } op { ", kBegin,
                                         " } op { type: 'Relu' input: 'c' output: 'd' } op { type: "
                                         "'TimerEnd' input: 't' }"));
  const NetDependencies dependencies(net);
  for (uint32_t op = 1; op < 4; ++op) {
    const auto before = dependencies.predecessors(op);
    EXPECT_NE(std::find(before.begin(), before.end(), op - 1), before.end()) << op;
  }
}

}  // namespace
}  // namespace caffe2rt::test::timer_test
