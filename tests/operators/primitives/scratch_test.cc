#include "operators/primitives/scratch.h"

#include <gtest/gtest.h>

#include <thread>

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

TEST(ThreadScratchTest, KeepsMemoryThatIsLargeEnough) {
  ThreadScratch a;
  float* first = a.Floats(500);
  EXPECT_EQ(a.Floats(400), first);
  EXPECT_EQ(a.Floats(500), first);
}

}  // namespace
}  // namespace caffe2rt::test::scratch_test
