#include "caffe2_core/runtime/net.h"

#include <chrono>

#include "caffe2_core/base/text.h"
#include "caffe2_core/inspect/time_observer.h"
#include "caffe2_core/runtime/executor_overrides.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "caffe2_core/runtime/workspace.h"
#include "contexts/cpu/cpu_context.h"
#include "tests/support/allocation_counter.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::net_test {
namespace {

using test::ExpectThrows;
using test::ParseNet;

int g_runs = 0;

class NetTestDummyOp final : public Operator<CPUContext> {
 public:
  NetTestDummyOp(const OperatorDef& def, Workspace* ws)
      : Operator<CPUContext>(def, ws), fails_(GetSingleArgument<bool>("fail", false)) {}
  bool RunOnDevice() override {
    ++g_runs;
    return !fails_;
  }

 private:
  const bool fails_;
};
REGISTER_CPU_OPERATOR(NetTestDummy, NetTestDummyOp);
OPERATOR_SCHEMA(NetTestDummy).AllowInplace({{0, 0}});

class NetTestNet final : public NetBase {
 public:
  using NetBase::NetBase;
  std::vector<OperatorBase*> GetOperators() const override { return {}; }

 protected:
  bool DoRun() override { return true; }
};
REGISTER_NET(net_test_type, NetTestNet);

// Starts its runs, and counts how often Wait is called.
class NetTestAsyncNet final : public NetBase {
 public:
  using NetBase::NetBase;
  std::vector<OperatorBase*> GetOperators() const override { return {}; }
  void Wait() override { ++waits; }
  bool starts = true;
  int waits = 0;

