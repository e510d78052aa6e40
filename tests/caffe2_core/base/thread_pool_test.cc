#include "caffe2_core/base/thread_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <thread>
#include <vector>

#include "caffe2_core/base/enforce.h"

namespace caffe2rt {
namespace {

// Sets the process's pool for one test.
class Threads {
 public:
  explicit Threads(int n) { SetNumThreads(n); }
  ~Threads() { SetNumThreads(1); }
};

TEST(ThreadPoolTest, RunsEveryPieceOnce) {
  for (const int threads : {1, 2, 4}) {
    const Threads guard(threads);
    EXPECT_EQ(GetNumThreads(), threads);
    std::vector<std::atomic<int>> count(100);
    for (int run = 0; run < 50; ++run) {
      ParallelFor(100, [&](int piece) { ++count[static_cast<size_t>(piece)]; });
    }
    for (const auto& c : count) EXPECT_EQ(c, 50);
  }
}

TEST(ThreadPoolTest, NoPiecesIsNothing) {
  const Threads guard(2);
  ParallelFor(0, [](int) { FAIL(); });
}

TEST(ThreadPoolTest, NestedWorkRunsOnTheCaller) {
  const Threads guard(3);
  std::atomic<int> count{0};
  ParallelFor(4, [&](int) { ParallelFor(5, [&](int) { ++count; }); });
  EXPECT_EQ(count, 20);
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
    ParallelFor(3, [&](int) { ++done; });  // usable afterwards
    EXPECT_EQ(done, 10);
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

TEST(ThreadPoolTest, RefusesAbsurdNumbers) {
  EXPECT_THROW(SetNumThreads(0), EnforceNotMet);
  EXPECT_THROW(SetNumThreads(100000), EnforceNotMet);
}

}  // namespace
}  // namespace caffe2rt
