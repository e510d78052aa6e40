// Nets and operators on the counting device.
#include <gtest/gtest.h>

#include <algorithm>

#include "caffe2_core/graph/device_fallback.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "tests/contexts/counting/counting_context.h"
#include "tests/contexts/counting/gate.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::counting_net_test {
namespace {

// y = relu(x * w + b), computed on the device. x, w and b are copied from the CPU, and y is copied
// back.
constexpr const char* kLayer = R"(
  name: "layer" device_option { device_type: 20 }
  op { type: "CopyFromCPUInput" input: "x" output: "x_device" }
  op { type: "CopyFromCPUInput" input: "w" output: "w_device" }
  op { type: "ConstantFill" output: "b" arg { name: "shape" ints: 2 ints: 2 } arg { name: "value" f: -20 } }
  op { type: "MatMul" input: "x_device" input: "w_device" output: "xw" }
  op { type: "Add" input: "xw" input: "b" output: "sum" }
  op { type: "Relu" input: "sum" output: "sum" }
  op { type: "EnsureCPUOutput" input: "sum" output: "y" })";

void FeedLayer(Workspace* ws) {
  Feed<float>(ws, "x", {2, 2}, {1, 2, 3, 4});
  Feed<float>(ws, "w", {2, 2}, {5, 6, 7, 8});
}
// x * w is {19, 22, 43, 50}.
const std::vector<float> kWant = {0, 2, 23, 30};

CountingCounts Counts() { return CountingDevice::Get(0).counts(); }

TEST(CountingNetTest, RunsThroughCopies) {
  Workspace ws;
  FeedLayer(&ws);
  ws.CreateNet(ParseNet(kLayer));
  ASSERT_TRUE(ws.RunNet("layer"));
  ExpectTensor<float>(ws, "y", {2, 2}, kWant);
  EXPECT_TRUE(ws.GetBlob("sum")->IsTensor(kCounting));
  EXPECT_EQ(DeviceTypeName(20), "COUNTING");
}

TEST(CountingNetTest, AllocatesNothingFromTheSecondRunOn) {
  Workspace ws;
  FeedLayer(&ws);
  ws.CreateNet(ParseNet(kLayer));
  ASSERT_TRUE(ws.RunNet("layer"));
  const CountingCounts before = Counts();
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(ws.RunNet("layer"));
  const CountingCounts after = Counts();
  EXPECT_EQ(after.allocations, before.allocations);
  EXPECT_EQ(after.frees, before.frees);
  EXPECT_EQ(after.copies_from_cpu, before.copies_from_cpu + 3 * 2);
  EXPECT_EQ(after.copies_to_cpu, before.copies_to_cpu + 3);
  EXPECT_EQ(after.operations, before.operations + 3 * 7);
}

TEST(CountingNetTest, SeesNewInputsInEachRun) {
  Workspace ws;
  FeedLayer(&ws);
  ws.CreateNet(ParseNet(kLayer));
  ASSERT_TRUE(ws.RunNet("layer"));
  Feed<float>(&ws, "x", {2, 2}, {2, 0, 0, 5});
  ASSERT_TRUE(ws.RunNet("layer"));
  ExpectTensor<float>(ws, "y", {2, 2}, {0, 0, 15, 20});
}

TEST(CountingNetTest, CpuNetReadsWhatTheDeviceNetLeft) {
  Workspace ws;
  FeedLayer(&ws);
  ws.CreateNet(ParseNet(kLayer));
  ws.CreateNet(ParseNet(R"(name: "after" op { type: "Add" input: "y" input: "x" output: "z" })"));
  ASSERT_TRUE(ws.RunNet("layer"));
  ASSERT_TRUE(ws.RunNet("after"));
  ExpectTensor<float>(ws, "z", {2, 2}, {1, 4, 26, 34});
}

TEST(CountingNetTest, NamesNetAndOperatorWhenShapesDoNotFit) {
  Workspace ws;
  FeedLayer(&ws);
  Feed<float>(&ws, "w", {3, 2}, {1, 2, 3, 4, 5, 6});
  ws.CreateNet(ParseNet(kLayer));
  ExpectThrows([&] { ws.RunNet("layer"); }, "net \"layer\", operator 3 (MatMul");
  FeedLayer(&ws);
  ASSERT_TRUE(ws.RunNet("layer"));  // the failure has no lasting effect
  ExpectTensor<float>(ws, "y", {2, 2}, kWant);
}

TEST(CountingNetTest, WaitsOnceAtTheEnd) {
  Workspace ws;
  FeedLayer(&ws);
  ws.CreateNet(ParseNet(kLayer));
  const CountingCounts before = Counts();
  ASSERT_TRUE(ws.RunNet("layer"));
  EXPECT_EQ(Counts().waits, before.waits + 1);
}