 protected:
  bool DoRunAsync() override { return starts; }
};
REGISTER_NET(net_test_async_type, NetTestAsyncNet);

std::unique_ptr<NetBase> Make(Workspace* ws, const std::string& text) {
  return CreateNet(ParseNet(text), ws);
}

// A class that overrides DoRunAsync alone: Run waits for what could be started.
TEST(NetTest, RunWaitsForTheRunThatItStarts) {
  Workspace ws;
  const auto net = Make(&ws, R"(name: "n" type: "net_test_async_type")");
  auto& async = dynamic_cast<NetTestAsyncNet&>(*net);
  EXPECT_TRUE(net->Run());
  EXPECT_EQ(async.waits, 1);
  async.starts = false;
  EXPECT_FALSE(net->Run());
  EXPECT_EQ(async.waits, 1);
}

// The mean times of a benchmark are parts of the time that all of it takes.
TEST(NetTest, BenchmarksStateMeanTimes) {
  Workspace ws;
  ws.CreateBlob("in");
  const auto net = Make(&ws, R"(name: "n" op { type: "NetTestDummy" input: "in" output: "a" }
      op { type: "NetTestDummy" input: "a" output: "b" } external_input: "in")");
  constexpr int kRuns = 200;
  testing::internal::CaptureStdout();
  const auto begin = std::chrono::steady_clock::now();
  const std::vector<float> times = net->TEST_Benchmark(1, kRuns, true);
  const std::chrono::duration<float, std::milli> all = std::chrono::steady_clock::now() - begin;
  const std::vector<float> none = net->TEST_Benchmark(0, 0, true);
  const std::string text = testing::internal::GetCapturedStdout();
  ASSERT_EQ(times.size(), 3u);
  float sum = 0;
  for (const float time : times) {
    EXPECT_GT(time, 0);
    sum += time;
  }
  EXPECT_LE(sum * kRuns, all.count() * 1.001f);
  EXPECT_EQ(none, (std::vector<float>{0, 0, 0}));
  for (const char* part : {"Milliseconds per iter: ", "Operator #0 (NetTestDummy) ",
                           "Operator #1 (NetTestDummy) ", " ms. NetTestDummy"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part;
  }
}

// The times of a type are those of all its operators.
TEST(NetTest, ABenchmarkPrintsTheSumOfTheTimesOfAType) {
  Workspace ws;
  ws.CreateBlob("in");
  const auto net = Make(&ws, R"(name: "n" op { type: "NetTestDummy" input: "in" output: "a" }
      op { type: "ConstantFill" output: "x" } op { type: "NetTestDummy" input: "a" output: "b" }
      op { type: "NetTestDummy" input: "b" output: "c" })");
  testing::internal::CaptureStdout();
  const std::vector<float> times = net->TEST_Benchmark(0, 50, true);
  const std::string text = testing::internal::GetCapturedStdout();
  ASSERT_EQ(times.size(), 5u);
  const auto line = [](float ms, const std::string& type) {
    std::string number = ShortText(ms);
    number.insert(0, 15 - number.size(), ' ');
    return "\n" + number + " ms. " + type + "\n";
  };
  EXPECT_THAT(text, testing::HasSubstr("Time per operator type:\n"));
  EXPECT_THAT(text, testing::HasSubstr(line(times[1] + times[3] + times[4], "NetTestDummy")));
  EXPECT_THAT(text, testing::HasSubstr(line(times[2], "ConstantFill")));
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_THAT(text, testing::HasSubstr(MakeString(
                          "Operator #", i, i == 1 ? " (ConstantFill) " : " (NetTestDummy) ",
                          ShortText(times[i + 1]), " ms/iter\n")));
  }
}

TEST(NetTest, RunsOperatorsInOrderAndKnowsItsDef) {
  Workspace ws;
  ws.CreateBlob("in");
  const auto net = Make(&ws, R"(name: "n" op { type: "NetTestDummy" input: "in" output: "hidden" }
      op { type: "NetTestDummy" input: "hidden" output: "out" } external_input: "in" external_output: "out")");
  g_runs = 0;
  EXPECT_TRUE(net->Run());
  EXPECT_EQ(g_runs, 2);
  EXPECT_EQ(net->Name(), "n");
  EXPECT_EQ(net->external_input().at(0), "in");
  EXPECT_EQ(net->external_output().at(0), "out");
  EXPECT_EQ(net->GetOperators().size(), 2u);
  EXPECT_EQ(net->GetOperators()[1]->net_position(), 1);
  EXPECT_TRUE(net->has_debug_def());
  EXPECT_TRUE(net->RunAsync());
  net->Wait();
}

TEST(NetTest, AcceptsNetsThatDeclareNothing) {
  Workspace ws;
  EXPECT_NE(Make(&ws, R"(op { type: "NetTestDummy" output: "y" })"), nullptr);
}

TEST(NetTest, RejectsInputsNeitherDeclaredNorWritten) {
  Workspace ws;
  ws.CreateBlob("in");
  ExpectThrows(
      [&] {
        Make(
            &ws,
            R"(name: "n" op { type: "NetTestDummy" input: "z" output: "y" } external_input: "in")");
      },
      "Source for input z is unknown for net n");
  ws.CreateBlob("w");
  ws.CreateBlob("b");
  ExpectThrows(
      [&] {
        Make(&ws, R"(name: "n" external_input: "in"
            op { type: "NetTestDummy" input: "w" input: "in" output: "y" }
            op { type: "NetTestDummy" input: "b" output: "z" })");
      },
      "operator 0; add external_input: \"w\", \"b\" to net \"n\", which must list all of its "
      "inputs "
      "or none; the workspace has these blobs, for example from an init net");
  // What is declared need not be there yet.
  ExpectThrows(
      [&] {
        Make(&ws, R"(name: "n" external_input: "later"
            op { type: "NetTestDummy" input: "w" input: "later" output: "y" })");
      },
      "or none; the workspace has these blobs, for example from an init net");
  ExpectThrows(
      [&] {
        Make(&ws, R"(name: "n7" op { type: "NetTestDummy" output: "y" } external_output: "w")");
      },
      "declared as output but never produced by the net n7, the first one is w");
  ExpectThrows([&] { Make(&ws, R"(name: "n" op { type: "NetTestDummy" input: "z" })"); },
               "Encountered a non-existing input blob: z");
  ExpectThrows(
      [&] {
        Make(&ws, R"(name: "n" op { type: "NetTestDummy" device_option { node_name: "host" } })");
      },
      "node_name must be empty");
}

TEST(NetTest, FailsWithFramesWhenAnOperatorReturnsFalse) {
  Workspace ws;
  const auto net =
      Make(&ws, R"(name: "n" op { type: "NetTestDummy" output: "y" arg { name: "fail" i: 1 } })");
  ExpectThrows([&] { net->Run(); }, "net \"n\", operator 0 (NetTestDummy");
}

TEST(NetTest, KnowsUsersNetTypesAndCaffe2sAndGivesNullForOthers) {
  Workspace ws;
  EXPECT_NE(Make(&ws, R"(name: "n" type: "net_test_type")"), nullptr);
  for (const char* type : {"simple", "dag", "async_scheduling", "prof_dag", "parallel", "rnn"}) {
    NetDef net = ParseNet(R"(name: "n" op { type: "NetTestDummy" })");
    net.set_type(type);
    net.set_num_workers(1);
    EXPECT_NE(CreateNet(net, &ws), nullptr) << type;
    EXPECT_TRUE(IsKnownNetType(type));
  }
  EXPECT_FALSE(IsKnownNetType("nope"));
  EXPECT_EQ(Make(&ws, R"(name: "n" type: "nope")"), nullptr);
}

TEST(NetTest, RunsNetsOfATypeAsAnotherOne) {
  Workspace ws;
  const char* const kNet = R"(name: "n" type: "dag" op { type: "NetTestDummy" })";
  SetExecutorOverrides("dag,async_scheduling,simple,rnn");
  EXPECT_EQ(Make(&ws, kNet)->debug_def().type(), "async_scheduling");
  EXPECT_EQ(Make(&ws, R"(name: "n")")->debug_def().type(), "rnn");
  ExpectThrows([] { SetExecutorOverrides("dag"); }, "want pairs of net types");
  ExpectThrows([] { SetExecutorOverrides("dag,nope"); }, "net type \"nope\", which is not known");
  SetExecutorOverrides("");
  EXPECT_EQ(Make(&ws, kNet)->debug_def().type(), "dag");
}

TEST(NetTest, RejectsParallelWithLessThanOneWorker) {
  Workspace ws;
  EXPECT_NE(Make(&ws, R"(name: "n" type: "parallel")"), nullptr);
  for (const char* workers : {"num_workers: 0", "num_workers: -1"}) {
    ExpectThrows([&] { Make(&ws, std::string(R"(name: "n" type: "parallel" )") + workers); },
                 "net \"n\" of type parallel has num_workers");
  }
}

TEST(NetTest, GivesItsDeviceOptionToOperatorsThatHaveNoneOfTheirOwn) {
  Workspace ws;
  const auto net = Make(&ws, R"(name: "n" device_option { random_seed: 1 }
      op { type: "NetTestDummy" } op { type: "NetTestDummy" device_option { random_seed: 2 } }
      op { type: "NetTestDummy" device_option { } })");
  EXPECT_EQ(net->GetOperators()[0]->device_option().random_seed(), 1u);
  EXPECT_EQ(net->GetOperators()[1]->device_option().random_seed(), 2u);
  EXPECT_EQ(net->GetOperators()[2]->device_option().random_seed(), 1u);
}

TEST(NetTest, AllocatesNothingInItsSecondRun) {
  Workspace ws;
  const auto net = Make(
      &ws,
      R"(name: "n" op { type: "NetTestDummy" output: "y" } op { type: "NetTestDummy" input: "y" output: "y" })");
  net->Run();
  test::AllocationCounter counter;
  net->Run();
  EXPECT_EQ(counter.Counts().allocations, 0);
  EXPECT_EQ(counter.Counts().locks, 0);
}

TEST(NetTest, BenchmarksItselfAndItsOperators) {
  Workspace ws;
  const auto net =
      Make(&ws, R"(name: "n" op { type: "NetTestDummy" output: "y" } op { type: "NetTestDummy" })");
  g_runs = 0;
  ::testing::internal::CaptureStdout();
  EXPECT_EQ(net->TEST_Benchmark(1, 3, true).size(), 3u);
  EXPECT_THAT(::testing::internal::GetCapturedStdout(), ::testing::HasSubstr("NetTestDummy"));
  EXPECT_GE(g_runs, 8);
  EXPECT_EQ(net->TEST_Benchmark(0, 1, false).size(), 1u);
  EXPECT_THROW(net->TEST_Benchmark(-1, 1, false), EnforceNotMet);
}

// --- observers ---

class CountingObserver final : public ObserverBase<NetBase> {
 public:
  CountingObserver(NetBase* net, int* starts, int* stops)
      : ObserverBase<NetBase>(net), starts_(starts), stops_(stops) {}
  void Start() override { ++*starts_; }
  void Stop() override { ++*stops_; }

