#include "caffe2_core/executors/scheduled_net.h"

#include <algorithm>
#include <mutex>
#include <set>
#include <vector>

#include "caffe2_core/base/thread_state.h"
#include "caffe2_core/base/work_scope.h"
#include "caffe2_core/runtime/waiting.h"
#include "caffe2_core/tensor/storage.h"
#include "tests/caffe2_core/executors/call_operator.h"
#include "tests/support/allocation_counter.h"

namespace caffe2rt::test::scheduled_net_test {
namespace {

using testing::HasSubstr;

class ScheduledNetTest : public ExecutorTest {};

constexpr char kTwoBranches[] = R"(
    op { type: "ExecutorTestCall" name: "a" output: "x" }
    op { type: "ExecutorTestCall" name: "b" output: "y" }
    op { type: "ExecutorTestCall" name: "c" input: "x" input: "y" output: "z" })";

// A net whose branches wait for each other ends only if they run at the same time.
TEST_F(ScheduledNetTest, BranchesRunAtTheSameTime) {
  SetThreads(2);
  for (const char* header :
       {R"(type: "async_scheduling")", R"(type: "async_polling")", R"(type: "async_dag")",
        R"(type: "parallel")", R"(type: "dag" num_workers: 2)",
        R"(type: "prof_dag" num_workers: 8)"}) {
    std::atomic<int> met{0};
    bool joined = false;
    const auto meet = [&](OperatorBase*) {
      ++met;
      EXPECT_TRUE(WaitFor([&] { return met == 2; })) << header;
    };
    Calls() = {{"a", meet}, {"b", meet}, {"c", [&](OperatorBase*) { joined = met == 2; }}};
    const auto net = Make(MakeString(R"(name: "n" )", header, kTwoBranches));
    for (int run = 0; run < 20; ++run) {
      met = 0;
      joined = false;
      EXPECT_TRUE(net->Run());
      EXPECT_TRUE(joined) << header;
    }
  }
}

// The types that run in order, and those with one thread, run everything on the calling thread.
TEST_F(ScheduledNetTest, OneThreadRunsInTheOrderOfTheNet) {
  SetThreads(2);
  for (const char* header : {R"(type: "simple")", R"(type: "async_simple")",
                             R"(type: "simple_refcount")", R"(type: "rnn")", R"(type: "dag")",
                             R"(type: "prof_dag")", R"(type: "async_scheduling" num_workers: 1)"}) {
    std::string order;
    const auto caller = std::this_thread::get_id();
    const auto note = [&](OperatorBase* op) {
      EXPECT_EQ(std::this_thread::get_id(), caller) << header;
      order += op->debug_def().name();
    };
    Calls() = {{"a", note}, {"b", note}, {"c", note}};
    Make(MakeString(R"(name: "n" )", header, kTwoBranches))->Run();
    EXPECT_EQ(order, "abc") << header;
  }
}

// Only one chain is ready, so the other thread helps its operator.
TEST_F(ScheduledNetTest, IdleThreadsHelpWithThePiecesOfAnOperator) {
  SetThreads(2);
  std::atomic<int> met{0};
  const auto meet = [&](OperatorBase*) {
    met = 0;
    ParallelFor(2, [&](int) {
      ++met;
      EXPECT_TRUE(WaitFor([&] { return met == 2; }));
    });
  };
  Calls() = {{"long", meet}, {"c", meet}};
  const auto net = Make(MakeString(R"(name: "n" type: "async_scheduling"
      op { type: "ExecutorTestCall" name: "long" output: "u" }
      op { type: "ExecutorTestCall" input: "u" output: "x" }
      op { type: "ExecutorTestCall" input: "u" output: "y" }
      op { type: "ExecutorTestCall" name: "c" input: "x" input: "y" output: "z" })"));
  for (int run = 0; run < 20; ++run) EXPECT_TRUE(net->Run());
}

// Counts the threads that compute at the same time.
class Gauge {
 public:
  void Enter() {
    const int now = ++inside_;
    for (int most = most_; now > most && !most_.compare_exchange_weak(most, now);) {
    }
    std::this_thread::sleep_for(std::chrono::microseconds(200));
    --inside_;
  }
  int most() const { return most_; }

 private:
  std::atomic<int> inside_{0}, most_{0};
};

TEST_F(ScheduledNetTest, ComputesOnNoMoreThreadsThanAskedFor) {
  SetThreads(4);
  std::string net = R"(name: "n" type: "async_scheduling" )";
  for (int i = 0; i < 12; ++i) {
    net += MakeString(R"( op { type: "ExecutorTestCall" name: "p" output: ")", i, "\" }");
  }
  for (const int workers : {1, 2, 3}) {
    Gauge gauge;
    Calls() = {{"p", [&](OperatorBase*) { ParallelFor(8, [&](int) { gauge.Enter(); }); }}};
    Make(net + MakeString(" num_workers: ", workers))->Run();
    EXPECT_LE(gauge.most(), workers);
  }
}

// Pieces that an embedder's pool calls one after the other, on the caller's thread.
class OneAfterTheOther final : public PieceRunner {
 public:
  int num_threads() const override { return 3; }
  void Run(int pieces, PieceFunction function) override {
    for (int piece = pieces; piece-- > 0;) function(piece);
  }
};

TEST_F(ScheduledNetTest, TheCallerFinishesAloneOnAnEmbeddersPool) {
  OneAfterTheOther runner;
  SetThreadPool({.runner = &runner});
  int calls = 0, pieces = 0;
  const auto count = [&](OperatorBase*) {
    ++calls;
    ParallelFor(4, [&](int) { ++pieces; });
  };
  Calls() = {{"a", count}, {"b", count}, {"c", count}};
  const auto net = Make(MakeString(R"(name: "n" type: "async_scheduling")", kTwoBranches));
  EXPECT_TRUE(net->Run());
  EXPECT_TRUE(net->Run());
  EXPECT_EQ(calls, 6);
  EXPECT_EQ(pieces, 24);
}

constexpr char kQueue[] = R"(
    op { type: "CreateBlobsQueue" output: "q" arg { name: "capacity" i: 1 } }
    op { type: "ConstantFill" output: "a" arg { name: "shape" ints: 1 } arg { name: "value" f: 1 } }
    op { type: "ConstantFill" output: "b" arg { name: "shape" ints: 1 } arg { name: "value" f: 2 } }
    op { type: "EnqueueBlobs" input: "q" input: "a" output: "a" }
    op { type: "EnqueueBlobs" input: "q" input: "b" output: "b" }
    op { type: "DequeueBlobs" input: "q" output: "c" }
    op { type: "DequeueBlobs" input: "q" output: "d" }
    op { type: "CloseBlobsQueue" input: "q" })";

