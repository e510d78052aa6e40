// Waits, memory uses and graphs of operators that do not start in the order of their net.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "caffe2_core/executors/device_uses.h"
#include "caffe2_core/executors/device_waits.h"
#include "caffe2_core/executors/graph_runs.h"
#include "caffe2_core/runtime/net.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"
#include "tests/contexts/counting/counting_context.h"
#include "tests/contexts/counting/gate.h"
#include "tests/contexts/counting/planned_net.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::counting_waits_test {
namespace {

// Two chains from the device to the CPU, and a CPU operator that uses the first blob of the second
// chain.
std::string Chains() {
  return Op(R"(type: "EnsureCPUOutput" input: "a" output: "b")") +
         OnCPU(R"(type: "Relu" input: "b" output: "c")") +
         Op(R"(type: "EnsureCPUOutput" input: "d" output: "e")") +
         OnCPU(R"(type: "Relu" input: "e" output: "f")") +
         OnCPU(R"(type: "Relu" input: "d" output: "g")");
}

TEST(DeviceWaitsTest, FollowTheOrderNotThePositions) {
  EXPECT_EQ(PlanText(Chains(), InOrderOfNet(5)), "1: 0-0; 3: 2-2");
  EXPECT_EQ(PlanText(Chains(), {.positions = {0, 2, 1, 3, 4}}), "2: 0-2");
  EXPECT_EQ(PlanText(Chains(), {.positions = {2, 0, 3, 1, 4}}), "2: 2-0");
  // When operator 4 starts, 2 is finished, but 0, which started after it, is not.
  EXPECT_EQ(PlanText(Chains(), {.positions = {2, 3, 0, 4, 1}}), "1: 2-2; 4: 0-0");
}

TEST(DeviceWaitsTest, AtTheEndAreForAllThatIsLeft) {
  const std::string net = Op(R"(type: "Relu" input: "a" output: "b")") +
                          OnCPU(R"(type: "Relu" input: "x" output: "y")") +
                          Op(R"(type: "Relu" input: "b" output: "c")");
  const PlannedNet planned(net);
  const DeviceWaits waits = planned.Plan(InOrderOfNet(3));
  EXPECT_TRUE(waits.before.empty());
  EXPECT_FALSE(waits.AreBefore(1));
  EXPECT_EQ(Text(waits), "end: 0-2");
}

TEST(DeviceWaitsTest, OneStreamWaitsForAnotherOfItsDevice) {
  const std::string net = Op(R"(type: "Relu" input: "a" output: "b")") +
                          Op(R"(type: "Relu" input: "b" output: "c")") +
                          Op(R"(type: "Relu" input: "x" output: "y")");
  const std::vector<size_t> positions = {0, 1, 2};
  EXPECT_EQ(PlanText(net, {positions, {3, 3, 3}}), "end: 0-2");
  EXPECT_EQ(PlanText(net, {positions, {0, 1, 0}}), "1: 0-0 on the device; end: 0-2; end: 1-1");
  EXPECT_EQ(PlanText(net, {positions, {1, 1, 0}}), "end: 2-2; end: 0-1");
}

TEST(DeviceWaitsTest, RejectAnOrderWithOtherNumbersOfStreams) {
  const PlannedNet net(Chains());
  ExpectThrows(
      [&] {
        (void)net.Plan({{0, 1, 2, 3, 4}, {0, 0, 0, 0}});
      },
      "the order of 5 operators has 4 streams");
}

// The streams of an order belong to its places, not to the positions in the net.
TEST(DeviceWaitsTest, StreamsAreInTheOrderOfTheStarts) {
  const std::string net = Op(R"(type: "Relu" input: "a" output: "b")") +
                          Op(R"(type: "Relu" input: "x" output: "y")") +
                          Op(R"(type: "Relu" input: "b" output: "c")");
  const std::vector<size_t> positions = {1, 0, 2};
  EXPECT_EQ(PlanText(net, {positions, {4, 4, 4}}), "end: 1-2");
  EXPECT_EQ(PlanText(net, {positions, {0, 1, 1}}), "end: 1-1; end: 0-2");
  EXPECT_EQ(PlanText(net, {positions, {5, 3, 5}}), "2: 0-0 on the device; end: 1-2");
  EXPECT_EQ(PlanText(net, {positions, {3, 3, 5}}), "2: 1-0 on the device; end: 2-2");
}

// The host waits for the stream that wrote c, not for the one that reads it.
TEST(DeviceWaitsTest, OneStreamWaitsOnceForTheWorkOfAnother) {
  const std::string net = Op(R"(type: "Relu" input: "a" output: "b")") +
                          Op(R"(type: "Relu" input: "a" output: "c")") +
                          Op(R"(type: "Add" input: "b" input: "c" output: "d")") +
                          Op(R"(type: "Relu" input: "c" output: "e")") +
                          OnCPU(R"(type: "Relu" input: "c" output: "f")");
  EXPECT_EQ(PlanText(net, {{0, 1, 2, 3, 4}, {0, 0, 1, 1, 0}}),
            "2: 0-1 on the device; 4: 0-1; end: 2-3");
}

// Operators 0 and 1 read the same blob. At the end, stream 0 has waited for stream 1.
TEST(DeviceWaitsTest, ReadersOfOneBlobDoNotWaitForEachOther) {
  const std::string readers =
      Op(R"(type: "Relu" input: "a" output: "b")") + Op(R"(type: "Relu" input: "a" output: "c")");
  const std::string join = Op(R"(type: "Add" input: "b" input: "c" output: "d")");
  const std::string overwrite = Op(R"(type: "Relu" input: "d" output: "a")");
  EXPECT_EQ(PlanText(readers + join, {{0, 1, 2}, {0, 1, 0}}), "2: 1-1 on the device; end: 0-2");
  // A writer waits for all of them.
  EXPECT_EQ(PlanText(readers + overwrite, {{0, 1, 2}, {0, 1, 2}}),
            "2: 0-0 on the device; 2: 1-1 on the device; end: 2-2");
}

TEST(DeviceWaitsTest, AControlInputIsFinishedFirst) {
  const std::string net =
      Op(R"(type: "Relu" input: "a" output: "b")") +
      OnCPU(R"(type: "Relu" input: "x" output: "y" control_input: "b" control_input: "never")") +
      OnCPU(R"(type: "Relu" input: "x" output: "z")");
  EXPECT_EQ(PlanText(net, InOrderOfNet(3)), "1: 0-0");
}

TEST(DeviceWaitsTest, ABlobUnderAnotherNameIsTheSame) {
  Workspace parent;
  parent.CreateBlob("b");
  Workspace ws(&parent, {{"b", "b"}, {"forwarded", "b"}});
  const PlannedNet net(Op(R"(type: "Relu" input: "a" output: "b")") +
                           OnCPU(R"(type: "Relu" input: "forwarded" output: "y")"),
                       &ws);
  EXPECT_EQ(Text(net.Plan(InOrderOfNet(2))), "1: 0-0");
}

TEST(DeviceWaitsTest, MemorySharedThroughAnAliasIsFinishedFirst) {
  const std::string net = OnCPU(R"(type: "Alias" input: "x" output: "y")") +
                          Op(R"(type: "CopyFromCPUInput" input: "y" output: "d")") +
                          OnCPU(R"(type: "ConstantFill" output: "x")");
  EXPECT_EQ(PlanText(net, InOrderOfNet(3)), "2: 1-1");
}

// An operator of the CPU that leaves work behind.
class CountingWaitsAsyncOp final : public Operator<CPUContext> {
 public:
  using Operator<CPUContext>::Operator;
  bool RunOnDevice() override { return true; }
  bool HasAsyncPart() const override { return true; }
};
REGISTER_CPU_OPERATOR(CountingWaitsAsync, CountingWaitsAsyncOp);
OPERATOR_SCHEMA(CountingWaitsAsync);

TEST(DeviceWaitsTest, EachAsynchronousOperatorOfTheCpuHasItsOwnStream) {
  const std::string net = OnCPU(R"(type: "CountingWaitsAsync" input: "a" output: "b")") +
                          OnCPU(R"(type: "CountingWaitsAsync" input: "b" output: "c")");
  EXPECT_EQ(PlanText(net, InOrderOfNet(2)), "1: 0-0; end: 1-1");
}

TEST(DeviceWaitsTest, BlobsOfNetsInArgumentsAreFinishedFirst) {
  const std::string net = Op(R"(type: "EnsureCPUOutput" input: "a" output: "b")") +
                          OnCPU(R"(type: "If" input: "condition" arg { name: "then_net" n {
                                   op { type: "Relu" input: "b" output: "c" } } })");
  EXPECT_EQ(PlanText(net, InOrderOfNet(2)), "1: 0-0");
}

