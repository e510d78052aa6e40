#include "caffe2_core/executors/net_schedule.h"

#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "caffe2_core/base/text.h"
#include "caffe2_core/executors/device_order.h"
#include "tests/support/operator_test.h"
#include "tests/support/refusals.h"

namespace caffe2rt::test::net_schedule_test {
namespace {

// One line per chain: its operators, the number of predecessors, the longest path and the
// successors. An operator without a type is on device 0 and does not wait; types "Device" and "Wait"
// change that.
std::string Text(const NetSchedule& schedule) {
  std::string text;
  for (size_t chain = 0; chain < schedule.num_chains(); ++chain) {
    for (const uint32_t op : schedule.operators(chain)) text += MakeString(op, " ");
    text += MakeString("after ", schedule.num_predecessors(chain), " path ",
                       schedule.longest_path(chain));
    if (schedule.waits(chain)) text += " waits";
    if (!schedule.successors(chain).empty()) text += " then";
    for (const uint32_t next : schedule.successors(chain)) text += MakeString(" ", next);
    text += "\n";
  }
  return text;
}

NetSchedule ScheduleOf(const NetDef& net) {
  std::vector<ScheduledOperator> operators;
  for (const OperatorDef& op : net.op()) {
    operators.push_back({.device = op.type() == "Device" ? 1u : 0u, .waits = op.type() == "Wait"});
  }
  return NetSchedule(NetDependencies(net), operators);
}

struct Row {
  const char* name;
  const char* net;
  const char* chains;
  bool has_branches;
};

const Row kRows[] = {
    {"Nothing", "", "", false},
    {"One", R"(op { output: "a" })", "0 after 0 path 1\n", false},
    {"Linear", R"(op { output: "a" } op { input: "a" output: "b" } op { input: "b" output: "b" })",
     "0 1 2 after 0 path 3\n", false},
    {"TwoHalves",
     R"(op { output: "a" } op { output: "b" } op { input: "a" output: "a" }
        op { input: "b" output: "b" })",
     "0 2 after 0 path 2\n1 3 after 0 path 2\n", true},
    // The longer branch comes first, although it stands behind the other one in the net.
    {"ForkAndJoin",
     R"(op { output: "a" } op { input: "a" output: "b" } op { input: "a" output: "c" }
        op { input: "c" output: "c" } op { input: "b" input: "c" output: "d" })",
     "0 after 0 path 4 then 1 2\n2 3 after 1 path 3 then 3\n1 after 1 path 2 then 3\n"
     "4 after 2 path 1\n",
     true},
    // Operator 2 reads the output of 0 as well, which the chain implies.
    {"ImpliedByTheChain",
     R"(op { output: "a" } op { input: "a" output: "b" } op { input: "b" input: "a" output: "c" })",
     "0 1 2 after 0 path 3\n", false},
    // Operator 4 needs 0, 1, 2 and 3; only 3 is direct.
    {"ImpliedFarBack",
     R"(op { output: "a" } op { input: "a" output: "b" } op { input: "b" output: "c" }
        op { input: "c" output: "d" } op { input: "a" input: "b" input: "c" input: "d" output: "a" })",
     "0 1 2 3 4 after 0 path 5\n", false},
    {"AnotherDevice",
     R"(op { output: "a" } op { type: "Device" input: "a" output: "b" }
        op { type: "Device" input: "b" output: "b" } op { input: "b" output: "c" })",
     "0 after 0 path 4 then 1\n1 2 after 1 path 3 then 2\n3 after 1 path 1\n", false},
    {"Waiting",
     R"(op { output: "a" } op { type: "Wait" input: "a" output: "a" }
        op { type: "Wait" input: "a" output: "a" } op { input: "a" output: "b" })",
     "0 after 0 path 4 then 1\n1 after 1 path 3 waits then 2\n2 after 1 path 2 waits then 3\n"
     "3 after 1 path 1\n",
     false},
    {"ControlInput", R"(op { output: "a" } op { output: "b" control_input: "a" })",
     "0 1 after 0 path 2\n", false},
};

class NetScheduleRowsTest : public testing::TestWithParam<Row> {};