 private:
  int* const starts_;
  int* const stops_;
};

TEST(ObserverTest, FiresAroundRunsWhileAttached) {
  Workspace ws;
  const auto net = Make(&ws, R"(name: "n" op { type: "NetTestDummy" })");
  int starts = 0, stops = 0;
  const auto* attached =
      net->AttachObserver(std::make_unique<CountingObserver>(net.get(), &starts, &stops));
  EXPECT_EQ(net->NumObservers(), 1u);
  net->Run();
  net->Run();
  EXPECT_EQ(starts, 2);
  EXPECT_EQ(stops, 2);
  const auto detached = net->DetachObserver(attached);
  EXPECT_EQ(detached.get(), attached);
  EXPECT_EQ(detached->subject(), net.get());
  EXPECT_EQ(detached->debugInfo(), "Not implemented.");
  net->Run();
  EXPECT_EQ(starts, 2);
  EXPECT_EQ(net->DetachObserver(attached), nullptr);
  EXPECT_THROW(net->AttachObserver(nullptr), EnforceNotMet);
}

// A user's net whose second run fails without an exception.
class NetTestSecondFailsNet final : public NetBase {
 public:
  using NetBase::NetBase;
  std::vector<OperatorBase*> GetOperators() const override { return {}; }

 protected:
  bool DoRun() override { return ++runs_ != 2; }

