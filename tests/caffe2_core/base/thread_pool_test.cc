#include "caffe2_core/base/thread_pool.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "caffe2_core/base/enforce.h"
#include "tests/support/allocation_counter.h"
#include "tests/support/no_new_threads.h"

namespace caffe2rt::thread_pool_test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// Sets the process's pool for the duration of one test.
class Threads {
 public:
  explicit Threads(int n) { SetNumThreads(n); }
  ~Threads() { SetThreadPool({}); }
};

// Long enough for any machine. A test that waits this long has failed.
constexpr seconds kForever(60);

// Returns whether the condition became true.
template <class Condition>
bool WaitFor(Condition condition, std::chrono::nanoseconds patience = kForever) {
  const auto end = std::chrono::steady_clock::now() + patience;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::yield();
  }
  return true;
}

// Runs a job with one piece per thread, in which all pieces wait for each other. Returns the
// results of `visit(piece)`.
template <class Visit>
auto RunOnAllThreads(ThreadPool& pool, Visit visit) {
  std::vector<decltype(visit(0))> results(static_cast<size_t>(pool.num_threads()));
  std::atomic<int> started{0};
  auto piece = [&](int i) {
    ++started;
    EXPECT_TRUE(WaitFor([&] { return started == pool.num_threads(); }));
    results[static_cast<size_t>(i)] = visit(i);
  };
  pool.Run(pool.num_threads(), PieceFunction(piece));
  return results;
}

// Returns whether a second thread takes part in a job within the given time.
bool HasHelp(ThreadPool& pool, std::chrono::nanoseconds patience) {
  std::atomic<bool> second{false}, helped{false};
  auto piece = [&](int i) {
    if (i == 1) second = true;
    if (i == 0) helped = WaitFor([&] { return second.load(); }, patience);
  };
  pool.Run(2, PieceFunction(piece));
  return helped;
}

std::vector<int> CpusOfThisThread() {
  cpu_set_t set;
  EXPECT_EQ(sched_getaffinity(0, sizeof(set), &set), 0);
  std::vector<int> cpus;
  for (size_t i = 0; i < CPU_SETSIZE; ++i) {
    if (CPU_ISSET(i, &set)) cpus.push_back(static_cast<int>(i));
  }
  return cpus;
}
void SetCpusOfThisThread(const std::vector<int>& cpus) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int cpu : cpus) CPU_SET(static_cast<size_t>(cpu), &set);
  EXPECT_EQ(sched_setaffinity(0, sizeof(set), &set), 0);
}

TEST(ThreadPoolTest, RunsEveryPieceOnce) {
  for (const int threads : {1, 2, 4}) {
    for (const int spin_us : {0, 50}) {
      SetThreadPool({.num_threads = threads, .spin_us = spin_us});
      EXPECT_EQ(GetNumThreads(), threads);
      for (const size_t pieces : {2u, 3u, 100u}) {
        std::vector<std::atomic<int>> count(pieces);
        for (int run = 0; run < 500; ++run) {
          ParallelFor(static_cast<int>(pieces),
                      [&](int piece) { ++count[static_cast<size_t>(piece)]; });
        }
        for (const auto& c : count) EXPECT_EQ(c, 500) << threads << ' ' << spin_us << ' ' << pieces;
      }
    }
  }
  SetThreadPool({});
}

TEST(ThreadPoolTest, NoPiecesIsNothing) {
  const Threads guard(2);
  ParallelFor(0, [](int) { FAIL(); });
}

TEST(ThreadPoolTest, EveryThreadParticipates) {
  for (const int threads : {2, 3, 5}) {
    for (const int spin_us : {0, 50}) {
      ThreadPool pool({.num_threads = threads, .spin_us = spin_us, .back_off = false});
      std::vector<std::thread::id> first;
      for (int run = 0; run < 50; ++run) {
        if (run % 10 == 9) std::this_thread::sleep_for(milliseconds(2));  // workers go to sleep
        const auto ids = RunOnAllThreads(pool, [](int) { return std::this_thread::get_id(); });
        EXPECT_EQ(ids[0], std::this_thread::get_id());
        if (run == 0) first = ids;
        EXPECT_EQ(ids, first) << "a piece has moved";
      }
    }
  }
}

