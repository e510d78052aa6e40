#include "caffe2_core/base/pool_workers.h"

#include <gtest/gtest.h>
#include <pthread.h>
#include <signal.h>

#include <chrono>
#include <thread>

namespace caffe2rt::pool_workers_test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// Returns whether the flag became true, in a time that is long enough for any machine.
bool WaitFor(const std::atomic<bool>& flag) {
  const auto end = std::chrono::steady_clock::now() + seconds(20);
  while (!flag && std::chrono::steady_clock::now() < end) {
    std::this_thread::sleep_for(milliseconds(1));
  }
  return flag;
}

// A signal with this handler ends the sleep of a thread in futex().
void HandleSignal(int signal) {
  struct sigaction action = {};
  action.sa_handler = [](int) {};
  sigaction(signal, &action, nullptr);
}

// Runs a job whose last piece ends on a worker while the caller sleeps. Returns whether the caller
// woke up, and wakes it by a signal otherwise.
bool WakesSleepingCaller(PoolWorkers* workers) {
  std::atomic<bool> started{false}, joined{false};
  std::thread caller([&] {
    auto piece = [&](int i) {
      if (i == 0) {
        EXPECT_TRUE(WaitFor(started));
      } else {
        started = true;
        std::this_thread::sleep_for(milliseconds(20));  // the caller goes to sleep
      }
    };
    EXPECT_TRUE(workers->TryRun(2, PieceFunction(piece)));
    joined = true;
  });
  const bool woke = WaitFor(joined);
  while (!joined) {
    pthread_kill(caller.native_handle(), SIGUSR1);
    std::this_thread::sleep_for(milliseconds(1));
  }
  caller.join();
  return woke;
}

class PoolWorkersTest : public testing::Test {
 protected:
  // The tests of other files would hang. (GoogleTest restores flags after a test.)
  static void TearDownTestSuite() {
    if (caller_hangs_) GTEST_FLAG_SET(fail_fast, true);
  }
  inline static bool caller_hangs_ = false;
};

TEST_F(PoolWorkersTest, TheLastPieceWakesACallerThatSleeps) {
  HandleSignal(SIGUSR1);
  const ThreadPoolOptions rows[] = {
      {.num_threads = 2, .spin_us = 0, .back_off = true},
      {.num_threads = 2, .spin_us = 0, .back_off = false},
      {.num_threads = 2, .spin_us = 50, .back_off = false},
      {.num_threads = 3, .cpus = {sched_getcpu()}, .back_off = true},  // more workers than CPUs
  };
  for (const ThreadPoolOptions& options : rows) {
    PoolWorkers workers(options);
    caller_hangs_ = !WakesSleepingCaller(&workers);
    ASSERT_FALSE(caller_hangs_) << options.num_threads << " threads, spin_us " << options.spin_us
                                << ", back_off " << options.back_off;
  }
  signal(SIGUSR1, SIG_DFL);
}

}  // namespace
}  // namespace caffe2rt::pool_workers_test