// The second record enters the queue only after the first one has left it.
TEST_F(ScheduledNetTest, ProducersAndConsumersOfOneNetFinishOnOneThread) {
  for (const int threads : {1, 2}) {
    SetThreads(threads);
    for (const char* type : {"dag", "async_scheduling", "parallel"}) {
      const auto net = Make(MakeString(R"(name: "n" type: ")", type, "\"", kQueue));
      for (int run = 0; run < 10; ++run) {
        EXPECT_TRUE(net->Run());
        ExpectTensor<float>(ws_, "c", {1}, {1});
        ExpectTensor<float>(ws_, "d", {1}, {2});
      }
    }
  }
}

TEST_F(ScheduledNetTest, TheFirstErrorWinsAndNothingNewStarts) {
  SetThreads(2);
  std::atomic<bool> failed{false};
  bool ended = false, started = false, fails = true;
  Calls() = {{"a",
              [&](OperatorBase*) {  // still runs when the other branch fails
                EXPECT_TRUE(WaitFor([&] { return failed.load() || !fails; }));
                ended = true;
              }},
             {"b",
              [&](OperatorBase*) {
                failed = true;
                if (fails) CAFFE_THROW("no luck");
              }},
             {"c", [&](OperatorBase*) { started = true; }}};
  const auto net = Make(MakeString(R"(name: "n" type: "async_scheduling")", kTwoBranches));
  for (int run = 0; run < 20; ++run) {
    failed = ended = started = false;
    ExpectThrows([&] { net->Run(); }, "no luck");
    EXPECT_FALSE(started);
  }
  ExpectThrows([&] { net->Run(); }, "net \"n\", operator 1 (ExecutorTestCall");
  EXPECT_EQ(ws_.last_failed_op_net_position, 1u);
  fails = false;
  EXPECT_TRUE(net->Run());
  EXPECT_TRUE(ended && started);
}