 private:
  int runs_ = 0;
};
REGISTER_NET(net_test_second_fails, NetTestSecondFailsNet);

TEST(ObserverTest, AreStoppedAfterARunThatReturnsFalse) {
  Workspace ws;
  const auto net = Make(&ws, R"(name: "n" type: "net_test_second_fails")");
  int starts = 0, stops = 0;
  net->AttachObserver(std::make_unique<CountingObserver>(net.get(), &starts, &stops));
  for (int run = 1; run <= 3; ++run) {
    EXPECT_EQ(net->Run(), run != 2);
    EXPECT_EQ(starts, run);
    EXPECT_EQ(stops, run);
  }
}

// A net without another thread runs at once, and the result of RunAsync is that of Run.
TEST(NetTest, RunAsyncReturnsWhatRunReturns) {
  Workspace ws;
  const auto net = Make(&ws, R"(name: "n" type: "net_test_second_fails")");
  EXPECT_FALSE(net->SupportsAsync());
  for (int run = 1; run <= 3; ++run) {
    EXPECT_EQ(net->RunAsync(), run != 2);
    EXPECT_NO_THROW(net->Wait());
  }
}

TEST(ObserverTest, GlobalCreatorsAttachToEveryNetMadeAfterwards) {
  Workspace ws;
  int starts = 0, stops = 0;
  AddGlobalNetObserverCreator(
      [&](NetBase* net) { return std::make_unique<CountingObserver>(net, &starts, &stops); });
  AddGlobalNetObserverCreator([](NetBase*) { return nullptr; });
  const auto net = Make(&ws, R"(name: "n" op { type: "NetTestDummy" })");
  ClearGlobalNetObservers();
  const auto later = Make(&ws, R"(name: "m" op { type: "NetTestDummy" })");
  net->Run();
  later->Run();
  EXPECT_EQ(starts, 1);
}

// Under the lock of the creators, the destructor would wait for ever.
TEST(ObserverTest, GlobalCreatorsThatEndMayAskForOthers) {
  bool has_others = true;
  const auto end = [&](int* state) {
    delete state;
    has_others = HasGlobalNetObservers();
  };
  AddGlobalNetObserverCreator(
      [state = std::shared_ptr<int>(new int, end)](NetBase*) { return nullptr; });
  ClearGlobalNetObservers();
  EXPECT_FALSE(has_others);
}

TEST(TimeObserverTest, TimesTheNetAndItsOperators) {
  Workspace ws;
  auto net = Make(&ws, R"(name: "n" op { type: "NetTestDummy" } op { type: "NetTestDummy" })");
  auto* timer = static_cast<const TimeObserver*>(
      net->AttachObserver(std::make_unique<TimeObserver>(net.get())));
  EXPECT_EQ(timer->average_time(), 0);
  EXPECT_EQ(timer->average_time_children(), 0);
  net->Run();
  net->Run();
  EXPECT_GT(timer->average_time(), 0);
  EXPECT_GT(timer->average_time_children(), 0);
  EXPECT_LE(timer->average_time_children(), timer->average_time());
  EXPECT_THAT(const_cast<TimeObserver*>(timer)->debugInfo(),
              ::testing::StartsWith("2 runs of net \"n\""));
  net.reset();  // the observer is destroyed with its net
}

// Takes five milliseconds in its first run.
class NetTestSlowStartOp final : public Operator<CPUContext> {
 public:
  using Operator<CPUContext>::Operator;
  bool RunOnDevice() override {
    const Timer timer;
    while (!has_run_ && timer.MilliSeconds() < 5) {
    }
    has_run_ = true;
    return true;
  }

