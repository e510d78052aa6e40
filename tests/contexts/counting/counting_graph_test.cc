// The net arguments cuda_graph and cuda_sync on the counting device.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <thread>
#include <utility>

#include "caffe2_core/base/logging.h"
#include "caffe2_core/runtime/net.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "tests/contexts/counting/counting_context.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::counting_graph_test {
namespace {

CountingCounts Counts() { return CountingDevice::Get(0).counts(); }

void FeedDevice(Workspace* ws, const std::string& name, const std::vector<int64_t>& dims,
                const std::vector<float>& values) {
  Tensor host(dims, CPU);
  std::copy(values.begin(), values.end(), host.mutable_data<float>());
  ws->CreateBlob(name)->GetMutableTensor(kCounting)->CopyFrom(host);
}

std::vector<float> FetchDevice(const Workspace& ws, const std::string& name) {
  const Tensor host(ws.GetBlob(name)->Get<Tensor>(), CPU);
  return {host.data<float>(), host.data<float>() + host.numel()};
}

// y = relu(x + x) + x, with three operators.
constexpr const char* kThree = R"(
  name: "three" device_option { device_type: 20 } arg { name: "cuda_graph" i: 1 }
  op { type: "Add" input: "x" input: "x" output: "a" }
  op { type: "Relu" input: "a" output: "b" }
  op { type: "Add" input: "b" input: "x" output: "y" })";

using Floats = std::vector<float>;

TEST(CountingGraphTest, ThirdRunRecordsAndLaterOnesReplay) {
  Workspace ws;
  FeedDevice(&ws, "x", {2}, {-1, 2});
  ws.CreateNet(ParseNet(kThree));
  const CountingCounts start = Counts();
  for (int run = 1; run <= 5; ++run) {
    FeedDevice(&ws, "x", {2}, {-1, static_cast<float>(run)});  // written to the existing memory
    ASSERT_TRUE(ws.RunNet("three"));
    EXPECT_EQ(FetchDevice(ws, "y"), (Floats{-1, 3.f * static_cast<float>(run)}));
    EXPECT_EQ(Counts().graphs - start.graphs, std::max(0, run - 2));
  }
  // The copies made by the test, and the operators of the first two runs.
  const int64_t copies = Counts().copies_from_cpu + Counts().copies_to_cpu - start.copies_from_cpu -
                         start.copies_to_cpu;
  EXPECT_EQ(Counts().operations - start.operations, copies + 2 * 3);
}

TEST(CountingGraphTest, OneWaitAndNoAllocationInASteadyRun) {
  Workspace ws;
  FeedDevice(&ws, "x", {2}, {-1, 2});
  ws.CreateNet(ParseNet(kThree));
  for (int run = 0; run < 3; ++run) ASSERT_TRUE(ws.RunNet("three"));
  const CountingCounts before = Counts();
  for (int run = 0; run < 3; ++run) ASSERT_TRUE(ws.RunNet("three"));
  EXPECT_EQ(Counts().waits, before.waits + 3);
  EXPECT_EQ(Counts().allocations, before.allocations);
  EXPECT_EQ(Counts().graphs, before.graphs + 3);
}

TEST(CountingGraphTest, CapturesAgainIfAShapeChanges) {
  Workspace ws;
  FeedDevice(&ws, "x", {2}, {-1, 2});
  ws.CreateNet(ParseNet(kThree));
  for (int run = 0; run < 4; ++run) ASSERT_TRUE(ws.RunNet("three"));
  FeedDevice(&ws, "x", {3}, {1, 2, -3});
  const int64_t graphs = Counts().graphs;
  for (int run = 1; run <= 4; ++run) {
    ASSERT_TRUE(ws.RunNet("three"));
    EXPECT_EQ(FetchDevice(ws, "y"), (Floats{3, 6, -3}));
    EXPECT_EQ(Counts().graphs - graphs, std::max(0, run - 2));
  }
}