// An operator that runs when another one fails is the last one of its chain.
TEST_F(ScheduledNetTest, AnErrorStopsTheRestOfOtherChains) {
  SetThreads(2);
  std::atomic<bool> failed{false};
  int started = 0;
  Calls() = {{"a",
              [&](OperatorBase*) {
                EXPECT_TRUE(WaitFor([&] { return failed.load(); }));
                std::this_thread::sleep_for(std::chrono::milliseconds(20));
              }},
             {"b",
              [&](OperatorBase*) {
                failed = true;
                CAFFE_THROW("no luck");
              }},
             {"rest", [&](OperatorBase*) { ++started; }}};
  const auto net = Make(R"(name: "n" type: "async_scheduling"
      op { type: "ExecutorTestCall" name: "a" output: "x" }
      op { type: "ExecutorTestCall" name: "rest" input: "x" output: "w" }
      op { type: "ExecutorTestCall" name: "b" output: "y" })");
  constexpr int kRuns = 8;
  for (int run = 0; run < kRuns; ++run) {
    failed = false;
    ExpectThrows([&] { net->Run(); }, "no luck");
  }
  EXPECT_LT(started, kRuns) << "a slow machine may start it now and then";
}

// The reader would wait for ever.
TEST_F(ScheduledNetTest, AnErrorStopsOperatorsThatWait) {
  Calls() = {{"fail", [](OperatorBase*) { CAFFE_THROW("no luck"); }}};
  const auto net = Make(R"(name: "n" type: "dag"
      op { type: "CreateBlobsQueue" output: "q" }
      op { type: "DequeueBlobs" input: "q" output: "c" }
      op { type: "ExecutorTestCall" name: "fail" input: "q" output: "x" })");
  for (int run = 0; run < 3; ++run) ExpectThrows([&] { net->Run(); }, "no luck");
}

TEST_F(ScheduledNetTest, ASecondCallerGetsAnError) {
  SetThreads(2);
  std::atomic<bool> running{false}, go_on{false};
  Calls() = {{"a", [&](OperatorBase*) {
                running = true;
                EXPECT_TRUE(WaitFor([&] { return go_on.load(); }));
              }}};
  const auto net = Make(MakeString(R"(name: "n" type: "async_scheduling")", kTwoBranches));
  std::thread first([&] { EXPECT_TRUE(net->Run()); });
  EXPECT_TRUE(WaitFor([&] { return running.load(); }));
  ExpectThrows([&] { net->Run(); }, "net \"n\" is running, want one run at a time");
  go_on = true;
  first.join();
  EXPECT_TRUE(net->Run());
}

TEST_F(ScheduledNetTest, RunAsyncReturnsBeforeTheNetHasEnded) {
  for (const char* type : {"dag", "async_scheduling", "async_simple"}) {
    std::atomic<bool> go_on{false};
    bool fails = false;
    Calls() = {{"a", [&](OperatorBase*) {
                  EXPECT_TRUE(WaitFor([&] { return go_on.load(); }));
                  if (fails) CAFFE_THROW("no luck");
                }}};
    const auto net = Make(MakeString(R"(name: "n" type: ")", type, "\"", kTwoBranches));
    EXPECT_TRUE(net->SupportsAsync());
    net->Wait();  // nothing to wait for
    EXPECT_TRUE(net->RunAsync());
    ExpectThrows([&] { net->RunAsync(); }, "is running");
    go_on = true;
    net->Wait();
    fails = true;
    EXPECT_TRUE(net->RunAsync());
    ExpectThrows([&] { net->Wait(); }, "operator 0 (ExecutorTestCall");
    fails = false;
    EXPECT_TRUE(net->Run());
  }
}

TEST_F(ScheduledNetTest, CancelStopsARun) {
  SetThreads(2);
  for (const char* type : {"simple", "rnn", "simple_refcount", "dag", "prof_dag", "async_dag",
                           "async_polling", "async_scheduling", "parallel", "async_simple"}) {
    std::atomic<bool> running{false}, cancelled{false};
    bool started = false;
    Calls() = {{"a",
                [&](OperatorBase*) {
                  running = true;
                  EXPECT_TRUE(WaitFor([&] { return cancelled.load(); }));
                }},
               {"c", [&](OperatorBase*) { started = true; }}};
    const auto net = Make(MakeString(R"(name: "n" type: ")", type, "\"", kTwoBranches));
    std::thread canceller([&] {
      EXPECT_TRUE(WaitFor([&] { return running.load(); }));
      net->Cancel();
      cancelled = true;
    });
    EXPECT_THROW(net->Run(), RunStopped) << type;
    canceller.join();
    EXPECT_FALSE(started);
    EXPECT_TRUE(net->Run()) << type;
    EXPECT_TRUE(started);
  }
}