TEST(DeviceWaitsTest, TheHostWaitsForAnOperatorWithoutAnEvent) {
  const PlannedNet net(Op(R"(type: "Relu" input: "a" output: "b")") +
                       Op(R"(type: "Relu" input: "b" output: "c")"));
  const ExecutionOrder order = {{0, 1}, {0, 1}};
  EXPECT_EQ(Text(net.Plan(order)), "1: 0-0 on the device; end: 1-1");
  net.operators->all()[0]->DisableEvent();
  EXPECT_EQ(Text(net.Plan(order)), "1: 0-0; end: 1-1");
}

TEST(DeviceWaitsTest, RejectOrdersThatTheNetForbids) {
  const PlannedNet net(Chains());
  ExpectThrows(
      [&] {
        net.Plan({.positions = {1, 0, 2, 3, 4}});
      },
      "the order of a net has operator 1 before operator 0, want it after");
  ExpectThrows(
      [&] {
        net.Plan({{0, 1, 2, 3, 4}, {0, 0}});
      },
      "the order of 5 operators has 2 streams");
}

TEST(WorkUnderWayTest, NamesWhatTheDeviceIsAtWorkOn) {
  const PlannedNet net(Op(R"(type: "Relu" input: "a" output: "b")") +
                       OnCPU(R"(type: "Relu" input: "x" output: "y")") +
                       Op(R"(type: "EnsureCPUOutput" input: "b" output: "c")") +
                       Op(R"(type: "Relu" input: "b" output: "e")") +
                       OnCPU(R"(type: "Relu" input: "c" output: "d")") +
                       Op(R"(type: "Relu" input: "b" output: "f")") +
                       Op(R"(type: "Relu" input: "f" output: "g")"));
  const ExecutionOrder order = InOrderOfNet(7);
  const DeviceWaits waits = net.Plan(order);
  const auto at = [&](size_t place) {
    return WorkUnderWay(net.operators->all(), order, waits, place);
  };
  EXPECT_EQ(at(0), "");
  EXPECT_EQ(at(1), "");  // errors of CPU operators are never attributed to the device
  EXPECT_EQ(at(2),
            "work of operators 0 to 1 on COUNTING was under way and has failed, which may be the "
            "cause");
  EXPECT_THAT(at(3), testing::HasSubstr("operators 0 to 2 on COUNTING"));
  EXPECT_EQ(at(4), "");
  EXPECT_EQ(at(5), "");  // all earlier work was waited for
  EXPECT_THAT(at(6), testing::HasSubstr("operators 5 to 5 on COUNTING"));
  EXPECT_EQ(at(kNoPosition), "");
}