TEST(CountingNetTest, OperatorsWaitForEachOthersEventsAcrossStreams) {
  Workspace ws;
  FeedLayer(&ws);
  const auto make = [&](const char* text) {
    OperatorDef def = ParseOp(text);
    def.mutable_device_option()->set_device_type(kCounting);
    return CreateOperator(def, &ws);
  };
  const auto copy = make(R"(type: "CopyFromCPUInput" input: "x" output: "d")");
  const auto add = make(R"(type: "Add" input: "d" input: "d" output: "e")");
  const auto back = make(R"(type: "EnsureCPUOutput" input: "e" output: "y")");
  EXPECT_TRUE(copy->HasAsyncPart());
  EXPECT_TRUE(copy->SupportsAsyncScheduling());
  const auto run = [&] {
    CountingContext held;
    held.SwitchToDevice(11);
    const auto release = Hold(held);
    ASSERT_TRUE(copy->RunAsync(11));
    EXPECT_FALSE(copy->IsStreamFree(11));
    EXPECT_TRUE(copy->event().IsScheduled());
    add->WaitEvents({&copy->event()}, 12);
    ASSERT_TRUE(add->RunAsync(12));
    back->WaitEvent(add->event(), 13);
    ASSERT_TRUE(back->RunAsync(13));
    EXPECT_TRUE(Event::CanSchedule(copy->event(), kCounting, add->SupportsAsyncScheduling()));
    release();
    back->Finish();
    ExpectTensor<float>(ws, "y", {2, 2}, {2, 4, 6, 8});
    for (const auto& op : {copy.get(), add.get(), back.get()}) {
      EXPECT_EQ(op->event().Query(), EventStatus::EVENT_SUCCESS);
      op->ResetEvent();
    }
  };
  run();
  run();
}

TEST(CountingNetTest, FailedOperatorReportsToItsWaiters) {
  Workspace ws;
  FeedLayer(&ws);
  OperatorDef def = ParseOp(R"(type: "Add" input: "x" input: "w" output: "z")");
  def.mutable_device_option()->set_device_type(kCounting);
  const auto add = CreateOperator(def, &ws);  // its inputs are on the CPU
  EXPECT_THROW(add->RunAsync(0), EnforceNotMet);
  EXPECT_EQ(add->event().Query(), EventStatus::EVENT_FAILED);
  EXPECT_NE(add->event().ErrorMessage().find("want one on COUNTING"), std::string::npos);
}

TEST(CountingNetTest, StaysOnTheDeviceWhenFallbackIsAsked) {
  NetDef net = ParseNet(kLayer);
  EXPECT_TRUE(FallBackToCPU(&net).empty());
  EXPECT_EQ(net.device_option().device_type(), 20);
}

TEST(CountingNetTest, ListsItsOperators) {
  const std::vector<std::string> types = RegisteredOperatorTypes(kCounting);
  for (const char* type :
       {"Add", "ConstantFill", "Copy", "CopyFromCPUInput", "EnsureCPUOutput", "MatMul", "Relu"}) {
    EXPECT_TRUE(HasOperator(kCounting, type)) << type;
    EXPECT_THAT(types, testing::Contains(type));
  }
  Workspace ws;
  OperatorDef def = ParseOp(R"(type: "Softmax" input: "x" output: "y")");
  def.mutable_device_option()->set_device_type(kCounting);
  FeedLayer(&ws);
  ExpectThrows([&] { CreateOperator(def, &ws); }, "COUNTING");
}

// The stream of a run is that of its own call, not that of an earlier one.
TEST(CountingNetTest, AnOperatorEnqueuesItsWorkOnTheStreamOfEachRun) {
  Workspace ws;
  CountingDevice::SetCurrent(0);
  Tensor host({2}, CPU);
  std::fill_n(host.mutable_data<float>(), 2, -1.f);
  ws.CreateBlob("x")->GetMutableTensor(kCounting)->CopyFrom(host);
  const auto op = CreateOperator(
      ParseOp(R"(type: "Relu" input: "x" output: "y" device_option { device_type: 20 })"), &ws);
  CountingDevice& device = CountingDevice::Get(0);
  for (const int stream : {0, 1, 0, 2, 1, 0}) {
    int64_t before[3];
    for (int id = 0; id < 3; ++id) before[id] = device.stream(id).enqueued();
    ASSERT_TRUE(op->Run(stream));
    for (int id = 0; id < 3; ++id) {
      EXPECT_EQ(device.stream(id).enqueued() > before[id], id == stream) << stream << " " << id;
    }
  }
  const Tensor y(ws.GetBlob("y")->Get<Tensor>(), CPU);
  EXPECT_EQ(y.data<float>()[0], 0);
}

}  // namespace
}  // namespace caffe2rt::test::counting_net_test
