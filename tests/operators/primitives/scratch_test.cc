#include "operators/primitives/scratch.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <thread>

#include "caffe2_core/base/memory_budget.h"

namespace caffe2rt::test::scratch_test {

namespace {

TEST(ThreadScratchTest, SharesMemoryOfOneThread) {
  ThreadScratch a, b;
  float* large = a.Floats(1000);
  EXPECT_EQ(b.Floats(10), large);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(large) % 64, 0u);
}

TEST(ThreadScratchTest, GivesOtherThreadsTheirOwn) {
  ThreadScratch a;
  float* mine = a.Floats(100);
  std::thread([&] {
    ThreadScratch b;
    EXPECT_NE(b.Floats(100), mine);
    EXPECT_NE(a.Floats(100), mine);  // `a` is now used on this thread
  }).join();
}

// Regression: an object that went from thread to thread freed and allocated for ever.
TEST(ThreadScratchTest, KeepsTheMemoryOfTheThreadsItHasBeenOn) {
  ThreadScratch a;
  float* const here = a.Floats(100);
  std::atomic<int> turn{0};
  std::thread other([&] {
    const auto await = [&](int mine) {
      while (turn != mine) std::this_thread::yield();
    };
    await(1);
    float* const there = a.Floats(100);
    EXPECT_NE(there, here);
    turn = 2;
    await(3);
    EXPECT_EQ(a.Floats(100), there);
    turn = 4;
  });
  const auto give = [&](int now, int until) {
    turn = now;
    while (turn != until) std::this_thread::yield();
  };
  give(1, 2);
  EXPECT_EQ(a.Floats(100), here);
  give(3, 4);
  EXPECT_EQ(a.Floats(100), here);
  other.join();
}

// Regression: the operators of an idle net kept the memory of all threads that had run it.
TEST(ThreadScratchTest, IsFreedAtTheEndOfTheThread) {
  const auto used = [] { return GetCPUMemoryUsage().in_use_bytes; };
  const size_t before = used();
  ThreadScratch a, b;
  size_t during = 0;
  std::thread([&] {
    a.Floats(10000);
    b.Floats(10000);
    during = used();
  }).join();
  EXPECT_GE(during, before + 40000);
  EXPECT_EQ(used(), before);
  float* const here = a.Floats(100);  // another thread may use it
  std::fill_n(here, 100, 1.0f);
  EXPECT_EQ(b.Floats(100), here);
}

TEST(ThreadScratchTest, KeepsMemoryThatIsLargeEnough) {
  ThreadScratch a;
  float* first = a.Floats(500);
  EXPECT_EQ(a.Floats(400), first);
  EXPECT_EQ(a.Floats(500), first);
}

TEST(ThreadScratchTest, DividesARequestAmongPieces) {
  ThreadScratch a;
  const PieceScratch parts = a.ForPieces(3, 17);
  for (int piece = 0; piece < 3; ++piece) {
    EXPECT_EQ(reinterpret_cast<uintptr_t>(parts[piece]) % 64, 0u);
    std::fill_n(parts[piece], 17, static_cast<float>(piece));
  }
  EXPECT_EQ(parts.From(1)[1], parts[2]);
  for (int piece = 0; piece < 3; ++piece) {
    EXPECT_EQ(std::count(parts[piece], parts[piece] + 17, static_cast<float>(piece)), 17);
  }
  EXPECT_EQ(a.Floats(3 * 32), parts[0]);  // which the request had room for
}

TEST(ThreadScratchTest, IsNullForNothing) {
  ThreadScratch a;
  EXPECT_EQ(a.Floats(0), nullptr);
  EXPECT_EQ(a.ForPieces(4, 0)[3], nullptr);
}

}  // namespace
}  // namespace caffe2rt::test::scratch_test
