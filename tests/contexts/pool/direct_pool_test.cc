#include <gtest/gtest.h>

#include <vector>

#include "caffe2_core/base/enforce.h"
#include "contexts/pool/pool.h"
#include "tests/support/fake_allocator.h"

namespace caffe2rt::test::direct_pool_test {
namespace {

using Call = FakeAllocator::Call;

constexpr size_t kMiB = size_t{1} << 20;

TEST(DirectPoolTest, TakesEachRequestInGranulesOf512Bytes) {
  FakeAllocator device;
  const auto pool = NewDirectPool(device, {});
  const struct {
    size_t asked, taken;
  } cases[] = {{1, 512},
               {512, 512},
               {513, 1024},
               {2 * kMiB - 1, 2 * kMiB},
               {2 * kMiB, 2 * kMiB},
               {2 * kMiB + 1, 2 * kMiB + 512}};
  size_t total = 0, asked = 0;
  std::vector<PoolBlock> blocks;
  for (const auto& c : cases) {
    blocks.push_back(pool->Allocate(c.asked, 0));
    total += c.taken;
    asked += c.asked;
    const PoolStatistics statistics = pool->Statistics();
    EXPECT_EQ(device.live_bytes(), total) << c.asked;
    EXPECT_EQ(statistics.reserved_bytes, total) << c.asked;
    EXPECT_EQ(statistics.in_use_bytes, total) << c.asked;
    EXPECT_EQ(statistics.requested_bytes, asked) << c.asked;
    EXPECT_EQ(statistics.cached_bytes, 0u) << c.asked;
    EXPECT_EQ(pool->Snapshot().segments.size(), blocks.size());
  }
  for (size_t i = 0; i < blocks.size(); ++i) {
    pool->Free(blocks[i], 0);
    total -= cases[i].taken;
    EXPECT_EQ(device.live_bytes(), total);
    EXPECT_EQ(pool->Statistics().reserved_bytes, total);
  }
  EXPECT_EQ(pool->Statistics().peak_reserved_bytes, 2048 + 6 * kMiB + 512);
}

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
