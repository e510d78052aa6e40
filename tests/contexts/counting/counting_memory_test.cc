// Memory of the CPU whose blob moves to a device, and nets that fail while they hold it; graphs of nets on
// two devices, and what is not recorded.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <string>

#include "caffe2_core/base/logging.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "tests/contexts/counting/counting_context.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::counting_memory_test {
namespace {

// Launches work that fails when the test wants it to.
std::atomic<bool> fail{false};
class FailsOnDemandOp final : public Operator<CountingContext> {
 public:
  using Operator<CountingContext>::Operator;
  bool RunOnDevice() override {
    context_.Launch([] { CAFFE_ENFORCE(!fail, "the device failed on demand"); });
    return true;
  }
};
REGISTER_DEVICE_OPERATOR(20, FailsOnDemand, FailsOnDemandOp);
OPERATOR_SCHEMA(FailsOnDemand).NumInputs(1).NumOutputs(0);

// Feeds a tensor of the CPU that counts when its memory is freed.
void FeedCounted(Workspace* ws, float* values, int* freed) {
  Tensor tensor({2}, CPU);
  tensor.ShareExternalPointer(values, 2 * sizeof(float), [freed](void*) { ++*freed; });
  *ws->CreateBlob("x")->GetMutable<Tensor>() = std::move(tensor);
}

// x moves to the device while the device still copies it. An operator of the CPU may run beside that.
constexpr const char* kMoves = R"(
  name: "moves" arg { name: "inject_copies" i: 0 }
  op { type: "CopyFromCPUInput" input: "x" output: "d" device_option { device_type: 20 } }
  op { type: "Relu" input: "d" output: "x" device_option { device_type: 20 } }
  op { type: "FailsOnDemand" input: "x" device_option { device_type: 20 } }
  op { type: "ConstantFill" output: "apart" })";

TEST(CountingMemoryTest, MemoryThatMovesIsFreedByTheEndOfTheRun) {
  for (const char* const type : {"simple", "dag", "async_scheduling"}) {
    SCOPED_TRACE(type);
    Workspace ws;
    std::array<float, 2> values = {-1, 2};
    int freed = 0;
    FeedCounted(&ws, values.data(), &freed);
    NetDef net = ParseNet(kMoves);
    net.set_type(type);
    ws.CreateNet(net);
    ASSERT_TRUE(ws.RunNet("moves"));
    EXPECT_EQ(freed, 1);
    EXPECT_TRUE(ws.GetBlob("x")->IsTensor(kCounting));
    const Tensor x(ws.GetBlob("x")->Get<Tensor>(), CPU);
    EXPECT_EQ(x.data<float>()[1], 2);
  }
}

// A run that fails keeps it up to the next run, which may fail too.
TEST(CountingMemoryTest, TheNextRunFreesTheMemoryOfAFailedOne) {
  for (const char* const type : {"simple", "dag", "async_scheduling"}) {
    SCOPED_TRACE(type);
    Workspace ws;
    std::array<float, 2> values = {-1, 2};
    int first = 0, second = 0;
    FeedCounted(&ws, values.data(), &first);
    NetDef net = ParseNet(kMoves);
    net.set_type(type);
    ws.CreateNet(net);
    fail = true;
    ExpectThrows([&] { ws.RunNet("moves"); }, "the device failed on demand");
    FeedCounted(&ws, values.data(), &second);
    ExpectThrows([&] { ws.RunNet("moves"); }, "the device failed on demand");
    fail = false;
    EXPECT_EQ(first, 1);
    ASSERT_TRUE(ws.RunNetOnce(ParseNet(R"(op { type: "ConstantFill" output: "x" })")));
    FeedCounted(&ws, values.data(), &second);
    ASSERT_TRUE(ws.RunNet("moves"));
    EXPECT_EQ(second, 2);
  }
}

// What five runs log.
std::string LogOfRuns(const NetDef& net, Workspace* ws) {
  SetLogThreshold(1);
  testing::internal::CaptureStderr();
  ws->CreateNet(net);
  for (int run = 0; run < 5; ++run) EXPECT_TRUE(ws->RunNet(net.name()));
  SetLogThreshold(2);
  return testing::internal::GetCapturedStderr();
}