TEST(CountingGraphTest, CapturesAgainIfABlobMoves) {
  Workspace ws;
  FeedDevice(&ws, "x", {2}, {-1, 2});
  ws.CreateNet(ParseNet(kThree));
  for (int run = 0; run < 4; ++run) ASSERT_TRUE(ws.RunNet("three"));
  for (const char* name : {"x", "y", "b"}) {
    SCOPED_TRACE(name);
    const Tensor kept = ws.GetBlob(name)->Get<Tensor>();  // so that different memory is allocated
    *ws.GetBlob(name)->GetMutable<Tensor>() = Tensor(kCounting);
    FeedDevice(&ws, "x", {2}, {5, -7});
    const int64_t graphs = Counts().graphs;
    for (int run = 1; run <= 4; ++run) {
      ASSERT_TRUE(ws.RunNet("three"));
      EXPECT_EQ(FetchDevice(ws, "y"), (Floats{15, -7}));
      // Only the address of x has changed; the others have no memory.
      EXPECT_EQ(Counts().graphs - graphs, std::string(name) == "x" ? run : std::max(0, run - 2));
    }
  }
}

TEST(CountingGraphTest, KeepsTheGraphsOfSeveralAddresses) {
  Workspace ws;
  FeedDevice(&ws, "x", {2}, {-1, 2});
  ws.CreateNet(ParseNet(kThree));
  for (int run = 0; run < 3; ++run) ASSERT_TRUE(ws.RunNet("three"));
  Tensor* const x = ws.GetBlob("x")->GetMutable<Tensor>();
  std::vector<Tensor> buffers;  // more than graphs are kept
  for (int i = 0; i < 6; ++i) {
    Tensor host({2}, CPU);
    host.mutable_data<float>()[0] = -1;
    host.mutable_data<float>()[1] = static_cast<float>(i);
    buffers.emplace_back(host, kCounting);
  }
  const CountingCounts before = Counts();
  for (int run = 0; run < 18; ++run) {
    const size_t i = static_cast<size_t>(run < 12 ? run % 6 : run % 2);
    x->ShareData(buffers[i]);
    ASSERT_TRUE(ws.RunNet("three"));
    EXPECT_EQ(FetchDevice(ws, "y"), (Floats{-1, 3.f * static_cast<float>(i)})) << run;
  }
  EXPECT_EQ(Counts().graphs, before.graphs + 18);
}

// A blob that has the memory of the run before last gets the result there, wherever it is in the net.
TEST(CountingGraphTest, EachBlobMayChangeBetweenTwoAddresses) {
  for (const char* name : {"x", "a", "b", "y"}) {
    SCOPED_TRACE(name);
    Workspace ws;
    FeedDevice(&ws, "x", {2}, {-1, 2});
    ws.CreateNet(ParseNet(kThree));
    for (int run = 0; run < 3; ++run) ASSERT_TRUE(ws.RunNet("three"));
    Tensor host({2}, CPU);
    std::fill_n(host.mutable_data<float>(), 2, 99.f);
    Tensor other(host, kCounting);
    for (int run = 1; run <= 8; ++run) {
      std::swap(*ws.GetBlob(name)->GetMutable<Tensor>(), other);
      FeedDevice(&ws, "x", {2}, {-1, static_cast<float>(run)});
      ASSERT_TRUE(ws.RunNet("three"));
      EXPECT_EQ(FetchDevice(ws, "y"), (Floats{-1, 3.f * static_cast<float>(run)})) << run;
    }
  }
}

// The oldest graph is replaced; at its addresses, another one is recorded.
TEST(CountingGraphTest, RecordsAgainWhatWasReplaced) {
  Workspace ws;
  FeedDevice(&ws, "x", {2}, {-1, 2});
  ws.CreateNet(ParseNet(kThree));
  for (int run = 0; run < 3; ++run) ASSERT_TRUE(ws.RunNet("three"));
  Tensor* const x = ws.GetBlob("x")->GetMutable<Tensor>();
  const Tensor original = *x;  // its graph is the first one to be replaced
  std::vector<Tensor> buffers;
  for (int i = 0; i < 40; ++i) {
    Tensor host({2}, CPU);
    host.mutable_data<float>()[0] = -1;
    host.mutable_data<float>()[1] = static_cast<float>(i);
    buffers.emplace_back(host, kCounting);
  }
  const CountingCounts before = Counts();
  for (int run = 0; run < 120; ++run) {
    const size_t i = static_cast<size_t>(run < 60 ? run % 40 : 39 - run % 40);
    x->ShareData(buffers[i]);
    ASSERT_TRUE(ws.RunNet("three"));
    EXPECT_EQ(FetchDevice(ws, "y"), (Floats{-1, 3.f * static_cast<float>(i)})) << run;
  }
  x->ShareData(original);
  ASSERT_TRUE(ws.RunNet("three"));
  EXPECT_EQ(FetchDevice(ws, "y"), (Floats{-1, 6}));
  EXPECT_EQ(Counts().graphs, before.graphs + 121);
}