std::vector<float> FetchDevice(const Workspace& ws, const std::string& name) {
  const Tensor host(ws.GetBlob(name)->Get<Tensor>(), CPU);
  return {host.data<float>(), host.data<float>() + host.numel()};
}

// a = x + x and b = relu(a) on the device, with r = relu(h) on the CPU in between.
std::string Apart() {
  return Op(R"(type: "Add" input: "x" input: "x" output: "a")") +
         OnCPU(R"(type: "Relu" input: "h" output: "r")") +
         Op(R"(type: "Relu" input: "a" output: "b")");
}

void RunInOrder(PlannedNet* net, const ExecutionOrder& order, int graphs) {
  Tensor host({2}, CPU);
  net->ws->GetBlob("x")->GetMutableTensor(kCounting);
  Feed<float>(net->ws, "h", {1}, {-1});
  const DeviceWaits waits = net->Plan(order);
  GraphRuns runs("n", net->operators->all(), order, waits);
  EXPECT_EQ(runs.empty(), graphs == 0);
  if (runs.empty()) return;
  for (int run = 1; run <= 4; ++run) {
    host.mutable_data<float>()[0] = -1;
    host.mutable_data<float>()[1] = static_cast<float>(run);
    net->ws->GetBlob("x")->GetMutableTensor(kCounting)->CopyFrom(host);
    size_t running = kNoPosition;
    size_t place = 0;
    while (place < order.size()) place = runs.Start(place, &running);
    EXPECT_EQ(place, order.size());
    FinishDeviceWork(waits.at_end);
    EXPECT_EQ(FetchDevice(*net->ws, "b"), (std::vector<float>{0, 2.f * static_cast<float>(run)}));
    EXPECT_EQ(runs.num_recorded(), run < 3 ? 0 : graphs);
  }
}