TEST_P(NetScheduleRowsTest, CutsTheNetIntoChains) {
  const NetDef net = ParseNet(GetParam().net);
  const NetSchedule schedule = ScheduleOf(net);
  EXPECT_EQ(Text(schedule), GetParam().chains);
  EXPECT_EQ(schedule.has_branches(), GetParam().has_branches);
  EXPECT_EQ(schedule.any_waits(), std::string(GetParam().net).find("Wait") != std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(Nets, NetScheduleRowsTest, testing::ValuesIn(kRows),
                         [](const auto& info) { return info.param.name; });

// Chains of one device that do not depend on each other have streams of their own; the first
// successor continues the stream of its predecessor. Operator 3, on the CPU, is on stream 0.
TEST(NetScheduleTest, OrdersChainsOfDevicesOnStreams) {
  const NetDef net = ParseNet(R"(
    op { type: "Device" output: "a" }
    op { type: "Device" input: "a" output: "b" }
    op { type: "Device" input: "a" output: "c" }
    op { input: "c" output: "d" }
    op { type: "Device" input: "c" output: "c" }
    op { type: "Device" input: "b" input: "c" output: "e" })");
  const std::vector<uint32_t> devices = {1, 1, 1, 0, 1, 1};
  const ExecutionOrder order = DeviceOrder(ScheduleOf(net), devices);
  EXPECT_EQ(order.positions, (std::vector<size_t>{0, 2, 3, 1, 4, 5}));
  EXPECT_EQ(order.streams, (std::vector<int>{0, 0, 0, 1, 2, 1}));
}

// Each operator reads the outputs of all operators before it: without a bound, reducing these
// dependencies would take cubic time.
TEST(NetScheduleTest, IsFastForManyDependencies) {
  NetDef net;
  constexpr int kOperators = 1000;
  for (int i = 0; i < kOperators; ++i) {
    OperatorDef* const op = net.add_op();
    for (int j = 0; j < i; ++j) op->add_input(MakeString("b", j));
    op->add_output(MakeString("b", i));
  }
  const NetSchedule schedule = ScheduleOf(net);
  EXPECT_EQ(schedule.num_chains(), 1u);
  EXPECT_EQ(schedule.longest_path(0), static_cast<uint32_t>(kOperators));
}

// The schedules of random nets, against their dependencies: every operator is in one chain, once; the
// order within and between the chains implies all dependencies and no others; only one device and no
// operator that waits is in a longer chain; and a path is the longest one to the end.
TEST(NetScheduleTest, OfRandomNetsHasTheirDependenciesAndNoOthers) {
  for (uint32_t seed = 1; seed <= 300 && !HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    const auto below = [&](uint32_t n) { return static_cast<int>(random() % n); };
    NetDef net;
    const int n = 1 + below(12);
    for (int i = 0; i < n; ++i) {
      OperatorDef* const op = net.add_op();
      const int kind = below(8);
      if (kind < 2) op->set_type(kind == 0 ? "Device" : "Wait");
      for (int k = below(3); k > 0; --k) op->add_input(MakeString("b", below(7)));
      op->add_output(MakeString("b", below(7)));
    }
    const NetDependencies dependencies(net);
    const NetSchedule schedule = ScheduleOf(net);
    using Relation = std::vector<std::vector<bool>>;
    Relation want(n, std::vector<bool>(n)), got = want;
    for (int b = 0; b < n; ++b) {
      for (const uint32_t a : dependencies.predecessors(static_cast<size_t>(b))) want[a][b] = true;
    }
    std::vector<int> seen(n, 0), last_of;
    std::vector<uint32_t> predecessors(schedule.num_chains(), 0);
    for (size_t chain = 0; chain < schedule.num_chains(); ++chain) {
      const auto ops = schedule.operators(chain);
      for (size_t k = 0; k < ops.size(); ++k) {
        ++seen[ops[k]];
        const std::string& type = net.op(static_cast<int>(ops[k])).type();
        EXPECT_EQ(schedule.waits(chain), type == "Wait");
        if (k > 0) {
          got[ops[k - 1]][ops[k]] = true;
          EXPECT_EQ(type, net.op(static_cast<int>(ops[0])).type());
        }
      }
      EXPECT_TRUE(!schedule.waits(chain) || ops.size() == 1);
      for (const uint32_t next : schedule.successors(chain)) {
        ++predecessors[next];
        got[ops.back()][schedule.operators(next).front()] = true;
      }
    }
    EXPECT_EQ(seen, std::vector<int>(n, 1));
    bool branches = false;
    const auto close = [n](Relation* relation) {
      for (int k = 0; k < n; ++k) {
        for (int a = 0; a < n; ++a) {
          for (int b = 0; b < n; ++b)
            (*relation)[a][b] = (*relation)[a][b] || ((*relation)[a][k] && (*relation)[k][b]);
        }
      }
    };
    close(&want);
    close(&got);
    EXPECT_EQ(got, want);
    for (int a = 0; a < n; ++a) {
      for (int b = a + 1; b < n; ++b) branches = branches || !want[a][b];
    }
    EXPECT_EQ(schedule.has_branches(), branches);
    std::vector<uint32_t> path(n, 1);
    for (int a = n; a-- > 0;) {
      for (int b = a + 1; b < n; ++b) {
        if (want[a][b]) path[a] = std::max(path[a], path[b] + 1);
      }
    }
    for (size_t chain = 0; chain < schedule.num_chains(); ++chain) {
      EXPECT_EQ(schedule.num_predecessors(chain), predecessors[chain]);
      EXPECT_EQ(schedule.longest_path(chain), path[schedule.operators(chain).front()]);
      if (chain > 0) EXPECT_GE(schedule.longest_path(chain - 1), schedule.longest_path(chain));
    }
  }
}

TEST(NetScheduleTest, RejectsOperatorsOfAnotherNet) {
  const NetDef net = ParseNet(R"(op { output: "a" } op { output: "b" })");
  const std::vector<ScheduledOperator> one(1);
  EXPECT_EQ(MessageOf([&] { const NetSchedule schedule(NetDependencies(net), one); }),
            "operators of a schedule: got 1, want 2");
}

TEST(NetScheduleTest, EachDeviceCountsItsStreamsAndBeginsAgain) {
  NetDef net;
  std::vector<uint32_t> devices;
  const auto add = [&](uint32_t device) {
    OperatorDef* const op = net.add_op();
    op->add_output(MakeString("b", devices.size()));
    if (device != kAnyThread) op->set_type("Device");
    devices.push_back(device);
  };
  for (int i = 0; i < kMostDeviceStreams; ++i) add(1);
  add(2);
  add(1);  // as many streams as there may be are in use
  add(kUsesDevices);
  add(kAnyThread);
  add(2);
  add(1);
  std::vector<int> want;
  for (int i = 0; i < kMostDeviceStreams; ++i) want.push_back(i);
  for (const int stream : {0, 0, 0, 0, 1, 1}) want.push_back(stream);
  const ExecutionOrder order = DeviceOrder(ScheduleOf(net), devices);
  EXPECT_EQ(order.positions, InOrderOfNet(devices.size()).positions);
  EXPECT_EQ(order.streams, want);
}

}  // namespace
}  // namespace caffe2rt::test::net_schedule_test