TEST(CountingGraphTest, ReplayMovesTheVersionsOfWhatItWrites) {
  Workspace ws;
  FeedDevice(&ws, "x", {2}, {-1, 2});
  ws.CreateNet(ParseNet(kThree));
  for (int run = 0; run < 3; ++run) ASSERT_TRUE(ws.RunNet("three"));
  const Tensor& y = ws.GetBlob("y")->Get<Tensor>();
  const uint64_t before = y.storage()->version();
  ASSERT_TRUE(ws.RunNet("three"));
  EXPECT_NE(y.storage()->version(), before);
}

TEST(CountingGraphTest, MemoryMarkedReadOnlyIsNotWritten) {
  Workspace ws;
  FeedDevice(&ws, "x", {2}, {-1, 2});
  ws.CreateNet(ParseNet(kThree));
  for (int run = 0; run < 4; ++run) ASSERT_TRUE(ws.RunNet("three"));
  const Tensor kept = ws.GetBlob("y")->Get<Tensor>();
  kept.storage()->set_read_only();
  FeedDevice(&ws, "x", {2}, {1, 1});
  ASSERT_TRUE(ws.RunNet("three"));
  EXPECT_EQ(FetchDevice(ws, "y"), (Floats{3, 3}));
  EXPECT_EQ(Tensor(kept, CPU).data<float>()[1], 6.f);
}

