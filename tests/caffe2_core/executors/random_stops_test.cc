// Runs that end at random moments: no hang, no leak, and the next run is right. CAFFE2_TEST_STOPS sets
// the number of stops of each type, CAFFE2_TEST_RANDOM_FIRST the seed of the first one.
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <random>

#include "caffe2_core/base/memory_budget.h"
#include "caffe2_core/runtime/deadline.h"
#include "tests/caffe2_core/executors/call_operator.h"
#include "tests/caffe2_core/executors/random_net.h"
#include "tests/support/wait_for.h"

namespace caffe2rt::test::random_stops_test {
namespace {

enum class Way {
  kThrow,          // an operator throws
  kScope,          // a scope around the run is stopped, by an operator
  kCancel,         // another thread cancels
  kDeadline,       // the time is over
  kBudget,         // no memory is left
  kCancelQueue,    // another thread cancels while an operator waits
  kDeadlineQueue,  // the time is over while an operator waits
  kPlan,           // a concurrent step of the plan fails
  kNumber
};

constexpr size_t kBigBytes = 1 << 20;
constexpr char kBig[] =
    R"(op { type: "ConstantFill" output: "big" arg { name: "shape" ints: 262144 } })";
constexpr char kDequeue[] = R"(op { type: "DequeueBlobs" input: "q" output: "d" })";

// Without those that end: a thread that was joined stays in /proc for a moment.
size_t NumberOfThreads() {
  constexpr unsigned long kEnds = 4;  // PF_EXITING of the kernel
  size_t threads = 0;
  for (const auto& thread : std::filesystem::directory_iterator("/proc/self/task")) {
    std::ifstream file(thread.path() / "stat");
    std::string text;  // "7 (name) R", five numbers, and the flags
    std::getline(file, text);
    const size_t state = text.rfind(')');
    unsigned long flags = kEnds;  // if it has just gone
    if (state != std::string::npos) {
      (void)std::sscanf(text.c_str() + state, ") %*c %*d %*d %*d %*d %*d %lu", &flags);
    }
    threads += (flags & kEnds) == 0;
  }
  return threads;
}

class RandomStopsTest : public ExecutorTest {
 protected:
  RandomStopsTest() {
    SetThreads(4);
    Calls()["slow"] = [](OperatorBase*) {
      std::this_thread::sleep_for(std::chrono::microseconds(20));
    };
    Calls()["flaky"] = [](OperatorBase*) {};
  }
  ~RandomStopsTest() override { GlobalCPUMemoryOptions().limit_bytes = limit_before_; }

  std::chrono::microseconds RandomTime() { return std::chrono::microseconds(random_() % 500); }

  // Calls `run`, while another thread cancels the net after a random time.
  void RunAndCancel(NetBase* net, const std::function<void()>& run) {
    std::atomic<bool> ended{false};
    const std::jthread other([&, time = RandomTime()] {
      std::this_thread::sleep_for(time);
      do {
        net->Cancel();
        std::this_thread::yield();
      } while (!ended);
    });
    run();
    ended = true;
  }

  void RunPlan(const NetDef& def, Workspace* ws) {
    PlanDef plan;
    *plan.add_network() = def;
    *plan.add_network() = ParseNet(R"(name: "other" op { type: "ExecutorTestCall" name: "late" })");
    ExecutionStep* const step = plan.add_execution_step();
    step->set_concurrent_substeps(true);
    ExecutionStep* const first = step->add_substep();
    first->add_network("n");
    first->set_num_iter(1000000);
    step->add_substep()->add_network("other");
    Calls()["late"] = [time = RandomTime()](OperatorBase*) {
      std::this_thread::sleep_for(time);
      CAFFE_THROW("no luck");
    };
    ExpectThrows([&] { ws->RunPlan(plan); }, "no luck");
  }

  // Starts a run that ends early, unless the stop comes too late.
  void Stop(Way way, const NetDef& def, NetBase* net, Workspace* ws) {
    const auto run = [net] { net->Run(); };
    const auto run_stopped = [net] { EXPECT_THROW(net->Run(), RunStopped); };
    const auto run_if_not_stopped = [net] {
      try {
        net->Run();
      } catch (const RunStopped&) {
      }
    };
    std::atomic<int> left{static_cast<int>(random_() % 4)};
    std::atomic<bool> stopped{false};
    Calls()["event"] = [&](OperatorBase*) {
      if (left-- != 0) return;
      if (way == Way::kThrow) CAFFE_THROW("no luck");
      if (way == Way::kScope) stopped = true;
    };
    switch (way) {
      case Way::kThrow:
        ExpectThrows(run, "no luck");
        break;
      case Way::kScope: {
        const StopScope scope(stopped);
        run_if_not_stopped();
        break;
      }
      case Way::kCancel:
        RunAndCancel(net, run_if_not_stopped);
        break;
      case Way::kDeadline:
        try {
          RunWithin(RandomTime(), run);
        } catch (const DeadlineExceeded&) {
        }
        break;
      case Way::kBudget:
        GlobalCPUMemoryOptions().limit_bytes = GetCPUMemoryUsage().in_use_bytes + kBigBytes / 2;
        EXPECT_THROW(net->Run(), OutOfMemory);
        GlobalCPUMemoryOptions().limit_bytes = limit_before_;
        break;
      case Way::kCancelQueue:
        RunAndCancel(net, run_stopped);
        break;
      case Way::kDeadlineQueue:
        EXPECT_THROW(RunWithin(RandomTime(), run), DeadlineExceeded);
        break;
      default:
        RunPlan(def, ws);
    }
    Calls()["event"] = [](OperatorBase*) {};
  }