 private:
  bool has_run_ = false;
};
REGISTER_CPU_OPERATOR(NetTestSlowStart, NetTestSlowStartOp);
OPERATOR_SCHEMA(NetTestSlowStart);

TEST(TimeObserverTest, AveragesAllRuns) {
  Workspace ws;
  const auto net = Make(&ws, R"(name: "n" op { type: "NetTestSlowStart" })");
  auto* timer = static_cast<const TimeObserver*>(
      net->AttachObserver(std::make_unique<TimeObserver>(net.get())));
  net->Run();
  net->Run();
  EXPECT_GE(timer->average_time(), 2.5f);
  EXPECT_GE(timer->average_time_children(), 2.5f);
}

TEST(TimeObserverTest, CountsRunsOfTheNetAndItsOperators) {
  Workspace ws;
  const auto net =
      Make(&ws, R"(name: "n" op { type: "NetTestDummy" } op { type: "NetTestDummy" })");
  auto* counter = static_cast<const RunCountNetObserver*>(
      net->AttachObserver(std::make_unique<RunCountNetObserver>(net.get())));
  net->Run();
  net->Run();
  EXPECT_EQ(counter->runs(), 2);
  EXPECT_EQ(counter->operator_runs(), 4);
  const auto detached = net->DetachObserver(counter);
  EXPECT_EQ(detached->debugInfo(), "2 runs of net \"n\", 4 runs of its operators");
}

}  // namespace
}  // namespace caffe2rt::net_test