TEST(CountingGraphTest, CopiesFromAndToTheCpuStayOutside) {
  Workspace ws;
  Feed<float>(&ws, "x", {2}, {-1, 2});
  ws.CreateNet(ParseNet(R"(
    name: "copies" device_option { device_type: 20 } arg { name: "cuda_graph" i: 1 }
    op { type: "CopyFromCPUInput" input: "x" output: "d" }
    op { type: "Add" input: "d" input: "d" output: "a" }
    op { type: "Relu" input: "a" output: "b" }
    op { type: "EnsureCPUOutput" input: "b" output: "y" })"));
  const int64_t graphs = Counts().graphs;
  for (int run = 1; run <= 4; ++run) {
    Feed<float>(&ws, "x", {2}, {-1, static_cast<float>(run)});
    ASSERT_TRUE(ws.RunNet("copies"));
    ExpectTensor<float>(ws, "y", {2}, {0, 2.f * static_cast<float>(run)});
  }
  EXPECT_EQ(Counts().graphs, graphs + 2);
}

TEST(CountingGraphTest, NetsWithoutTheArgumentRecordNothing) {
  Workspace ws;
  FeedDevice(&ws, "x", {2}, {-1, 2});
  NetDef net = ParseNet(kThree);
  net.clear_arg();
  ws.CreateNet(net);
  const int64_t graphs = Counts().graphs;
  for (int run = 0; run < 4; ++run) ASSERT_TRUE(ws.RunNet("three"));
  EXPECT_EQ(Counts().graphs, graphs);
}

// Y = X, but the operator waits for the device while it runs.
class WaitsInsideOp final : public Operator<CountingContext> {
 public:
  using Operator<CountingContext>::Operator;
  bool RunOnDevice() override {
    Output(0)->CopyFrom(Input(0), &context_);
    context_.FinishDeviceComputation();
    return true;
  }
};
REGISTER_DEVICE_OPERATOR(20, WaitsInside, WaitsInsideOp);
OPERATOR_SCHEMA(WaitsInside).NumInputs(1).NumOutputs(1);

TEST(CountingGraphTest, OperatorThatWaitsIsLeftOutAndNamedOnce) {
  Workspace ws;
  FeedDevice(&ws, "x", {2}, {-1, 2});
  ws.CreateNet(ParseNet(R"(
    name: "waits" device_option { device_type: 20 } arg { name: "cuda_graph" i: 1 }
    op { type: "Add" input: "x" input: "x" output: "a" }
    op { type: "Relu" input: "a" output: "b" }
    op { type: "WaitsInside" input: "b" output: "c" }
    op { type: "Add" input: "c" input: "x" output: "d" }
    op { type: "Relu" input: "d" output: "y" })"));
  SetLogThreshold(1);
  testing::internal::CaptureStderr();
  for (int run = 0; run < 8; ++run) {
    FeedDevice(&ws, "x", {2}, {-1, static_cast<float>(run)});
    ASSERT_TRUE(ws.RunNet("waits"));
    EXPECT_EQ(FetchDevice(ws, "y"), (Floats{0, 3.f * static_cast<float>(run)}));
  }
  const std::string log = testing::internal::GetCapturedStderr();
  SetLogThreshold(2);
  const std::string want =
      "net \"waits\": operator 2 (WaitsInside) is run on its own, not in a graph: a wait of the "
      "host "
      "cannot be recorded";
  EXPECT_THAT(log, testing::HasSubstr(want));
  EXPECT_EQ(log.find(want), log.rfind(want));
  const int64_t graphs = Counts().graphs;
  ASSERT_TRUE(ws.RunNet("waits"));
  EXPECT_EQ(Counts().graphs, graphs + 2);  // one before the operator and one after it
}

// What eight runs of net "n" log.
std::string LogOfGraphRuns(const std::string& text, Workspace* ws) {
  ws->CreateNet(ParseNet(text));
  SetLogThreshold(1);
  testing::internal::CaptureStderr();
  for (int run = 0; run < 8; ++run) EXPECT_TRUE(ws->RunNet("n"));
  SetLogThreshold(2);
  return testing::internal::GetCapturedStderr();
}

TEST(CountingGraphTest, TheFirstOperatorOfAGraphIsLeftOutOnce) {
  Workspace ws;
  FeedDevice(&ws, "x", {2}, {-1, 2});
  const std::string log = LogOfGraphRuns(R"(
    name: "n" device_option { device_type: 20 } arg { name: "cuda_graph" i: 1 }
    op { type: "WaitsInside" input: "x" output: "a" }
    op { type: "Add" input: "a" input: "x" output: "b" }
    op { type: "Relu" input: "b" output: "y" })",
                                         &ws);
  const std::string want = "operator 0 (WaitsInside) is run on its own, not in a graph";
  EXPECT_THAT(log, testing::HasSubstr(want));
  EXPECT_EQ(log.find(want), log.rfind(want));
  const int64_t graphs = Counts().graphs, operations = Counts().operations;
  FeedDevice(&ws, "x", {2}, {-1, 5});
  ASSERT_TRUE(ws.RunNet("n"));
  EXPECT_EQ(Counts().graphs, graphs + 1);
  EXPECT_EQ(Counts().operations, operations + 2);  // the copies of the test and of the operator
  EXPECT_EQ(FetchDevice(ws, "y"), (Floats{0, 10}));
}

// Y = X times a number on the CPU, of which the schema does not know that it is there.
class TimesCpuNumberOp final : public Operator<CountingContext> {
 public:
  using Operator<CountingContext>::Operator;
  bool RunOnDevice() override {
    const Tensor& X = Input(0);
    const float factor = Input<Tensor>(1, CPU).data<float>()[0];
    const float* const x = X.data<float>();
    float* const y = Output(0, X.sizes(), X.dtype())->mutable_data<float>();
    context_.Launch([x, y, factor, n = X.numel()] {
      std::transform(x, x + n, y, [factor](float value) { return value * factor; });
    });
    return true;
  }
};
REGISTER_DEVICE_OPERATOR(20, TimesCpuNumber, TimesCpuNumberOp);
OPERATOR_SCHEMA(TimesCpuNumber).NumInputs(2).NumOutputs(1);

TEST(CountingGraphTest, OperatorsThatReadTheCpuAreLeftOut) {
  Workspace ws;
  FeedDevice(&ws, "x", {2}, {-1, 2});
  Feed<float>(&ws, "s", {1}, {3});
  const std::string log = LogOfGraphRuns(R"(
    name: "n" device_option { device_type: 20 } arg { name: "cuda_graph" i: 1 }
    op { type: "Add" input: "x" input: "x" output: "a" }
    op { type: "Relu" input: "a" output: "b" }
    op { type: "TimesCpuNumber" input: "b" input: "s" output: "c" }
    op { type: "Add" input: "c" input: "x" output: "d" }
    op { type: "Relu" input: "d" output: "y" })",
                                         &ws);
  const std::string want =
      "operator 2 (TimesCpuNumber) is run on its own, not in a graph: not all of its inputs and "
      "outputs are tensors on its device";
  EXPECT_THAT(log, testing::HasSubstr(want));
  EXPECT_EQ(log.find(want), log.rfind(want));
  const int64_t graphs = Counts().graphs;
  Feed<float>(&ws, "s", {1}, {10});
  ASSERT_TRUE(ws.RunNet("n"));
  EXPECT_EQ(Counts().graphs, graphs + 2);
  EXPECT_EQ(FetchDevice(ws, "y"), (Floats{0, 42}));
}