TEST(ThreadPoolTest, IdleThreadsStealPiecesOfOthers) {
  for (const int busy : {0, 4}) {  // the first piece of the caller, and of the worker
    ThreadPool pool({.num_threads = 2, .back_off = false});
    std::atomic<int> others{0};
    auto piece = [&](int i) {
      if (i != busy) {
        ++others;
      } else {
        EXPECT_TRUE(WaitFor([&] { return others == 7; }));
      }
    };
    for (int run = 0; run < 20; ++run) {
      others = 0;
      pool.Run(8, PieceFunction(piece));
    }
  }
}

TEST(ThreadPoolTest, NestedWorkRunsOnTheThreadOfItsPiece) {
  const Threads guard(3);
  std::atomic<int> count{0};
  for (int run = 0; run < 100; ++run) {
    ParallelFor(4, [&](int) {
      const std::thread::id outer = std::this_thread::get_id();
      ParallelFor(5, [&](int) {
        EXPECT_EQ(std::this_thread::get_id(), outer);
        ++count;
      });
    });
  }
  EXPECT_EQ(count, 2000);
  ThreadPool outer_pool({.num_threads = 2, .back_off = false});
  ThreadPool inner_pool({.num_threads = 2, .back_off = false});
  RunOnAllThreads(outer_pool, [&](int) {
    EXPECT_FALSE(HasHelp(inner_pool, milliseconds(1)));
    return 0;
  });
  EXPECT_TRUE(HasHelp(inner_pool, kForever));
}

TEST(ThreadPoolTest, ExceptionReachesTheCallerAfterAllPiecesEnded) {
  for (const int threads : {1, 3}) {
    const Threads guard(threads);
    std::atomic<int> done{0};
    EXPECT_THROW(ParallelFor(8,
                             [&](int piece) {
                               if (piece == 7) throw std::runtime_error("piece 7");
                               ++done;
                             }),
                 std::runtime_error);
    EXPECT_EQ(done, 7);
    ParallelFor(3, [&](int) { ++done; });  // the pool is usable afterwards
    EXPECT_EQ(done, 10);
  }
}

TEST(ThreadPoolTest, ExceptionsOfAllThreadsLeaveOne) {
  ThreadPool pool({.num_threads = 3, .back_off = false});
  for (int run = 0; run < 50; ++run) {
    try {
      RunOnAllThreads(pool, [](int i) -> int { throw std::runtime_error(std::to_string(i)); });
      ADD_FAILURE() << "no exception";
    } catch (const std::runtime_error& error) {
      EXPECT_THAT(error.what(),
                  testing::AnyOf(testing::StrEq("0"), testing::StrEq("1"), testing::StrEq("2")));
    }
    EXPECT_EQ(RunOnAllThreads(pool, [](int i) { return i; }), (std::vector<int>{0, 1, 2}));
  }
}

