// Nets of several devices, and failures that occur after an operator has returned.
#include <gtest/gtest.h>

#include <thread>

#include "caffe2_core/runtime/operator_registry.h"
#include "tests/contexts/counting/counting_context.h"
#include "tests/contexts/counting/gate.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::counting_mixed_net_test {
namespace {

CountingCounts Counts() { return CountingDevice::Get(0).counts(); }

// y = relu(x) on the device, then z = y + x on the CPU.
constexpr const char* kMixed = R"(
  name: "mixed"
  op { type: "CopyFromCPUInput" input: "x" output: "x_device" device_option { device_type: 20 } }
  op { type: "Relu" input: "x_device" output: "y_device" device_option { device_type: 20 } }
  op { type: "EnsureCPUOutput" input: "y_device" output: "y" device_option { device_type: 20 } }
  op { type: "Add" input: "y" input: "x" output: "z" })";

// Runs the net while the device is held until all `operations` are enqueued.
void RunHeld(Workspace* ws, const std::string& name, int64_t operations) {
  CountingContext context;
  const auto release = Hold(context);
  const int64_t last = Counts().operations + operations;
  std::thread releaser([&] {
    while (Counts().operations < last) std::this_thread::yield();
    release();
  });
  EXPECT_TRUE(ws->RunNet(name));
  releaser.join();
}

TEST(CountingMixedNetTest, CpuOperatorWaitsForWhatItReads) {
  Workspace ws;
  Feed<float>(&ws, "x", {3}, {-1, 2, 3});
  ws.CreateNet(ParseNet(kMixed));
  const CountingCounts before = Counts();
  RunHeld(&ws, "mixed", 3);
  ExpectTensor<float>(ws, "z", {3}, {-1, 4, 6});
  // One wait, before the Add; none is needed at the end.
  EXPECT_EQ(Counts().waits, before.waits + 1);
}