// Stands in for an operator that draws random numbers: its runs differ in a counter on the host.
class CountsRunsOp final : public Operator<CountingContext> {
 public:
  using Operator<CountingContext>::Operator;
  bool RunOnDevice() override {
    const Tensor& X = Input(0);
    float* y = Output(0, X.sizes(), X.dtype())->mutable_data<float>();
    context_.Launch(
        [y, n = X.numel(), run = ++runs_] { std::fill(y, y + n, static_cast<float>(run)); });
    return true;
  }

 private:
  int runs_ = 0;
};
REGISTER_DEVICE_OPERATOR(20, Dropout, CountsRunsOp);
REGISTER_DEVICE_OPERATOR(20, CountsRuns, CountsRunsOp);
OPERATOR_SCHEMA(CountsRuns).NumInputs(1).NumOutputs(1);

TEST(CountingGraphTest, OperatorsWithStateOnTheHostStayOutside) {
  for (const char* op : {R"(type: "Dropout" output: "mask" arg { name: "is_test" i: 0 })",
                         R"(type: "CountsRuns" arg { name: "cuda_graph" i: 0 })"}) {
    SCOPED_TRACE(op);
    Workspace ws;
    FeedDevice(&ws, "x", {2}, {-1, 2});
    NetDef net = ParseNet(kThree);
    *net.add_op() = ParseOp(op);
    OperatorDef* const last = net.mutable_op(3);
    last->add_input("y");
    last->mutable_output()->Add("count");
    if (last->output_size() == 2) last->mutable_output()->SwapElements(0, 1);
    ws.CreateNet(net);
    const int64_t graphs = Counts().graphs;
    for (int run = 1; run <= 4; ++run) {
      ASSERT_TRUE(ws.RunNet("three"));
      EXPECT_EQ(FetchDevice(ws, "count"), (Floats(2, static_cast<float>(run))));
    }
    EXPECT_EQ(Counts().graphs, graphs + 2);
    // Those in the graph do not run besides.
    const int64_t operations = Counts().operations;
    ASSERT_TRUE(ws.RunNet("three"));
    EXPECT_EQ(Counts().operations, operations + 1);
  }
}

std::atomic<bool> g_fail{false};
class FailsWhenToldOp final : public Operator<CountingContext> {
 public:
  using Operator<CountingContext>::Operator;
  bool RunOnDevice() override {
    Output(0)->CopyFrom(Input(0), &context_);
    context_.Launch([] { CAFFE_ENFORCE(!g_fail.load(), "the device failed on request"); });
    return true;
  }
};
REGISTER_DEVICE_OPERATOR(20, FailsWhenTold, FailsWhenToldOp);
OPERATOR_SCHEMA(FailsWhenTold).NumInputs(1).NumOutputs(1);

constexpr const char* kFails = R"(
  name: "fails" device_option { device_type: 20 }
  op { type: "Relu" input: "x" output: "a" }
  op { type: "FailsWhenTold" input: "a" output: "b" }
  op { type: "Relu" input: "b" output: "y" })";

