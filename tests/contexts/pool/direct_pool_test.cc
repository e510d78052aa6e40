#include <gtest/gtest.h>

#include "caffe2_core/base/enforce.h"
#include "contexts/pool/pool.h"
#include "tests/support/fake_allocator.h"

namespace caffe2rt::test::direct_pool_test {
namespace {

using Call = FakeAllocator::Call;

// When the device takes memory back, it waits only for the block's own stream.
TEST(DirectPoolTest, WaitsForTheOtherStreamsThatUseWhatItGivesBack) {
  FakeAllocator device;
  const auto pool = NewDirectPool(device, {});
  const PoolBlock block = pool->Allocate(1000, 0);
  device.Give(0);
  device.Give(1);
  device.Give(2);
  device.Give(3);
  pool->RecordUse(block, 1);
  device.before_free = [&](uintptr_t, size_t) {
    EXPECT_EQ(device.Finished(1), 1u);
    EXPECT_EQ(device.Finished(2), 1u);
  };
  pool->Free(block, 2);
  EXPECT_EQ(device.live_bytes(), 0u);
  EXPECT_EQ(device.Finished(3), 0u);  // stream 3 does not use the block
  EXPECT_EQ(device.Calls(Call::kSynchronize), 2u);
}

TEST(DirectPoolTest, WaitThatFailsIsReportedWhenTheMemoryIsBack) {
  FakeAllocator device;
  const auto pool = NewDirectPool(device, {});
  const PoolBlock block = pool->Allocate(1000, 0);
  pool->RecordUse(block, 1);
  device.Fail(Call::kSynchronize);
  EXPECT_THROW(pool->Free(block, 0), EnforceNotMet);
  EXPECT_EQ(device.live_bytes(), 0u);
  EXPECT_EQ(pool->Statistics().reserved_bytes, 0u);
  pool->CheckInvariants();
}

}  // namespace
}  // namespace caffe2rt::test::direct_pool_test