TEST(ThreadPoolTest, SeveralCallersShareThePool) {
  const Threads guard(2);
  std::atomic<int> count{0};
  std::vector<std::thread> callers;
  for (int t = 0; t < 4; ++t) {
    callers.emplace_back([&] {
      for (int run = 0; run < 100; ++run) ParallelFor(4, [&](int) { ++count; });
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(count, 1600);
}

TEST(ThreadPoolTest, CallerRunsAloneWhileAnotherHasTheWorkers) {
  ThreadPool pool({.num_threads = 2, .back_off = false});
  auto occupied = [&](int piece) {
    if (piece != 0) return;
    std::thread([&] {
      const std::thread::id caller = std::this_thread::get_id();
      auto inner = [&](int) { EXPECT_EQ(std::this_thread::get_id(), caller); };
      pool.Run(4, PieceFunction(inner));
    }).join();
  };
  pool.Run(2, PieceFunction(occupied));
  EXPECT_TRUE(HasHelp(pool, kForever));
}

TEST(ThreadPoolTest, WarmPoolAllocatesAndLocksNothing) {
  if (!test::AllocationCounter::kCounts) GTEST_SKIP() << "sanitizers count allocations themselves";
  const Threads guard(2);
  std::atomic<int> count{0};
  for (int run = 0; run < 3; ++run) ParallelFor(4, [&](int) { ++count; });
  const test::AllocationCounter counter;
  for (int run = 0; run < 100; ++run) ParallelFor(4, [&](int) { ++count; });
  EXPECT_EQ(counter.Counts().allocations, 0);
  EXPECT_EQ(counter.Counts().locks, 0);
}

TEST(ThreadPoolTest, ChildProcessRunsPiecesAlone) {
  auto pool = std::make_unique<ThreadPool>(
      ThreadPoolOptions{.num_threads = 2, .spin_us = 0, .back_off = false});
  RunOnAllThreads(*pool, [](int i) { return i; });
  std::this_thread::sleep_for(milliseconds(5));  // the worker goes to sleep
  const pid_t child = fork();
  if (child == 0) {
    const std::vector<int> cpus = CpusOfThisThread();
    int count = 0;
    auto piece = [&](int) { ++count; };
    for (int run = 0; run < 10; ++run) pool->Run(6, PieceFunction(piece));
    pool.reset();  // does not wait for the parent's workers
    // The handle of a thread that does not exist denotes the calling thread.
    _exit(count != 60 ? 1 : CpusOfThisThread() != cpus ? 2 : 0);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
}

TEST(ThreadPoolTest, RejectsInvalidOptions) {
  const struct {
    ThreadPoolOptions options;
    const char* message;
  } cases[] = {
      {{.num_threads = 0}, "number of threads is 0, want 1 to 1024"},
      {{.num_threads = 100000}, "number of threads is 100000, want 1 to 1024"},
      {{.spin_us = -1}, "microseconds that a thread pool spins"},
      {{.num_threads = 2, .cpus = {-1}}, "CPU of a thread pool is -1, want 0 to 1023"},
      {{.num_threads = 2, .cpus = {1024}}, "CPU of a thread pool is 1024, want 0 to 1023"},
      {{.num_threads = 2, .cpus = {1023}},
       "the workers of a thread pool cannot run on the CPUs [1023], want CPUs that this process "
       "may use"},
  };
  for (const auto& c : cases) {
    try {
      const ThreadPool pool(c.options);
      ADD_FAILURE() << "accepted, want: " << c.message;
    } catch (const EnforceNotMet& error) {
      EXPECT_THAT(error.what(), testing::HasSubstr(c.message));
    }
  }
  const Threads guard(2);
  EXPECT_THROW(SetNumThreads(0), EnforceNotMet);
  EXPECT_EQ(GetNumThreads(), 2) << "the pool stays when the options are rejected";
}

TEST(ThreadPoolTest, StaysIfTheThreadsOfANewOneCannotStart) {
  const Threads guard(2);
  const test::NoNewThreads none;
  EXPECT_THROW(SetNumThreads(3), std::system_error);
  EXPECT_EQ(GetNumThreads(), 2);
  SetNumThreads(1);
  EXPECT_EQ(GetNumThreads(), 1);
}

// --- CPUs ---

TEST(ThreadPoolTest, WorkersRunOnTheGivenCpus) {
  const std::vector<int> all = CpusOfThisThread();
  ThreadPool pool({.num_threads = 3, .cpus = {all.back()}, .back_off = false});
  const auto cpus = RunOnAllThreads(pool, [](int) { return CpusOfThisThread(); });
  EXPECT_EQ(cpus[0], all) << "the caller keeps its own";
  EXPECT_EQ(cpus[1], std::vector<int>{all.back()});
  EXPECT_EQ(cpus[2], std::vector<int>{all.back()});
}

TEST(ThreadPoolTest, WorkersWakeAwayFromTheCallersCpu) {
  const std::vector<int> all = CpusOfThisThread();
  if (all.size() < 2) GTEST_SKIP() << "this process has one CPU";
  ThreadPool pool({.num_threads = 2, .spin_us = 0, .back_off = false});
  for (const int mine : {all[0], all[1], all[0]}) {
    SetCpusOfThisThread({mine});
    std::vector<int> want = all;
    std::erase(want, mine);
    EXPECT_TRUE(WaitFor([&] {  // a worker that is still awake stays on its CPU
      std::this_thread::sleep_for(milliseconds(1));
      return RunOnAllThreads(pool, [](int) { return CpusOfThisThread(); })[1] == want;
    })) << mine;
  }
  SetCpusOfThisThread(all);
}

TEST(ThreadPoolTest, WorkersKeepTheCallersCpuWhenTheyNeedIt) {
  const std::vector<int> all = CpusOfThisThread();
  if (all.size() < 2) GTEST_SKIP() << "this process has one CPU";
  const std::vector<int> two = {all[0], all[1]};
  ThreadPool pool({.num_threads = 3, .cpus = two, .spin_us = 0, .back_off = false});
  SetCpusOfThisThread({all[0]});
  for (int run = 0; run < 3; ++run) {
    std::this_thread::sleep_for(milliseconds(2));
    const auto cpus = RunOnAllThreads(pool, [](int) { return CpusOfThisThread(); });
    EXPECT_EQ(cpus[1], two);
    EXPECT_EQ(cpus[2], two);
  }
  SetCpusOfThisThread(all);
}

TEST(ThreadPoolTest, WorkersBeyondTheCpusAreLeftToTheKernel) {
  const std::vector<int> all = CpusOfThisThread();
  ThreadPool pool({.num_threads = static_cast<int>(all.size()) + 1, .back_off = false});
  for (int run = 0; run < 3; ++run) {
    std::this_thread::sleep_for(milliseconds(2));
    for (const auto& cpus : RunOnAllThreads(pool, [](int) { return CpusOfThisThread(); })) {
      EXPECT_EQ(cpus, all);
    }
  }
}

// --- back-off ---

// Runs a job whose second piece takes long and runs on a thread other than the caller.
void RunWithSlowPiece(ThreadPool& pool, void (*be_slow)(milliseconds)) {
  const auto start = std::chrono::steady_clock::now();
  std::atomic<bool> second{false};
  auto piece = [&](int i) {
    if (i == 0) {
      EXPECT_TRUE(WaitFor([&] { return second.load(); }));
      return;
    }
    // However late this piece started, what follows takes longer than the caller's own piece.
    const auto passed = std::chrono::steady_clock::now() - start;
    second = true;
    be_slow(std::chrono::duration_cast<milliseconds>(2 * passed) + milliseconds(5));
  };
  pool.Run(2, PieceFunction(piece));
}

// Returns whether workers help sooner than any back-off ends. On a loaded machine the workers may
// be late or stalled, and a join may end before its caller notices. Therefore several successes
// among many attempts are required.
bool HelpsRightAfter(const ThreadPoolOptions& options, void (*be_slow)(milliseconds)) {
  int successes = 0;
  for (int attempt = 0; attempt < 2000 && successes < 5; ++attempt) {
    ThreadPool pool(options);
    RunWithSlowPiece(pool, be_slow);
    const auto joined = std::chrono::steady_clock::now();
    successes += HasHelp(pool, milliseconds(5)) &&
                 std::chrono::steady_clock::now() - joined < milliseconds(15);
  }
  return successes == 5;
}

void Sleep(milliseconds time) { std::this_thread::sleep_for(time); }
void Compute(milliseconds time) {
  const auto processor_time = [] {
    timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec);
  };
  for (const auto end = processor_time() + time; processor_time() < end;) {
  }
}

TEST(ThreadPoolTest, CallersRunAloneForAWhileAfterAStall) {
  if (CpusOfThisThread().size() < 2) GTEST_SKIP() << "this process has one CPU";
  // On a loaded machine this thread may be late, and find that the back-off has ended.
  bool ran_alone = false;
  for (int attempt = 0; attempt < 100 && !ran_alone; ++attempt) {
    ThreadPool pool({.num_threads = 2});
    // The first job: a later one may run alone, if another process has delayed the worker before.
    RunWithSlowPiece(pool, Sleep);
    ran_alone = !HasHelp(pool, milliseconds(1));
    EXPECT_TRUE(WaitFor([&] { return HasHelp(pool, milliseconds(1)); })) << "workers come back";
  }
  EXPECT_TRUE(ran_alone);
}

TEST(ThreadPoolTest, BacksOffForStallsAndIfAllowedOnly) {
  if (CpusOfThisThread().size() < 2) GTEST_SKIP() << "this process has one CPU";
  EXPECT_TRUE(HelpsRightAfter({.num_threads = 2, .back_off = false}, Sleep));
  EXPECT_TRUE(HelpsRightAfter({.num_threads = 2}, Compute)) << "a long piece is no stall";
}

// --- an embedder's pool ---

// Runs each piece on a thread of its own.
class ThreadPerPiece : public PieceRunner {
 public:
  explicit ThreadPerPiece(int threads) : threads_(threads) {}
  int num_threads() const override { return threads_; }
  void Run(int pieces, PieceFunction function) override {
    ++calls;
    std::vector<std::jthread> threads;
    for (int i = 0; i < pieces; ++i) threads.emplace_back([=] { function(i); });
  }
  std::atomic<int> calls{0};

 private:
  const int threads_;
};

TEST(PieceFunctionTest, CopiesCallTheCallable) {
  int sum = 0;
  auto add = [&](int piece) { sum += piece; };
  auto nothing = [](int) {};
  PieceFunction function(add);
  PieceFunction copy(function);
  const auto kept = [function] { function(4); };
  function = PieceFunction(nothing);
  copy(3);
  EXPECT_EQ(sum, 3);
  kept();
  EXPECT_EQ(sum, 7);
}

TEST(ThreadPoolTest, EmbeddersPoolRunsThePieces) {
  ThreadPerPiece runner(3);
  SetThreadPool({.runner = &runner});
  EXPECT_EQ(GetNumThreads(), 3);
  EXPECT_EQ(ProcessThreadPool().num_threads(), 3);
  std::atomic<int> count{0};
  ParallelFor(4, [&](int) {
    const std::thread::id outer = std::this_thread::get_id();
    ParallelFor(5, [&](int) {
      EXPECT_EQ(std::this_thread::get_id(), outer);
      ++count;
    });
  });
  EXPECT_EQ(count, 20);
  EXPECT_EQ(runner.calls, 1);
  ParallelFor(1, [&](int) { ++count; });
  EXPECT_EQ(runner.calls, 1) << "one piece is no parallel work";
  SetNumThreads(2);
  EXPECT_EQ(GetNumThreads(), 3) << "the embedder's pool says how many threads it has";
  SetThreadPool({.num_threads = 2});
  ParallelFor(4, [&](int) { ++count; });
  EXPECT_EQ(runner.calls, 1);
  SetThreadPool({});
}

TEST(ThreadPoolTest, EmbeddersPoolSeesNoExceptions) {
  ThreadPerPiece runner(2);
  SetThreadPool({.runner = &runner});
  std::atomic<int> done{0};
  EXPECT_THROW(ParallelFor(4,
                           [&](int piece) {
                             if (piece % 2 == 0) throw std::runtime_error("even");
                             ++done;
                           }),
               std::runtime_error);
  EXPECT_EQ(done, 2);
  SetThreadPool({});
}

TEST(ThreadPoolTest, RejectsAnEmbeddersPoolWithoutThreads) {
  ThreadPerPiece runner(0);
  EXPECT_THROW(SetThreadPool({.runner = &runner}), EnforceNotMet);
}

}  // namespace
}  // namespace caffe2rt::thread_pool_test