  static void FeedAll(Workspace* ws) {
    FeedBlobs(ws);
    Feed<float>(ws, "record", {1}, {1});
    RunOp(ws, R"(type: "EnqueueBlobs" input: "q" input: "record" output: "record")");
  }

  static RandomNet NetFor(Way way, uint32_t seed) {
    RandomNet net(seed, {.most_operators = 40, .draws = false});
    for (int i = 0; i < 4; ++i) {
      net.Insert(MakeString("op { type: \"ExecutorTestCall\" name: \"event\" input: \"b", i,
                            "\" output: \"b", i, "\" }"));
    }
    if (way == Way::kBudget) net.Insert(kBig);
    if (way == Way::kCancelQueue || way == Way::kDeadlineQueue) net.Insert(kDequeue);
    return net;
  }

  void StopAndRunAgain(const std::string& type, uint32_t seed) {
    const auto way = static_cast<Way>(seed % static_cast<uint32_t>(Way::kNumber));
    const RandomNet net = NetFor(way, seed);
    Calls()["event"] = [](OperatorBase*) {};
    std::string want;
    {
      Workspace ws;
      FeedAll(&ws);
      EXPECT_TRUE(CreateNet(net.Def("simple"), &ws)->Run());
      want = BytesOfBlobs(ws);
    }
    Workspace ws;
    FeedBlobs(&ws);
    const NetDef def = net.Def(type);
    const auto created = CreateNet(def, &ws);
    Stop(way, def, created.get(), &ws);
    FeedAll(&ws);
    EXPECT_TRUE(created->Run());
    EXPECT_EQ(BytesOfBlobs(ws), want);
  }

  const size_t limit_before_ = GlobalCPUMemoryOptions().limit_bytes;
  std::mt19937 random_{1};
};

TEST_F(RandomStopsTest, LeaveNothingBehind) {
  const int stops = NumberFromEnvironment("CAFFE2_TEST_STOPS", 40);
  const int first = NumberFromEnvironment("CAFFE2_TEST_RANDOM_FIRST", 0);
  std::vector<const char*> types(std::begin(kTypesBesidesSimple), std::end(kTypesBesidesSimple));
  types.push_back("simple");
  StopAndRunAgain("async_scheduling", 0);  // allocates what the process keeps
  const size_t bytes = GetCPUMemoryUsage().in_use_bytes, threads = NumberOfThreads();
  for (const char* type : types) {
    for (int seed = first; seed < first + stops; ++seed) {
      StopAndRunAgain(type, static_cast<uint32_t>(seed));
      ASSERT_FALSE(HasFailure()) << type << " seed " << seed;
      ASSERT_EQ(GetCPUMemoryUsage().in_use_bytes, bytes) << type << " seed " << seed;
      // A thread that was joined stays in /proc for a moment.
      ASSERT_TRUE(WaitFor([&] { return NumberOfThreads() <= threads; }))
          << type << " seed " << seed;
      ASSERT_EQ(NumberOfThreads(), threads) << type << " seed " << seed;
    }
  }
}

// The first of ten branches fails, when most of the others are ready.
TEST_F(RandomStopsTest, BranchesThatWereReadyWaitForTheirInputsInTheNextRun) {
  SetThreads(2);
  bool fails = true;
  std::atomic<bool> written{false};
  std::atomic<int> branches{0};
  Calls() = {{"root",
              [&](OperatorBase*) {
                if (!fails) std::this_thread::sleep_for(std::chrono::milliseconds(20));
                written = true;
              }},
             {"branch", [&](OperatorBase*) {
                if (fails) CAFFE_THROW("no luck");
                EXPECT_TRUE(written);
                ++branches;
              }}};
  std::string text =
      "name: 'n' type: 'async_scheduling' op { type: 'ExecutorTestCall' name: 'root' output: 'x' "
      "} ";
  for (int i = 0; i < 10; ++i) {
    text +=
        MakeString("op { type: 'ExecutorTestCall' name: 'branch' input: 'x' output: 'y", i, "' } ");
  }
  Workspace ws;
  const auto net = CreateNet(ParseNet(text), &ws);
  for (int run = 0; run < 3; ++run) {
    fails = true;
    ExpectThrows([&] { net->Run(); }, "no luck");
    fails = written = false;
    branches = 0;
    EXPECT_TRUE(net->Run());
    EXPECT_EQ(branches, 10);
  }
}

}  // namespace
}  // namespace caffe2rt::test::random_stops_test
