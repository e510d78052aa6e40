// Nets, operators and records on the counting device.
#include <gtest/gtest.h>

#include <thread>

#include "caffe2_core/graph/device_fallback.h"
#include "caffe2_core/io/blob_serialization.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "tests/contexts/counting/counting_context.h"
#include "tests/contexts/counting/gate.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test {
namespace {

// y = relu(x * w + b), all on the device; x, w and b come from the CPU and y goes back.
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
  ASSERT_TRUE(ws.RunNet("layer"));  // the failure left nothing behind
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

// --- nets of several devices ---

// y = relu(x) on the device, then z = y + x on the CPU.
constexpr const char* kMixed = R"(
  name: "mixed"
  op { type: "CopyFromCPUInput" input: "x" output: "x_device" device_option { device_type: 20 } }
  op { type: "Relu" input: "x_device" output: "y_device" device_option { device_type: 20 } }
  op { type: "EnsureCPUOutput" input: "y_device" output: "y" device_option { device_type: 20 } }
  op { type: "Add" input: "y" input: "x" output: "z" })";

// Runs the net while the device stands still until all `operations` are enqueued.
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
  EXPECT_EQ(Counts().waits, before.waits + 1);  // before the Add; nothing is left at the end
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

TEST(CountingNetTest, ErrorOfTheDeviceFailsTheNet) {
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

TEST(CountingNetTest, FailedOperatorTellsThoseWhoWait) {
  Workspace ws;
  FeedLayer(&ws);
  OperatorDef def = ParseOp(R"(type: "Add" input: "x" input: "w" output: "z")");
  def.mutable_device_option()->set_device_type(kCounting);
  const auto add = CreateOperator(def, &ws);  // whose inputs are on the CPU
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

TEST(CountingTensorTest, WaitsForTheCopyOfWhatWasReadOnly) {
  Tensor tensor(Tensor({4}, CPU), kCounting);
  tensor.mutable_data<float>();
  tensor.MarkReadOnly();
  const CountingCounts before = Counts();
  tensor.mutable_data<float>();
  EXPECT_EQ(Counts().copies_same_device, before.copies_same_device + 1);
  EXPECT_EQ(Counts().waits, before.waits + 1);
}

TEST(CountingSerializationTest, TensorComesBackOnTheVeryDevice) {
  CountingDevice::SetCurrent(1);
  Blob blob;
  Tensor host({2}, CPU);
  host.mutable_data<float>()[1] = 3;
  blob.GetMutableTensor(kCounting)->CopyFrom(host);
  CountingDevice::SetCurrent(0);
  const std::string record = SerializeBlob(blob, "w");
  Blob read;
  DeserializeBlob(record, &read);
  EXPECT_EQ(CountingDevice::Of(read.Get<Tensor>().raw_data()), 1);
  EXPECT_EQ(CountingDevice::Current(), 0);
  EXPECT_EQ(Tensor(read.Get<Tensor>(), CPU).data<float>()[1], 3.f);
  BlobProto proto;
  ASSERT_TRUE(proto.ParseFromString(record));
  proto.mutable_tensor()->mutable_device_detail()->set_device_id(7);
  ExpectThrows([&] { DeserializeBlob(proto, &read); }, "counting device 7");
  EXPECT_EQ(CountingDevice::Current(), 0);
}

TEST(CountingSerializationTest, ChunkedTensorComesBackOnTheDevice) {
  Tensor host({1000}, CPU);
  for (int i = 0; i < 1000; ++i) host.mutable_data<float>()[i] = static_cast<float>(i) / 8;
  Blob blob;
  blob.GetMutableTensor(kCounting)->CopyFrom(host);
  std::vector<std::string> records;
  SerializeBlob(
      blob, "w", [&](const std::string&, const std::string& record) { records.push_back(record); },
      300);
  ASSERT_EQ(records.size(), 4u);
  Blob read;
  for (const std::string& record : records) {
    BlobProto proto;
    ASSERT_TRUE(proto.ParseFromString(record));
    EXPECT_EQ(proto.tensor().device_detail().device_type(), 20);
    EXPECT_TRUE(proto.tensor().device_detail().has_device_id());
    EXPECT_EQ(proto.tensor().device_detail().device_id(), 0);
    DeserializeBlob(record, &read);
  }
  ASSERT_TRUE(read.IsTensor(kCounting));
  const Tensor back(read.Get<Tensor>(), CPU);
  for (int i = 0; i < 1000; ++i) ASSERT_EQ(back.data<float>()[i], static_cast<float>(i) / 8);
}

}  // namespace
}  // namespace caffe2rt::test