TEST(CountingMixedNetTest, CpuOperatorWaitsBeforeItWritesWhatTheDeviceStillReads) {
  Workspace ws;
  Feed<float>(&ws, "x", {2}, {1, 2});
  ws.CreateNet(ParseNet(R"(
    name: "overwrites"
    op { type: "CopyFromCPUInput" input: "x" output: "d" device_option { device_type: 20 } }
    op { type: "ConstantFill" output: "x" arg { name: "shape" ints: 2 } arg { name: "value" f: 9 } }
    op { type: "EnsureCPUOutput" input: "d" output: "y" device_option { device_type: 20 } })"));
  RunHeld(&ws, "overwrites", 1);
  ExpectTensor<float>(ws, "x", {2}, {9, 9});
  ExpectTensor<float>(ws, "y", {2}, {1, 2});
}

TEST(CountingMixedNetTest, CpuOperatorThatTouchesNothingOfTheDeviceDoesNotWait) {
  Workspace ws;
  Feed<float>(&ws, "x", {2}, {1, 2});
  Feed<float>(&ws, "other", {2}, {5, -6});
  ws.CreateNet(ParseNet(R"(
    name: "apart"
    op { type: "CopyFromCPUInput" input: "x" output: "d" device_option { device_type: 20 } }
    op { type: "Relu" input: "other" output: "r" }
    op { type: "Relu" input: "d" output: "e" device_option { device_type: 20 } })"));
  const CountingCounts before = Counts();
  RunHeld(&ws, "apart", 2);  // a wait before the CPU's Relu would never end
  EXPECT_EQ(Counts().waits, before.waits + 1);
  ExpectTensor<float>(ws, "r", {2}, {5, 0});
}

TEST(CountingMixedNetTest, DeviceWaitsForAnother) {
  Workspace ws;
  Feed<float>(&ws, "x", {2}, {-1, 2});
  ws.CreateNet(ParseNet(R"(
    name: "two"
    op { type: "CopyFromCPUInput" input: "x" output: "d" device_option { device_type: 20 device_id: 0 } }
    op { type: "Relu" input: "d" output: "e" device_option { device_type: 20 device_id: 1 } }
    op { type: "EnsureCPUOutput" input: "e" output: "y" device_option { device_type: 20 device_id: 1 } })"));
  const int64_t waits = Counts().waits, there = CountingDevice::Get(1).counts().waits;
  RunHeld(&ws, "two", 1);
  EXPECT_EQ(Counts().waits, waits + 1);
  EXPECT_EQ(CountingDevice::Get(1).counts().waits, there + 1);
  ExpectTensor<float>(ws, "y", {2}, {0, 2});
  CountingDevice::SetCurrent(0);
}

TEST(CountingMixedNetTest, ReportsUsesOfMemoryByAnotherDevice) {
  Workspace ws;
  Feed<float>(&ws, "x", {2}, {-1, 2});
  ws.CreateNet(ParseNet(R"(
    name: "two"
    op { type: "CopyFromCPUInput" input: "x" output: "d" device_option { device_type: 20 device_id: 0 } }
    op { type: "Relu" input: "d" output: "e" device_option { device_type: 20 device_id: 0 } }
    op { type: "Copy" input: "e" output: "f" device_option { device_type: 20 device_id: 1 } }
    op { type: "Add" input: "f" input: "f" output: "g" device_option { device_type: 20 device_id: 1 } }
    arg { name: "inject_copies" i: 0 })"));
  ws.CreateNet(ParseNet(R"(
    name: "one"
    op { type: "Relu" input: "d" output: "h" device_option { device_type: 20 device_id: 0 } })"));
  const int64_t here = Counts().uses, there = CountingDevice::Get(1).counts().uses;
  ASSERT_TRUE(ws.RunNet("two"));
  EXPECT_EQ(Counts().uses, here + 1);  // the use of e
  EXPECT_EQ(CountingDevice::Get(1).counts().uses, there);
  ASSERT_TRUE(ws.RunNet("one"));
  EXPECT_EQ(Counts().uses, here + 1);
  CountingDevice::SetCurrent(0);
}

TEST(CountingMixedNetTest, ReportsMemoryFoundOnAnotherDevice) {
  Workspace ws;
  Feed<float>(&ws, "x", {2}, {-1, 2});
  ASSERT_TRUE(ws.RunNetOnce(ParseNet(R"(
    op { type: "CopyFromCPUInput" input: "x" output: "a" device_option { device_type: 20 device_id: 0 } }
    op { type: "CopyFromCPUInput" input: "x" output: "b" device_option { device_type: 20 device_id: 0 } })")));
  ws.CreateNet(ParseNet(R"(
    name: "apart" arg { name: "inject_copies" i: 0 }
    op { type: "Relu" input: "a" output: "c" device_option { device_type: 20 device_id: 0 } }
    op { type: "Copy" input: "b" output: "d" device_option { device_type: 20 device_id: 1 } })"));
  const int64_t uses = Counts().uses;
  ASSERT_TRUE(ws.RunNet("apart"));  // the only wait is at its end
  EXPECT_EQ(Counts().uses, uses + 1);
  CountingDevice::SetCurrent(0);
}

// Fails on the device, after RunOnDevice has returned.
class FailsLaterOp final : public Operator<CountingContext> {
 public:
  using Operator<CountingContext>::Operator;
  bool RunOnDevice() override {
    context_.Launch([] { CAFFE_THROW("the device failed later"); });
    return true;
  }
};
REGISTER_DEVICE_OPERATOR(20, FailsLater, FailsLaterOp);
OPERATOR_SCHEMA(FailsLater).NumInputs(0).NumOutputs(0, 1);

TEST(CountingMixedNetTest, ErrorOfTheDeviceFailsTheNet) {
  Workspace ws;
  ws.CreateNet(ParseNet(R"(name: "fails" device_option { device_type: 20 }
                           op { type: "FailsLater" })"));
  ExpectThrows([&] { ws.RunNet("fails"); }, "the device failed later");
  ExpectThrows([&] { ws.RunNet("fails"); },
               "net \"fails\": work of operator 0 (FailsLater) on COUNTING: ");
}

TEST(CountingMixedNetTest, ErrorNamesTheOperatorsSinceTheLastWait) {
  Workspace ws;
  Feed<float>(&ws, "x", {2}, {1, 2});
  ws.CreateNet(ParseNet(R"(
    name: "late"
    op { type: "CopyFromCPUInput" input: "x" output: "d" device_option { device_type: 20 } }
    op { type: "FailsLater" device_option { device_type: 20 } }
    op { type: "EnsureCPUOutput" input: "d" output: "y" device_option { device_type: 20 } }
    op { type: "Relu" input: "y" output: "z" })"));
  ExpectThrows([&] { ws.RunNet("late"); },
               "net \"late\": work of operators 0 to 2 (EnsureCPUOutput");
}

}  // namespace
}  // namespace caffe2rt::test::counting_mixed_net_test