class CancellingObserver final : public ObserverBase<NetBase> {
 public:
  using ObserverBase<NetBase>::ObserverBase;
  void Start() override { subject()->Cancel(); }
};

// A run begins before its observers start.
TEST_F(ScheduledNetTest, CancelStopsARunThatHasStartedNoOperator) {
  for (const char* type : {"simple", "simple_refcount", "dag", "async_simple"}) {
    bool started = false;
    Calls() = {{"a", [&](OperatorBase*) { started = true; }}};
    const auto net = Make(MakeString(R"(name: "n" type: ")", type, "\"", kTwoBranches));
    const auto* observer = net->AttachObserver(std::make_unique<CancellingObserver>(net.get()));
    EXPECT_THROW(net->Run(), RunStopped) << type;
    EXPECT_FALSE(started);
    net->DetachObserver(observer);
    EXPECT_TRUE(net->Run()) << type;
    EXPECT_TRUE(started);
  }
}

TEST_F(ScheduledNetTest, CancelStopsOperatorsThatWait) {
  for (const char* type : {"simple", "simple_refcount", "dag", "async_scheduling"}) {
    std::atomic<bool> running{false};
    Calls() = {{"a", [&](OperatorBase*) { running = true; }}};
    const auto net = Make(MakeString(R"(name: "n" type: ")", type, R"("
        op { type: "CreateBlobsQueue" output: "q" }
        op { type: "ExecutorTestCall" name: "a" input: "q" output: "x" }
        op { type: "DequeueBlobs" input: "q" control_input: "x" output: "c" })"));
    std::thread canceller([&] {
      EXPECT_TRUE(WaitFor([&] { return running.load(); }));
      net->Cancel();
    });
    ExpectThrows([&] { net->Run(); }, "the run was stopped");
    canceller.join();
  }
}

TEST_F(ScheduledNetTest, CancelStopsARunOfRunAsync) {
  for (const char* type : {"dag", "async_simple"}) {
    const auto net = Make(MakeString(R"(name: "n" type: ")", type, R"("
        op { type: "CreateBlobsQueue" output: "q" }
        op { type: "DequeueBlobs" input: "q" output: "c" })"));
    for (int run = 0; run < 5; ++run) {
      EXPECT_TRUE(net->RunAsync());
      net->Cancel();
      EXPECT_THROW(net->Wait(), RunStopped);
    }
  }
}

// A scope around the run, such as that of a concurrent step of a plan.
TEST_F(ScheduledNetTest, AScopeAroundTheRunStopsIt) {
  SetThreads(2);
  std::atomic<bool> stopped{false};
  Calls() = {{"a", [&](OperatorBase*) { stopped = true; }}};
  for (const char* type : {"simple", "async_scheduling"}) {
    const auto net = Make(MakeString(R"(name: "n" type: ")", type, "\"", kTwoBranches));
    stopped = false;
    {
      const StopScope scope(stopped);
      EXPECT_THROW(net->Run(), RunStopped);
    }
    EXPECT_TRUE(net->Run());
  }
}

TEST_F(ScheduledNetTest, CarriesTheStateOfTheCallerToOtherThreads) {
  SetThreads(2);
  std::atomic<int> met{0};
  std::mutex mutex;
  std::set<std::thread::id> threads;
  const FileAccess* const want = t_thread_state.file_access;
  const auto check = [&](OperatorBase*) {
    EXPECT_TRUE(TransientWrites::active());
    EXPECT_NE(t_thread_state.running_net, nullptr);
    EXPECT_EQ(t_thread_state.file_access, want);
    EXPECT_NE(t_thread_state.stop_scope, nullptr);
    {
      const std::lock_guard<std::mutex> lock(mutex);
      threads.insert(std::this_thread::get_id());
    }
    ++met;
    EXPECT_TRUE(WaitFor([&] { return met >= 2; }));
  };
  Calls() = {{"a", check}, {"b", check}, {"wait", check}};
  Make(MakeString(R"(name: "n" type: "async_scheduling")", kTwoBranches,
                  R"( op { type: "ExecutorTestWait" name: "wait" input: "z" output: "w" })"))
      ->Run();
  EXPECT_EQ(threads.size(), 3u);
}

class CountRuns final : public ObserverBase<OperatorBase> {
 public:
  CountRuns(OperatorBase* op, std::atomic<int>* runs) : ObserverBase(op), runs_(runs) {}
  void Start() override { ++*runs_; }

 private:
  std::atomic<int>* const runs_;
};

TEST_F(ScheduledNetTest, EveryTypeCallsTheObserversOfOperators) {
  SetThreads(2);
  for (const char* type : {"simple", "rnn", "simple_refcount", "async_simple", "dag", "prof_dag",
                           "async_dag", "async_polling", "async_scheduling", "parallel"}) {
    const auto net =
        Make(MakeString(R"(name: "n" type: ")", type, R"(" num_workers: 2)", kTwoBranches,
                        R"( op { type: "ExecutorTestWait" input: "z" output: "w" })"));
    std::atomic<int> runs{0};
    for (OperatorBase* op : net->GetOperators()) {
      op->AttachObserver(std::make_unique<CountRuns>(op, &runs));
    }
    EXPECT_TRUE(net->Run());
    EXPECT_EQ(runs, 4) << type;
  }
}

TEST_F(ScheduledNetTest, ALaterRunAllocatesNothing) {
  if (!AllocationCounter::kCounts) GTEST_SKIP() << "this build does not count allocations";
  SetThreads(2);
  std::string text = R"(name: "n" type: "async_scheduling")";
  for (int i = 0; i < 20; ++i) {
    text += MakeString(R"( op { type: "ExecutorTestCall" output: "x)", i, R"(" }
        op { type: "ExecutorTestCall" input: "x)",
                       i, R"(" output: "y)", i, "\" }");
  }
  const auto net = Make(text);
  for (int run = 0; run < 3; ++run) net->Run();
  AllocationCounter counter;
  for (int run = 0; run < 20; ++run) net->Run();
  EXPECT_EQ(counter.Counts().allocations, 0);
  EXPECT_EQ(counter.Counts().locks, 0);
}

TEST_F(ScheduledNetTest, EachRunOfRunAsyncHasTheStateOfItsCaller) {
  for (const char* type : {"dag", "async_scheduling", "async_simple"}) {
    SCOPED_TRACE(type);
    int threads = -1;
    Calls() = {{"a", [&](OperatorBase*) { threads = t_thread_state.threads; }}};
    const auto net = Make(MakeString(R"(name: "n" type: ")", type,
                                     R"(" op { type: "ExecutorTestCall" name: "a" output: "x" })"));
    for (const int wanted : {3, 5, 0, 2}) {
      const WorkScope scope({.threads = wanted});
      ASSERT_TRUE(net->RunAsync());
      net->Wait();
      EXPECT_EQ(threads, wanted);
    }
    {
      const std::atomic<bool> stopped{true};
      const StopScope scope(stopped);
      ASSERT_TRUE(net->RunAsync());
      EXPECT_THROW(net->Wait(), RunStopped);
    }
    ASSERT_TRUE(net->RunAsync());
    EXPECT_NO_THROW(net->Wait());
  }
}

// Three branches that wait until as many of them run as there are threads.
TEST_F(ScheduledNetTest, EachRunHasTheThreadsOfThePoolAsItIs) {
  for (const char* header : {R"(type: "async_scheduling")", R"(type: "dag" num_workers: 3)"}) {
    SCOPED_TRACE(header);
    int threads = 0;
    std::atomic<int> met{0}, inside{0}, most{0};
    const auto meet = [&](OperatorBase*) {
      const int now = ++inside;
      for (int seen = most; now > seen && !most.compare_exchange_weak(seen, now);) {
      }
      ++met;
      EXPECT_TRUE(WaitFor([&] { return met >= threads; })) << threads;
      --inside;
    };
    Calls() = {{"a", meet}};
    const auto net = Make(MakeString(R"(name: "n" )", header, R"(
        op { type: "ExecutorTestCall" name: "a" output: "x" }
        op { type: "ExecutorTestCall" name: "a" output: "y" }
        op { type: "ExecutorTestCall" name: "a" output: "z" })"));
    for (const int pool : {2, 3, 1, 3, 2, 2, 3}) {
      SetThreads(pool);
      threads = pool;
      met = most = 0;
      EXPECT_TRUE(net->Run());
      EXPECT_EQ(met, 3);
      EXPECT_LE(most, pool);
    }
  }
}

}  // namespace
}  // namespace caffe2rt::test::scheduled_net_test
