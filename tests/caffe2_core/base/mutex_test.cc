#include "caffe2_core/base/mutex.h"

#include <gtest/gtest.h>

#include <latch>
#include <thread>
#include <vector>

namespace caffe2rt::test::mutex_test {
namespace {

constexpr int kThreads = 4;
constexpr int kRounds = 2000;

// Calls `function` in each of kThreads threads and waits for them.
template <class Function>
void RunInThreads(Function function) {
  std::vector<std::jthread> threads;
  for (int i = 0; i < kThreads; ++i) threads.emplace_back(function);
}

template <class AnyMutex>
struct Counter {
  AnyMutex mutex;
  int value ABSL_GUARDED_BY(mutex) = 0;

  void Add() {
    const ExclusiveLock<AnyMutex> lock(mutex);
    ++value;
  }
  int Value() {
    const ExclusiveLock<AnyMutex> lock(mutex);
    return value;
  }
};

template <class AnyMutex>
class ExclusiveLockTest : public testing::Test {};
using AllMutexes = testing::Types<Mutex, RecursiveMutex, SharedMutex>;
TYPED_TEST_SUITE(ExclusiveLockTest, AllMutexes);

TYPED_TEST(ExclusiveLockTest, AdmitsOneThreadAtATime) {
  Counter<TypeParam> counter;
  RunInThreads([&counter] {
    for (int i = 0; i < kRounds; ++i) counter.Add();
  });
  EXPECT_EQ(counter.Value(), kThreads * kRounds);
}

TEST(RecursiveMutexTest, AdmitsItsOwnerAgain) {
  Counter<RecursiveMutex> counter;
  const RecursiveMutexLock lock(counter.mutex);
  counter.Add();
  EXPECT_EQ(counter.value, 1);
}

TEST(SharedMutexTest, AdmitsAllReadersAtOnce) {
  SharedMutex mutex;
  std::latch all_inside(kThreads);
  // Returns only if all threads hold the mutex at the same time.
  RunInThreads([&] {
    const ReaderLock lock(mutex);
    all_inside.arrive_and_wait();
  });
}

TEST(SharedMutexTest, KeepsReadersOutWhileItWrites) {
  struct {
    SharedMutex mutex;
    int a ABSL_GUARDED_BY(mutex) = 0;
    int b ABSL_GUARDED_BY(mutex) = 0;
  } pair;
  RunInThreads([&pair] {
    for (int i = 1; i <= kRounds; ++i) {
      {
        const WriterLock lock(pair.mutex);
        ++pair.a;
        ++pair.b;
      }
      const ReaderLock lock(pair.mutex);
      EXPECT_EQ(pair.a, pair.b);
    }
  });
  const ReaderLock lock(pair.mutex);
  EXPECT_EQ(pair.a, kThreads * kRounds);
}

TEST(MutexUnlockTest, AdmitsOthersInItsScopeOnly) {
  Counter<Mutex> counter;
  RunInThreads([&counter] {
    for (int i = 0; i < kRounds; ++i) {
      const MutexLock lock(counter.mutex);
      {
        const MutexUnlock unlocked(counter.mutex);
        counter.Add();
      }
      ++counter.value;
    }
  });
  EXPECT_EQ(counter.Value(), 2 * kThreads * kRounds);
}

TEST(MutexUnlockTest, AcquiresTheMutexAgainAfterAnException) {
  Counter<Mutex> counter;
  const auto fail = [&counter] {
    const MutexLock lock(counter.mutex);
    const MutexUnlock unlocked(counter.mutex);
    throw 1;
  };
  EXPECT_THROW(fail(), int);
  EXPECT_EQ(counter.Value(), 0);  // the mutex is free again
}

}  // namespace
}  // namespace caffe2rt::test::mutex_test
