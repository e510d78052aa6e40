#include "tests/support/fake_allocator.h"

#include <gtest/gtest.h>

#include "caffe2_core/base/enforce.h"

namespace caffe2rt::test::fake_allocator_test {
namespace {

using Call = FakeAllocator::Call;

TEST(FakeAllocatorTest, GivesFreedAddressesOutAgainAtOnce) {
  FakeAllocator device;
  void* const a = device.Allocate(1000);
  void* const b = device.Allocate(1000);
  EXPECT_EQ(static_cast<char*>(b) - static_cast<char*>(a), 1024);
  device.Free(a, 1000);
  device.Free(b, 1000);
  EXPECT_EQ(device.Allocate(2048), a);  // the two gaps were merged
  EXPECT_EQ(device.live_bytes(), 2048u);
  EXPECT_EQ(device.live_allocations(), 1u);
  EXPECT_EQ(device.peak_bytes(), 2048u);
}

TEST(FakeAllocatorTest, FailsBeyondItsLimit) {
  FakeAllocator device({.limit_bytes = 1000});
  EXPECT_EQ(device.Allocate(1001), nullptr);
  void* const a = device.Allocate(600);
  EXPECT_EQ(device.Allocate(600), nullptr);
  device.Free(a, 600);
  EXPECT_NE(device.Allocate(1000), nullptr);
}

TEST(FakeAllocatorTest, FindsMemoryThatIsFreedTwiceOrInPart) {
  FakeAllocator device;
  void* const a = device.Allocate(1000);
  EXPECT_THROW(device.Free(a, 999), EnforceNotMet);
  device.Free(a, 1000);
  EXPECT_THROW(device.Free(a, 1000), EnforceNotMet);
}

TEST(FakeAllocatorTest, EventsAreDoneWhenTheWorkBeforeThemIs) {
  FakeAllocator device;
  const Upstream::Event event = device.CreateEvent();
  EXPECT_THROW((void)device.IsDone(event), EnforceNotMet);  // never recorded
  device.Record(event, 3);
  EXPECT_TRUE(device.IsDone(event));
  EXPECT_EQ(device.Give(3, 2), 2u);
  device.Record(event, 3);
  device.Give(3);
  EXPECT_FALSE(device.IsDone(event));
  device.Finish(3, 1);
  EXPECT_FALSE(device.IsDone(event));
  device.Finish(3, 1);
  EXPECT_TRUE(device.IsDone(event));
  EXPECT_EQ(device.Finished(3), 2u);
  device.Synchronize(3);
  EXPECT_EQ(device.Finished(3), 3u);
  device.DestroyEvent(event);
  EXPECT_EQ(device.live_events(), 0u);
}

TEST(FakeAllocatorTest, FailsTheSelectedCalls) {
  FakeAllocator device;
  device.Fail(Call::kAllocate, 1, 2);
  void* const a = device.Allocate(512);
  EXPECT_THROW((void)device.Allocate(512), EnforceNotMet);
  EXPECT_THROW((void)device.Allocate(512), EnforceNotMet);
  EXPECT_NE(device.Allocate(512), nullptr);
  device.Refuse();
  EXPECT_EQ(device.Allocate(512), nullptr);
  device.Fail(Call::kFree);
  EXPECT_THROW(device.Free(a, 512), EnforceNotMet);
  EXPECT_EQ(device.live_bytes(), 512u);  // it failed after the memory was freed
  EXPECT_EQ(device.Calls(Call::kAllocate), 5u);
}

}  // namespace
}  // namespace caffe2rt::test::fake_allocator_test