TEST(GraphRunsTest, RecordWhatStartsTogetherInTheirOrder) {
  for (const std::vector<size_t>& positions :
       {std::vector<size_t>{1, 0, 2}, std::vector<size_t>{0, 2, 1}}) {
    PlannedNet net(Apart());
    RunInOrder(&net, {.positions = positions}, 1);
  }
  PlannedNet net(Apart());
  RunInOrder(&net, InOrderOfNet(3), 0);
}

TEST(GraphRunsTest, RecordOnTheStreamOfTheOrder) {
  PlannedNet together(Apart());
  RunInOrder(&together, {{1, 0, 2}, {0, 7, 7}}, 1);
  PlannedNet apart(Apart());
  RunInOrder(&apart, {{1, 0, 2}, {0, 7, 8}}, 0);  // the second operator waits for the first
  PlannedNet independent(Op(R"(type: "Relu" input: "x" output: "a")") +
                         Op(R"(type: "Relu" input: "h" output: "b")"));
  RunInOrder(&independent, {{0, 1}, {0, 1}}, 0);
}

TEST(GraphRunsTest, BlameTheOperatorByItsPosition) {
  PlannedNet net(Apart());  // x is on the CPU, therefore Add rejects it
  Feed<float>(net.ws, "x", {2}, {1, 2});
  Feed<float>(net.ws, "h", {1}, {-1});
  const ExecutionOrder order = {.positions = {1, 0, 2}};
  GraphRuns runs("n", net.operators->all(), order, net.Plan(order));
  size_t running = kNoPosition;
  ASSERT_EQ(runs.Start(0, &running), 1u);
  EXPECT_EQ(running, 1u);
  EXPECT_THROW(runs.Start(1, &running), EnforceNotMet);
  EXPECT_EQ(running, 0u);
}

TEST(DeviceUsesTest, AreOfNetsWithSeveralStreams) {
  const PlannedNet net(Op(R"(type: "Relu" input: "a" output: "b")") +
                       Op(R"(type: "Relu" input: "b" output: "c")"));
  const NetDependencies dependencies = net.operators->FindDependencies();
  const auto none = [&](const std::vector<int>& streams) {
    return DeviceUses(net.operators->all(), dependencies, {{0, 1}, streams}).empty();
  };
  EXPECT_TRUE(none({}));
  EXPECT_TRUE(none({2, 2}));
  EXPECT_FALSE(none({0, 1}));
}