int64_t Graphs(int device) { return CountingDevice::Get(device).counts().graphs; }

TEST(CountingMemoryTest, NetsWhoseBlobsMoveRecordNoGraph) {
  Workspace ws;
  Feed<float>(&ws, "x", {2}, {3, -4});
  const int64_t graphs = Graphs(0);
  const std::string log = LogOfRuns(ParseNet(R"(
    name: "moves" arg { name: "inject_copies" i: 0 } arg { name: "cuda_graph" i: 1 }
    op { type: "CopyFromCPUInput" input: "x" output: "d" device_option { device_type: 20 } }
    op { type: "Relu" input: "d" output: "e" device_option { device_type: 20 } }
    op { type: "Add" input: "e" input: "e" output: "x" device_option { device_type: 20 } }
    op { type: "EnsureCPUOutput" input: "x" output: "y" device_option { device_type: 20 } }
    op { type: "Copy" input: "y" output: "x" })"),
                                    &ws);
  EXPECT_EQ(Graphs(0), graphs);
  EXPECT_THAT(log, testing::HasSubstr("net \"moves\": argument cuda_graph has no effect on a net "
                                      "whose blobs move between the CPU and a device"));
  ExpectTensor<float>(ws, "x", {2}, {96, 0});
}

TEST(CountingMemoryTest, ADeviceWithoutGraphsIsNamedOnce) {
  Workspace ws;
  Feed<float>(&ws, "x", {2}, {3, -4});
  CountingStaticContext::supports_graphs = false;
  const std::string log = LogOfRuns(ParseNet(R"(
    name: "plain" device_option { device_type: 20 } arg { name: "cuda_graph" i: 1 }
    op { type: "CopyFromCPUInput" input: "x" output: "d" }
    op { type: "Relu" input: "d" output: "e" }
    op { type: "Add" input: "e" input: "d" output: "f" }
    op { type: "Relu" input: "f" output: "f" }
    op { type: "EnsureCPUOutput" input: "f" output: "y" })"),
                                    &ws);
  CountingStaticContext::supports_graphs = true;
  const std::string warning =
      "net \"plain\": argument cuda_graph has no effect on COUNTING, which does not support graphs";
  const size_t first = log.find(warning);
  ASSERT_NE(first, std::string::npos) << log;
  EXPECT_EQ(log.find("graph", first + warning.size()), std::string::npos) << log;
  ExpectTensor<float>(ws, "y", {2}, {6, 0});
}

// The memory stays where it is: 8 bytes of two floats, and then of two integers.
TEST(CountingMemoryTest, AGraphIsNotReplayedOnAnotherElementType) {
  Workspace ws;
  Feed<float>(&ws, "x", {2}, {3, -4});
  ASSERT_TRUE(ws.RunNetOnce(ParseNet(
      R"(op { type: "CopyFromCPUInput" input: "x" output: "d" device_option { device_type: 20 } })")));
  const int64_t graphs = Graphs(0);
  EXPECT_EQ(LogOfRuns(ParseNet(R"(
    name: "typed" device_option { device_type: 20 } arg { name: "cuda_graph" i: 1 }
    op { type: "Add" input: "d" input: "d" output: "e" }
    op { type: "Relu" input: "e" output: "f" })"),
                      &ws),
            "");
  EXPECT_EQ(Graphs(0), graphs + 3);
  Tensor* const d = ws.GetBlob("d")->GetMutable<Tensor>();
  const void* const memory = d->raw_data();
  ASSERT_EQ(d->raw_mutable_data(TypeMeta::Make<int32_t>()), memory);
  ExpectThrows([&] { ws.RunNet("typed"); }, "int32");
  EXPECT_EQ(Graphs(0), graphs + 3);
}

