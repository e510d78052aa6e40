#include "tests/support/allocation_counter.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <mutex>
#include <thread>

namespace caffe2rt::test::allocation_counter_test {
namespace {

TEST(AllocationCounterTest, CountsEveryWayToTheHeap) {
  if (!AllocationCounter::kCounts) GTEST_SKIP() << "sanitizers replace the allocator";
  AllocationCounter counter;
  auto number = std::make_unique<int>(1);
  void* volatile plain = std::malloc(1);
  void* volatile aligned = std::aligned_alloc(64, 64);
  EXPECT_EQ(counter.Counts().allocations, 3);
  std::free(plain);
  std::free(aligned);
  EXPECT_EQ(counter.Counts().locks, 0);
}

TEST(AllocationCounterTest, CountsLocksOfThisThreadAlone) {
  if (!AllocationCounter::kCounts) GTEST_SKIP() << "sanitizers replace the locks";
  std::mutex mutex;
  std::thread([&] { const std::lock_guard<std::mutex> guard(mutex); }).join();
  AllocationCounter counter;
  { const std::lock_guard<std::mutex> guard(mutex); }
  { const std::lock_guard<std::mutex> guard(mutex); }
  EXPECT_EQ(counter.Counts().locks, 2);
}

}  // namespace
}  // namespace caffe2rt::test::allocation_counter_test