// Operator 1 on the second device reads the output of operator 0 on the first.
TEST(DeviceUsesTest, AreReportedByPosition) {
  const std::string second = R"(device_option { device_type: 20 device_id: 1 } } )";
  const PlannedNet net(Op(R"(type: "Relu" input: "a" output: "b")") +
                       R"(op { type: "Copy" input: "b" output: "c" )" + second +
                       R"(op { type: "Relu" input: "c" output: "d" )" + second);
  DeviceUses uses(net.operators->all(), net.operators->FindDependencies(), InOrderOfNet(3));
  uses.BeginRun();
  Tensor host({2}, CPU);
  host.mutable_data<float>()[0] = 0;
  host.mutable_data<float>()[1] = 0;
  CountingDevice::SetCurrent(0);
  net.ws->GetBlob("b")->GetMutableTensor(kCounting)->CopyFrom(host);
  net.ws->GetBlob("c")->GetMutableTensor(kCounting)->CopyFrom(host);
  const auto used = [&] { return CountingDevice::Get(0).counts().uses; };
  const int64_t before = used();
  uses.Record(0);
  EXPECT_EQ(used(), before);
  uses.Record(1);
  EXPECT_EQ(used(), before + 1);
  uses.Record(2);  // reads memory that its own stream produced, wherever that memory is
  EXPECT_EQ(used(), before + 1);
}

DeviceOption TheSecondDevice() {
  DeviceOption option;
  option.set_device_type(kCounting);
  option.set_device_id(1);
  return option;
}

TEST(DeviceUsesTest, AreOfTheStreamThatTheOrderGives) {
  const PlannedNet net(Op(R"(type: "Relu" input: "a" output: "b")") +
                       R"(op { type: "Copy" input: "b" output: "c"
                        device_option { device_type: 20 device_id: 1 } })");
  DeviceUses uses(net.operators->all(), net.operators->FindDependencies(), {{0, 1}, {0, 3}});
  uses.BeginRun();
  CountingDevice::SetCurrent(0);
  Tensor* const b = net.ws->GetBlob("b")->GetMutableTensor(kCounting);
  const int64_t floats = 10 << 20;  // two tensors of this size do not fit
  b->Resize(std::vector<int64_t>{floats});
  b->mutable_data<float>();
  uses.Record(1);
  CountingContext user(TheSecondDevice());
  user.SwitchToDevice(3);
  const auto release = Hold(user);
  CountingDevice::SetCurrent(0);
  b->FreeMemory();
  const size_t nbytes = static_cast<size_t>(floats) * sizeof(float);
  EXPECT_THROW(TheCountingStaticContext()->New(nbytes), EnforceNotMet);
  release();
  user.FinishDeviceComputation();
  const DataPtr again(TheCountingStaticContext()->New(nbytes));
}

// Does what a test wants in the middle of a net.
std::function<void()>& TheStep() {
  static std::function<void()> step;
  return step;
}
class CountingWaitsStepOp final : public Operator<CPUContext> {
 public:
  using Operator<CPUContext>::Operator;
  bool RunOnDevice() override {
    TheStep()();
    return true;
  }
};
REGISTER_CPU_OPERATOR(CountingWaitsStep, CountingWaitsStepOp);
OPERATOR_SCHEMA(CountingWaitsStep);

// The second device is held while it copies b. Then b is freed, but its memory must not be used
// again: without it, a tensor of 40 MiB does not fit beside a, in the 64 MiB of the device.
TEST(DeviceUsesTest, ANetKeepsMemoryThatIsFreedWhileAnotherDeviceReadsIt) {
  Workspace ws;
  CountingDevice::SetCurrent(0);
  Tensor* const a = ws.CreateBlob("a")->GetMutableTensor(kCounting);
  a->Resize(std::vector<int64_t>{4 << 20});
  a->mutable_data<float>();
  NetBase* const net = ws.CreateNet(ParseNet(
      "name: \"n\" " + Op(R"(type: "Relu" input: "a" output: "b")") +
      R"(op { type: "Copy" input: "b" output: "c" device_option { device_type: 20 device_id: 1 } })" +
      OnCPU(R"(type: "CountingWaitsStep")")));
  CountingContext user(TheSecondDevice());
  user.SwitchToDevice(0);
  const auto release = Hold(user);
  constexpr size_t kLarge = size_t{40} << 20;
  TheStep() = [&] {
    CountingDevice::SetCurrent(0);
    ws.GetBlob("b")->GetMutableTensor(kCounting)->FreeMemory();
    EXPECT_THROW(TheCountingStaticContext()->New(kLarge), EnforceNotMet);
    release();
  };
  EXPECT_TRUE(net->Run());
  CountingDevice::SetCurrent(0);
  const DataPtr again(TheCountingStaticContext()->New(kLarge));
}