TEST(CountingMemoryTest, EachDeviceHasItsOwnGraph) {
  Workspace ws;
  Feed<float>(&ws, "x", {2}, {-1, 2});
  ASSERT_TRUE(ws.RunNetOnce(ParseNet(R"(
    op { type: "CopyFromCPUInput" input: "x" output: "a" device_option { device_type: 20 device_id: 0 } }
    op { type: "CopyFromCPUInput" input: "x" output: "b" device_option { device_type: 20 device_id: 1 } })")));
  const int64_t here = Graphs(0), there = Graphs(1);
  EXPECT_EQ(LogOfRuns(ParseNet(R"(
    name: "apart" arg { name: "cuda_graph" i: 1 }
    op { type: "Add" input: "a" input: "a" output: "c" device_option { device_type: 20 device_id: 0 } }
    op { type: "Relu" input: "c" output: "d" device_option { device_type: 20 device_id: 0 } }
    op { type: "Add" input: "b" input: "b" output: "e" device_option { device_type: 20 device_id: 1 } }
    op { type: "Add" input: "e" input: "b" output: "f" device_option { device_type: 20 device_id: 1 } })"),
                      &ws),
            "");
  EXPECT_EQ(Graphs(0), here + 3);
  EXPECT_EQ(Graphs(1), there + 3);
  const Tensor d(ws.GetBlob("d")->Get<Tensor>(), CPU), f(ws.GetBlob("f")->Get<Tensor>(), CPU);
  EXPECT_EQ(d.data<float>()[1], 4);
  EXPECT_EQ(f.data<float>()[0], -3);
  CountingDevice::SetCurrent(0);
}

// Whether its operators are enqueued one by one or recorded, one that returns false fails its run.
std::atomic<int> runs_left{0};
class EndsInFalseOp final : public Operator<CountingContext> {
 public:
  using Operator<CountingContext>::Operator;
  bool RunOnDevice() override {
    Output(0)->CopyFrom(Input(0), &context_);
    return --runs_left >= 0;
  }
};
REGISTER_DEVICE_OPERATOR(20, EndsInFalse, EndsInFalseOp);
OPERATOR_SCHEMA(EndsInFalse).NumInputs(1).NumOutputs(1);

TEST(CountingMemoryTest, AnOperatorThatFailsWhileItIsRecordedRunsOnItsOwn) {
  Workspace ws;
  Feed<float>(&ws, "x", {2}, {-1, 2});
  ASSERT_TRUE(ws.RunNetOnce(ParseNet(
      R"(op { type: "CopyFromCPUInput" input: "x" output: "a" device_option { device_type: 20 } })")));
  ws.CreateNet(ParseNet(R"(
    name: "n" device_option { device_type: 20 } arg { name: "cuda_graph" i: 1 }
    op { type: "Relu" input: "a" output: "b" }
    op { type: "EndsInFalse" input: "b" output: "c" })"));
  runs_left = 2;
  for (int run = 0; run < 2; ++run) ASSERT_TRUE(ws.RunNet("n"));
  SetLogThreshold(1);
  testing::internal::CaptureStderr();
  ExpectThrows([&] { ws.RunNet("n"); }, "operator 1 (EndsInFalse");
  SetLogThreshold(2);
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              testing::HasSubstr("net \"n\": operator 1 (EndsInFalse) is run on its own, not in a "
                                 "graph: the operator reports a failure"));
  runs_left = 1;
  const int64_t graphs = Graphs(0);
  ASSERT_TRUE(ws.RunNet("n"));
  EXPECT_EQ(Graphs(0), graphs);
}

TEST(CountingMemoryTest, OperatorsThatDrawNumbersAreNamed) {
  Workspace ws;
  Feed<float>(&ws, "x", {2}, {-1, 2});
  ASSERT_TRUE(ws.RunNetOnce(ParseNet(
      R"(op { type: "CopyFromCPUInput" input: "x" output: "a" device_option { device_type: 20 } })")));
  SetLogThreshold(1);
  testing::internal::CaptureStderr();
  ws.CreateNet(ParseNet(R"(
    name: "n" device_option { device_type: 20 } arg { name: "cuda_graph" i: 1 }
    op { type: "Relu" input: "a" output: "b" }
    op { type: "Dropout" input: "b" output: "c" output: "m" arg { name: "is_test" i: 0 } })"));
  SetLogThreshold(2);
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              testing::HasSubstr("net \"n\": operator 1 (Dropout) is run on its own, not in a "
                                 "graph: it draws random numbers"));
}

}  // namespace
}  // namespace caffe2rt::test::counting_memory_test
