#include "caffe2_core/base/condition_variable.h"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>
#include <vector>

namespace caffe2rt::test::condition_variable_test {
namespace {

constexpr int kThreads = 4;
constexpr int kRounds = 2000;

// Two threads that take turns.
struct TurnCount {
  Mutex mutex;
  ConditionVariable changed;
  int turn ABSL_GUARDED_BY(mutex) = 0;
};

TEST(ConditionVariableTest, WakesTheThreadThatWaits) {
  TurnCount turns;
  std::jthread other([&turns] {
    const MutexLock lock(turns.mutex);
    for (int i = 0; i < kRounds; ++i) {
      while (turns.turn != 2 * i) turns.changed.Wait(turns.mutex);
      ++turns.turn;
      turns.changed.NotifyOne();
    }
  });
  const MutexLock lock(turns.mutex);
  for (int i = 0; i < kRounds; ++i) {
    while (turns.turn != 2 * i + 1) turns.changed.Wait(turns.mutex);
    ++turns.turn;
    turns.changed.NotifyOne();
  }
  EXPECT_EQ(turns.turn, 2 * kRounds);
}

TEST(ConditionVariableTest, WakesAllThreads) {
  struct {
    Mutex mutex;
    ConditionVariable changed;
    int inside ABSL_GUARDED_BY(mutex) = 0;
  } room;
  std::vector<std::jthread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&room] {
      const MutexLock lock(room.mutex);
      if (++room.inside == kThreads) room.changed.NotifyAll();
      while (room.inside < kThreads) room.changed.Wait(room.mutex);
    });
  }
}

TEST(ConditionVariableTest, StopsWaitingAtTheDeadline) {
  constexpr std::chrono::steady_clock::time_point kPast{},
      kNever = std::chrono::steady_clock::time_point::max();
  TurnCount turns;
  const MutexLock lock(turns.mutex);
  EXPECT_FALSE(turns.changed.WaitUntil(turns.mutex, kPast));
  EXPECT_EQ(turns.turn, 0);  // under the lock, which WaitUntil acquired again
  std::jthread other([&turns] {
    const MutexLock lock(turns.mutex);
    turns.turn = 1;
    turns.changed.NotifyAll();
  });
  while (turns.turn == 0) EXPECT_TRUE(turns.changed.WaitUntil(turns.mutex, kNever));
}

}  // namespace
}  // namespace caffe2rt::test::condition_variable_test
