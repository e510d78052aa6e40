#include "caffe2_core/base/work_scope.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "caffe2_core/base/thread_pool.h"

namespace caffe2rt::work_scope_test {
namespace {

class WorkScopeTest : public testing::Test {
 protected:
  WorkScopeTest() { SetNumThreads(4); }
  ~WorkScopeTest() override { SetNumThreads(1); }
};

TEST_F(WorkScopeTest, TheInnermostScopeCounts) {
  EXPECT_EQ(GetNumThreads(), 4);
  {
    const WorkScope two({.threads = 2});
    EXPECT_EQ(GetNumThreads(), 2);
    {
      const WorkScope three({.threads = 3});
      EXPECT_EQ(GetNumThreads(), 3);
      const WorkScope same({});
      EXPECT_EQ(GetNumThreads(), 3);
    }
    EXPECT_EQ(GetNumThreads(), 2);
  }
  EXPECT_EQ(GetNumThreads(), 4);
}

TEST_F(WorkScopeTest, ThePoolOfTheProcessIsTheLimit) {
  const WorkScope many({.threads = 9});
  EXPECT_EQ(GetNumThreads(), 4);
}

// Every piece runs once, and no more than two at the same time, although there are seven.
TEST_F(WorkScopeTest, PiecesShareTheThreadsOfTheScope) {
  const WorkScope two({.threads = 2});
  for (int round = 0; round < 50; ++round) {
    std::atomic<int> running{0}, most{0};
    std::vector<std::atomic<int>> runs(7);
    ParallelFor(7, [&](int piece) {
      const int now = ++running;
      int seen = most;
      while (seen < now && !most.compare_exchange_weak(seen, now)) {
      }
      for (std::atomic<int> spin{0}; spin < 1000; ++spin) {
      }
      ++runs[static_cast<size_t>(piece)];
      --running;
    });
    for (const std::atomic<int>& count : runs) EXPECT_EQ(count, 1);
    EXPECT_LE(most, 2);
  }
}

TEST_F(WorkScopeTest, TheWishForAnyMachineGoesToTheThreadsOfThePool) {
  EXPECT_FALSE(WorksForAnyMachine());
  const WorkScope scope({.any_machine = true});
  const WorkScope inner({.threads = 4});
  std::atomic<int> wishes = 0;
  ParallelFor(64, [&](int) { wishes += WorksForAnyMachine(); });
  EXPECT_EQ(wishes, 64);
}

TEST_F(WorkScopeTest, TheWishForAnyMachineEndsWithTheScope) {
  {
    const WorkScope scope({.any_machine = true});
    ParallelFor(64, [](int) {});
  }
  std::atomic<int> wishes = 0;
  ParallelFor(64, [&](int) { wishes += WorksForAnyMachine(); });
  EXPECT_EQ(wishes, 0);
}

TEST_F(WorkScopeTest, NegativeAndNoThreadsLeaveTheOuterNumber) {
  const WorkScope two({.threads = 2});
  const WorkScope none({.threads = 0});
  EXPECT_EQ(GetNumThreads(), 2);
  const WorkScope negative({.threads = -1});
  EXPECT_EQ(GetNumThreads(), 2);
}

TEST_F(WorkScopeTest, EachSettingIsInheritedAndEndsAlone) {
  // Only the address is stored.
  int objects[2];
  const auto* const tuning = reinterpret_cast<const ConvTuning*>(&objects[0]);
  const auto* const other = reinterpret_cast<const ConvTuning*>(&objects[1]);
  {
    const WorkScope outer({.threads = 3, .conv_tuning = tuning, .any_machine = true});
    {
      const WorkScope inner({.conv_tuning = other});
      EXPECT_EQ(t_thread_state.conv_tuning, other);
      EXPECT_TRUE(t_thread_state.any_machine);
      EXPECT_EQ(t_thread_state.threads, 3);
    }
    EXPECT_EQ(t_thread_state.conv_tuning, tuning);
    const WorkScope inner({.threads = 1});
    EXPECT_EQ(t_thread_state.conv_tuning, tuning);
    EXPECT_TRUE(WorksForAnyMachine());
    EXPECT_EQ(GetNumThreads(), 1);
  }
  EXPECT_EQ(t_thread_state.conv_tuning, nullptr);
  EXPECT_FALSE(WorksForAnyMachine());
  EXPECT_EQ(t_thread_state.threads, 0);
}

// The pieces of a scope of one thread are run by the caller, one after the other.
TEST(WorkScopePoolTest, AScopeOfOneThreadRunsThePiecesInOrder) {
  ThreadPool pool({.num_threads = 4, .back_off = false});
  const WorkScope one({.threads = 1});
  std::vector<int> order, want;
  const auto caller = std::this_thread::get_id();
  std::atomic<int> elsewhere{0};
  auto note = [&](int piece) {
    if (std::this_thread::get_id() == caller) {
      order.push_back(piece);
    } else {
      ++elsewhere;
    }
  };
  for (int i = 0; i < 12; ++i) want.push_back(i);
  for (int round = 0; round < 20; ++round) {
    order.clear();
    pool.Run(12, PieceFunction(note));
    ASSERT_EQ(elsewhere, 0);
    ASSERT_EQ(order, want);
  }
}

// Two pieces that wait for each other, so that one of them runs on a worker.
TEST(WorkScopePoolTest, WorkersWorkForAnyMachineIfTheCallerDoes) {
  ThreadPool pool({.num_threads = 2, .back_off = false});
  for (const bool any_machine : {true, false, true}) {
    const WorkScope scope({.any_machine = any_machine});
    std::atomic<int> begun{0}, count{0};
    auto note = [&](int) {
      ++begun;
      for (int i = 0; i < 100000000 && begun < 2; ++i) std::this_thread::yield();
      count += WorksForAnyMachine();
    };
    pool.Run(2, PieceFunction(note));
    EXPECT_EQ(count, any_machine ? 2 : 0);
  }
}

}  // namespace
}  // namespace caffe2rt::work_scope_test