// Operator 0 has no event, so the host waits for it before operator 1 starts on another stream.
TEST(WorkUnderWayTest, BeginsWithTheOperatorBeforeWhichTheHostHasWaited) {
  const PlannedNet net(
      Op(R"(type: "Relu" input: "a" output: "b")") + Op(R"(type: "Relu" input: "b" output: "c")") +
      Op(R"(type: "Relu" input: "c" output: "d")") + Op(R"(type: "Relu" input: "d" output: "e")"));
  const ExecutionOrder order = {{0, 1, 2, 3}, {0, 1, 1, 1}};
  net.operators->all()[0]->DisableEvent();
  const DeviceWaits waits = net.Plan(order);
  ASSERT_EQ(Text(waits), "1: 0-0; end: 1-3");
  const auto at = [&](size_t place) {
    return WorkUnderWay(net.operators->all(), order, waits, place);
  };
  EXPECT_EQ(at(1), "");
  EXPECT_THAT(at(2), testing::HasSubstr("operators 1 to 1 on COUNTING"));
  EXPECT_THAT(at(3), testing::HasSubstr("operators 1 to 2 on COUNTING"));
  EXPECT_EQ(at(4), "");
}

TEST(WorkUnderWayTest, NamesPositionsInTheOrderOfTheStartsAndOneDeviceOnly) {
  const std::string second = R"(device_option { device_type: 20 device_id: 1 } } )";
  const PlannedNet net(Op(R"(type: "Relu" input: "a" output: "b")") +
                       R"(op { type: "Relu" input: "x" output: "y" )" + second +
                       Op(R"(type: "Relu" input: "c" output: "d")"));
  const ExecutionOrder order = {.positions = {2, 1, 0}};
  const DeviceWaits waits = net.Plan(order);
  const auto at = [&](size_t place) {
    return WorkUnderWay(net.operators->all(), order, waits, place);
  };
  EXPECT_EQ(at(0), "");
  EXPECT_EQ(at(1), "") << "operator 1 is alone on its device";
  EXPECT_THAT(at(2), testing::HasSubstr("operators 2 to 1 on COUNTING"));
  CountingDevice::SetCurrent(0);  // operators have selected the second one
}

// A second device reads a blob of the first one that the net does not write.
TEST(DeviceUsesTest, AreOfInputsThatNoOperatorWrites) {
  const std::string second = R"(device_option { device_type: 20 device_id: 1 } } )";
  const PlannedNet net(Op(R"(type: "Relu" input: "a" output: "b")") +
                       R"(op { type: "Copy" input: "x" output: "y" )" + second +
                       R"(op { type: "Copy" input: "b" output: "z" )" + second);
  CountingDevice::SetCurrent(0);  // that of operator 0, which names none
  DeviceUses uses(net.operators->all(), net.operators->FindDependencies(), InOrderOfNet(3));
  ASSERT_FALSE(uses.empty());
  uses.BeginRun();
  CountingDevice::SetCurrent(0);
  Tensor host({2}, CPU);
  std::fill_n(host.mutable_data<float>(), 2, 1.f);
  for (const char* name : {"a", "b", "x"})
    net.ws->GetBlob(name)->GetMutableTensor(kCounting)->CopyFrom(host);
  const auto used = [&] { return CountingDevice::Get(0).counts().uses; };
  const int64_t before = used();
  uses.Record(0);
  EXPECT_EQ(used(), before) << "the memory is of the device itself";
  uses.Record(1);
  EXPECT_EQ(used(), before + 1) << "x";
  uses.Record(2);
  EXPECT_EQ(used(), before + 2) << "b, which the other device wrote";
  Feed<float>(net.ws, "x", {2}, {1, 2});
  net.ws->GetBlob("b")->Reset();
  uses.Record(1);
  uses.Record(2);
  EXPECT_EQ(used(), before + 2) << "memory of the CPU, and no memory at all";
}

}  // namespace
}  // namespace caffe2rt::test::counting_waits_test