TEST(CountingGraphTest, ErrorInAReplayNamesTheOperators) {
  Workspace ws;
  FeedDevice(&ws, "x", {2}, {-1, 2});
  NetDef net = ParseNet(kFails);
  *net.add_arg() = MakeArgument<int>("cuda_graph", 1);
  ws.CreateNet(net);
  for (int run = 0; run < 4; ++run) ASSERT_TRUE(ws.RunNet("fails"));
  g_fail = true;
  ExpectThrows([&] { ws.RunNet("fails"); }, "net \"fails\": work of operators 0 to 2 (Relu");
  g_fail = false;
  ASSERT_TRUE(ws.RunNet("fails"));
  EXPECT_EQ(FetchDevice(ws, "y"), (Floats{0, 2}));
}

TEST(CountingGraphTest, AnotherThreadReplays) {
  Workspace ws;
  FeedDevice(&ws, "x", {2}, {-1, 2});
  ws.CreateNet(ParseNet(kThree));
  for (int run = 0; run < 3; ++run) ASSERT_TRUE(ws.RunNet("three"));
  FeedDevice(&ws, "x", {2}, {4, 5});
  const int64_t graphs = Counts().graphs;
  std::thread([&] {
    for (int run = 1; run <= 4; ++run) {
      EXPECT_TRUE(ws.RunNet("three"));
      EXPECT_EQ(Counts().graphs - graphs, run);
    }
  }).join();
  EXPECT_EQ(FetchDevice(ws, "y"), (Floats{12, 15}));
}

TEST(CountingGraphTest, ObservedOperatorsRunOneByOne) {
  Workspace ws;
  FeedDevice(&ws, "x", {2}, {-1, 2});
  NetBase* const net = ws.CreateNet(ParseNet(kThree));
  for (int run = 0; run < 3; ++run) ASSERT_TRUE(net->Run());
  OperatorBase* const op = net->GetOperators()[1];
  const ObserverBase<OperatorBase>* const observer =
      op->AttachObserver(std::make_unique<ObserverBase<OperatorBase>>(op));
  const int64_t graphs = Counts().graphs;
  ASSERT_TRUE(net->Run());
  EXPECT_EQ(Counts().graphs, graphs);
  op->DetachObserver(observer);
  ASSERT_TRUE(net->Run());
  EXPECT_EQ(Counts().graphs, graphs + 1);
}

TEST(CountingSyncTest, ErrorNamesTheVeryOperator) {
  Workspace ws;
  FeedDevice(&ws, "x", {2}, {-1, 2});
  NetDef net = ParseNet(kFails);
  *net.add_arg() = MakeArgument<int>("cuda_sync", 1);
  ws.CreateNet(net);
  g_fail = true;
  ExpectThrows([&] { ws.RunNet("fails"); }, "net \"fails\", operator 1 (FailsWhenTold");
  g_fail = false;
  const int64_t waits = Counts().waits;
  ASSERT_TRUE(ws.RunNet("fails"));
  EXPECT_EQ(Counts().waits, waits + 3);
  EXPECT_EQ(FetchDevice(ws, "y"), (Floats{0, 2}));
}

TEST(CountingSyncTest, NetOfSeveralDevicesRuns) {
  Workspace ws;
  Feed<float>(&ws, "x", {2}, {-1, 2});
  ws.CreateNet(ParseNet(R"(
    name: "mixed" arg { name: "cuda_sync" i: 1 }
    op { type: "Relu" input: "x" output: "y" device_option { device_type: 20 } }
    op { type: "Add" input: "y" input: "x" output: "z" })"));
  const int64_t waits = Counts().waits;
  ASSERT_TRUE(ws.RunNet("mixed"));
  ExpectTensor<float>(ws, "z", {2}, {-1, 4});
  EXPECT_EQ(Counts().waits, waits + 3);  // includes the two copies
}

TEST(CountingGraphTest, NetsThatSynchronizeAfterEachOperatorRecordNothing) {
  Workspace ws;
  FeedDevice(&ws, "x", {2}, {-1, 2});
  NetDef net = ParseNet(kThree);
  *net.add_arg() = net.arg(0);
  net.mutable_arg(1)->set_name("cuda_sync");
  ws.CreateNet(net);
  const int64_t graphs = Counts().graphs;
  for (int run = 0; run < 5; ++run) {
    ASSERT_TRUE(ws.RunNet("three"));
    EXPECT_EQ(FetchDevice(ws, "y"), (Floats{-1, 6}));
  }
  EXPECT_EQ(Counts().graphs, graphs);
}

}  // namespace
}  // namespace caffe2rt::test::counting_graph_test
