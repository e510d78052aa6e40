#include "caffe2_core/executors/waiting_threads.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <memory>
#include <set>
#include <thread>

#include "caffe2_core/base/mutex.h"
#include "caffe2_core/executors/ready_chains.h"
#include "caffe2_core/executors/shared_turn.h"
#include "tests/caffe2_core/executors/call_operator.h"
#include "tests/support/no_new_threads.h"
#include "tests/support/operator_test.h"
#include "tests/support/sanitizers.h"

namespace caffe2rt::test::waiting_threads_test {
namespace {

TEST(ReadyChainsTest, GivesTheLowestChainFirst) {
  for (const uint32_t chains : {1u, 64u, 65u, 5000u}) {
    ReadyChains ready(chains);
    EXPECT_EQ(ready.Take(), ReadyChains::kNone);
    EXPECT_EQ(ready.First(), ReadyChains::kNone);
    const std::set<uint32_t> added = {0, chains / 2, chains - 1};
    for (const uint32_t chain : added) ready.Add(chain);
    for (const uint32_t chain : added) {
      EXPECT_EQ(ready.First(), chain);
      EXPECT_EQ(ready.Take(), chain);
    }
    EXPECT_EQ(ready.Take(), ReadyChains::kNone);
    ready.Add(chains - 1);
    ready.Clear();
    EXPECT_EQ(ready.Take(), ReadyChains::kNone);
  }
}

// Four threads take what two threads add.
TEST(ReadyChainsTest, LosesNoneAmongThreads) {
  constexpr uint32_t kChains = 20000;
  ReadyChains ready(kChains);
  std::vector<std::atomic<int>> taken(kChains);
  std::atomic<uint32_t> left{kChains};
  std::vector<std::thread> threads;
  for (uint32_t half = 0; half < 2; ++half) {
    threads.emplace_back([&, half] {
      for (uint32_t chain = half; chain < kChains; chain += 2) ready.Add(chain);
    });
  }
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      while (left > 0) {
        const uint32_t chain = ready.Take();
        if (chain == ReadyChains::kNone) continue;
        ++taken[chain];
        --left;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::atomic<int>& count : taken) ASSERT_EQ(count, 1);
}

// How many threads run a hundred tasks, one after the other.
size_t ThreadsOfTasks() {
  Mutex mutex;
  std::set<std::thread::id> ids;
  std::atomic<int> ended{0};
  WaitingThreads threads(
      [&](uint32_t) {
        {
          const MutexLock lock(mutex);
          ids.insert(std::this_thread::get_id());
        }
        ++ended;
      },
      2);
  for (int task = 1; task <= 100; ++task) {
    threads.Start(0);
    EXPECT_TRUE(WaitFor([&] { return ended == task; }));
  }
  const MutexLock lock(mutex);
  return ids.size();
}

TEST(WaitingThreadsTest, ReusesThreadsThatHaveNothingToDo) {
  // The first one may not be back in time; on a loaded machine others may not be, now and then.
  EXPECT_TRUE(WaitFor([] { return ThreadsOfTasks() <= 2; }));
}

// The threads of the parent do not exist in a child process, which reuses those that it has started itself.
TEST(WaitingThreadsTest, ChildProcessesStartThreadsOfTheirOwn) {
  if (kHasThreadSanitizer) GTEST_SKIP() << "TSAN allows no threads behind fork";
  std::atomic<int> ended{0};
  std::atomic<std::thread::id> last{};
  auto threads = std::make_unique<WaitingThreads>(
      [&](uint32_t) {
        last = std::this_thread::get_id();
        ++ended;
      },
      2);
  const auto run = [&] {
    const int before = ended;
    threads->Start(0);
    return WaitFor([&] { return ended == before + 1; });
  };
  ASSERT_TRUE(run());
  std::this_thread::sleep_for(std::chrono::milliseconds(20));  // the thread waits for a task
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);
    if (!run()) _exit(1);
    bool reused = false;
    for (int i = 0; i < 100 && !reused; ++i) {
      const std::thread::id before = last;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      if (!run()) _exit(2);
      reused = last.load() == before;
    }
    threads.reset();  // does not wait for the parent's threads
    _exit(reused ? 0 : 3);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  EXPECT_TRUE(run());
}

TEST(WaitingThreadsTest, TasksRunAtTheSameTime) {
  std::atomic<int> met{0};
  WaitingThreads threads(
      [&](uint32_t) {
        ++met;
        EXPECT_TRUE(WaitFor([&] { return met == 3; }));
      },
      3);
  for (uint32_t task = 0; task < 3; ++task) threads.Start(task);
}

// The destructor comes before the new threads have begun.
TEST(WaitingThreadsTest, TasksThatHaveNotBegunStillRunOnceEach) {
  for (int round = 0; round < 100; ++round) {
    std::atomic<int> runs[4] = {};
    {
      WaitingThreads threads([&](uint32_t task) { ++runs[task]; }, 4);
      for (uint32_t task = 0; task < 4; ++task) threads.Start(task);
    }
    for (const std::atomic<int>& count : runs) ASSERT_EQ(count, 1);
  }
}

// A task whose thread cannot start is forgotten: its caller has the error.
TEST(WaitingThreadsTest, ATaskWithoutAThreadNeverRuns) {
  std::atomic<int> runs[2] = {};
  {
    WaitingThreads threads([&](uint32_t task) { ++runs[task]; }, 2);
    {
      const NoNewThreads none;
      ExpectThrows(
          [&] { threads.Start(0); },
          "cannot start a thread for an operator that waits: Resource temporarily unavailable");
    }
    threads.Start(1);
  }
  EXPECT_EQ(runs[0], 0);
  EXPECT_EQ(runs[1], 1);
}

class CountedTurn final : public Turn {
 public:
  void GiveBack() override { ++given_back; }
  void TakeAgain() override { ++taken; }
  int given_back = 0, taken = 0;
};

// The turn is given back while all chains that have started wait.
TEST(SharedTurnTest, IsGivenBackWhileAllWait) {
  CountedTurn outer;
  SharedTurn turn;
  const auto expect = [&](int given_back, int taken) {
    EXPECT_EQ(outer.given_back, given_back);
    EXPECT_EQ(outer.taken, taken);
  };
  turn.Begin();
  turn.Begin();
  turn.GiveBack();  // one of two waits
  expect(0, 0);
  turn.End();  // the other one ends
  expect(1, 0);
  turn.Begin();  // a third one starts
  expect(1, 1);
  turn.GiveBack();
  expect(2, 1);
  turn.TakeAgain();
  expect(2, 2);
  turn.TakeAgain();
  turn.End();
  turn.End();
  expect(2, 2);
}

TEST(ReadyChainsTest, ClearForgetsTheChainsOfEveryWord) {
  constexpr uint32_t kChains = 64 * 64 + 1;  // of two groups of words
  ReadyChains ready(kChains);
  for (int round = 0; round < 2; ++round) {
    for (const uint32_t chain : {0u, 63u, 64u, 4095u, 4096u}) ready.Add(chain);
    ready.Clear();
    EXPECT_EQ(ready.First(), ReadyChains::kNone);
    for (const uint32_t chain : {4094u, 65u, 1u, 62u}) ready.Add(chain);
    for (const uint32_t chain : {1u, 62u, 65u, 4094u}) EXPECT_EQ(ready.Take(), chain);
    EXPECT_EQ(ready.Take(), ReadyChains::kNone);
  }
}

TEST(ReadyChainsTest, FirstLooksBeyondWordsThatHaveBecomeEmpty) {
  ReadyChains ready(200);
  ready.Add(3);
  ready.Add(130);
  EXPECT_EQ(ready.Take(), 3u);
  EXPECT_EQ(ready.First(), 130u) << "the bit of the first word is cleared later";
  EXPECT_EQ(ready.Take(), 130u);
  EXPECT_EQ(ready.First(), ReadyChains::kNone);
  ready.Add(130);
  ready.Add(130);  // added twice, it is one
  ready.Add(3);
  EXPECT_EQ(ready.First(), 3u);
  EXPECT_EQ(ready.Take(), 3u);
  EXPECT_EQ(ready.Take(), 130u);
  EXPECT_EQ(ready.Take(), ReadyChains::kNone);
}

TEST(SharedTurnTest, IsTheTurnOfItsThreadUntilItEnds) {
  EXPECT_EQ(t_thread_state.turn, nullptr);
  CountedTurn outer;
  {
    SharedTurn turn;
    EXPECT_EQ(t_thread_state.turn, &turn);
    turn.Begin();
    turn.GiveBack();
    EXPECT_EQ(outer.given_back, 1);
    turn.TakeAgain();
    EXPECT_EQ(outer.taken, 1);
    turn.End();
    EXPECT_EQ(outer.given_back, 1) << "nothing waits";
  }
  EXPECT_EQ(t_thread_state.turn, &outer);
}

TEST(SharedTurnTest, NeedsNoOuterTurn) {
  SharedTurn turn;
  turn.Begin();
  turn.GiveBack();
  turn.TakeAgain();
  turn.End();
  EXPECT_EQ(t_thread_state.turn, &turn);
}

}  // namespace
}  // namespace caffe2rt::test::waiting_threads_test
