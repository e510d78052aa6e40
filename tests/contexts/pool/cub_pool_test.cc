#include <gtest/gtest.h>

#include "contexts/pool/pool.h"
#include "tests/support/fake_allocator.h"

namespace caffe2rt::test::cub_pool_test {
namespace {

using Call = FakeAllocator::Call;
constexpr size_t kMiB = size_t{1} << 20;

TEST(CubPoolTest, RoundsUpToPowersOfEight) {
  FakeAllocator device;
  const auto pool = NewCubPool(device, {});
  // 8^3 = 512, 8^4 = 4 KiB, ... 8^7 = 2 MiB, 8^10 = 1 GiB. Larger blocks keep their size.
  const struct {
    size_t asked, taken;
  } cases[] = {{1, 512},
               {512, 512},
               {513, 4096},
               {(256 << 10) + 1, 2 * kMiB},
               {2 * kMiB + 1, 16 * kMiB},
               {1024 * kMiB, 1024 * kMiB},
               {1024 * kMiB + 1, 1024 * kMiB + 512}};
  for (const auto& c : cases) {
    const size_t before = device.live_bytes();
    const PoolBlock block = pool->Allocate(c.asked, 0);
    EXPECT_EQ(device.live_bytes() - before, c.taken) << c.asked;
    EXPECT_EQ(pool->Statistics().reserved_bytes, c.taken) << c.asked;
    EXPECT_EQ(pool->Statistics().in_use_bytes, c.taken) << c.asked;
    EXPECT_EQ(pool->Statistics().requested_bytes, c.asked) << c.asked;
    pool->Free(block, 0);
    pool->ReleaseCached();
  }
}

TEST(CubPoolTest, CachesNothingAboveTheLargestBin) {
  FakeAllocator device;
  const auto pool = NewCubPool(device, {});
  pool->Free(pool->Allocate(1024 * kMiB + 1, 0), 0);
  EXPECT_EQ(device.live_bytes(), 0u);
}

// When the device takes memory back, it waits only for the block's own stream.
TEST(CubPoolTest, WaitsForTheOtherStreamsThatUseWhatItGivesBack) {
  FakeAllocator device;
  const auto pool = NewCubPool(device, {});
  uint64_t finished = 0;
  device.before_free = [&](uintptr_t, size_t) {
    EXPECT_EQ(device.Finished(1), finished);
    EXPECT_EQ(device.Finished(2), finished);
  };
  // A cached size, and one that is too large to be cached.
  for (const size_t nbytes : {kMiB, 1024 * kMiB + 1}) {
    const PoolBlock block = pool->Allocate(nbytes, 0);
    finished = device.Give(1);
    device.Give(2);
    pool->RecordUse(block, 1);
    pool->Free(block, 2);
    pool->ReleaseCached();
    EXPECT_EQ(device.live_bytes(), 0u);
  }
  // A block that was reused has no users from before.
  pool->Free(pool->Allocate(kMiB, 0), 1);
  pool->Free(pool->Allocate(kMiB, 0), 0);
  const uint64_t waits = device.Calls(Call::kSynchronize);
  pool->ReleaseCached();
  EXPECT_EQ(device.Calls(Call::kSynchronize), waits);
}

TEST(CubPoolTest, CachesUpToItsMost) {
  FakeAllocator device;
  const auto pool = NewCubPool(device, {.max_cached_bytes = 3 * kMiB});
  const PoolBlock a = pool->Allocate(2 * kMiB, 0), b = pool->Allocate(2 * kMiB, 0);
  pool->Free(a, 0);
  pool->Free(b, 0);
  EXPECT_EQ(pool->Statistics().cached_bytes, 2 * kMiB);
  EXPECT_EQ(device.live_bytes(), 2 * kMiB);
}

TEST(CubPoolTest, GivesABlockToItsStreamAtOnceAndToOthersAfterItsEvent) {
  FakeAllocator device;
  const auto pool = NewCubPool(device, {});
  device.Give(0);
  const PoolBlock block = pool->Allocate(kMiB, 0);
  pool->Free(block, 0);
  const PoolBlock other = pool->Allocate(kMiB, 1);
  EXPECT_NE(other.data, block.data);
  const PoolBlock again = pool->Allocate(kMiB, 0);
  EXPECT_EQ(again.data, block.data);
  pool->Free(again, 0);
  device.Finish(0);
  const PoolBlock third = pool->Allocate(kMiB, 1);
  EXPECT_EQ(third.data, block.data);
  pool->Free(other, 1);
  pool->Free(third, 1);
}

TEST(CubPoolTest, WaitsForOtherStreamsThatUseABlock) {
  FakeAllocator device;
  const auto pool = NewCubPool(device, {});
  const PoolBlock block = pool->Allocate(kMiB, 0);
  device.Give(1);
  pool->RecordUse(block, 1);
  pool->Free(block, 0);
  const PoolBlock other = pool->Allocate(kMiB, 0);
  EXPECT_NE(other.data, block.data);
  device.Finish(1);
  const PoolBlock again = pool->Allocate(kMiB, 0);
  EXPECT_EQ(again.data, block.data);
  pool->Free(other, 0);
  pool->Free(again, 0);
}

TEST(CubPoolTest, KeepsNoBlockWithoutItsEvent) {
  FakeAllocator device;
  const auto pool = NewCubPool(device, {});
  const PoolBlock block = pool->Allocate(kMiB, 0);
  device.Fail(Call::kCreateEvent, 0, 1);
  pool->Free(block, 0);
  EXPECT_EQ(device.live_bytes(), 0u);
}

TEST(CubPoolTest, RejectsInvalidBins) {
  FakeAllocator device;
  const auto make = [&](unsigned growth, unsigned min_bin, unsigned max_bin) {
    return NewCubPool(device, {.bin_growth = growth, .min_bin = min_bin, .max_bin = max_bin});
  };
  EXPECT_THROW(make(1, 3, 10), EnforceNotMet);
  EXPECT_THROW(make(8, 5, 4), EnforceNotMet);
  EXPECT_THROW(make(8, 3, 22), EnforceNotMet);
}

}  // namespace
}  // namespace caffe2rt::test::cub_pool_test
