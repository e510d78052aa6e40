// The bounds of the CUB pool: its bins, what it caches, which of several blocks it hands out, and
// what is left when an event fails.
#include <gtest/gtest.h>

#include <vector>

#include "contexts/pool/pool.h"
#include "tests/support/fake_allocator.h"
#include "tests/support/refusals.h"

namespace caffe2rt::test::cub_pool_details_test {
namespace {

using Call = FakeAllocator::Call;

// Bins of 512, 1024 and 2048 bytes.
CubPoolOptions Small(size_t max_cached_bytes = SIZE_MAX, size_t limit_bytes = SIZE_MAX) {
  return {.device = "card",
          .limit_bytes = limit_bytes,
          .bin_growth = 2,
          .min_bin = 9,
          .max_bin = 11,
          .max_cached_bytes = max_cached_bytes};
}

TEST(CubPoolDetailsTest, BinsEndAtTheirBytes) {
  FakeAllocator device;
  const auto pool = NewCubPool(device, Small());
  struct Row {
    size_t asked, reserved, cached;  // cached after the block is freed
  };
  for (const Row& row :
       {Row{1, 512, 512}, Row{511, 512, 512}, Row{512, 512, 512}, Row{513, 1024, 1024},
        Row{1024, 1024, 1024}, Row{1025, 2048, 2048}, Row{2048, 2048, 2048}, Row{2049, 2560, 0},
        Row{2560, 2560, 0}, Row{2561, 3072, 0}}) {
    const PoolBlock block = pool->Allocate(row.asked, 0);
    EXPECT_EQ(pool->Statistics().reserved_bytes, row.reserved) << row.asked;
    pool->Free(block, 0);
    EXPECT_EQ(pool->Statistics().cached_bytes, row.cached) << row.asked;
    EXPECT_EQ(pool->Statistics().largest_free_bytes, row.cached) << row.asked;
    EXPECT_EQ(pool->ReleaseCached(), row.cached) << row.asked;
    EXPECT_EQ(pool->ReleaseCached(), 0u);
    pool->CheckInvariants();
  }
}

// Two blocks of 1024 bytes are freed, one after the other.
TEST(CubPoolDetailsTest, CachesExactlyItsMost) {
  struct Row {
    size_t most, cached;
  };
  for (const Row& row : {Row{0, 0}, Row{1023, 0}, Row{1024, 1024}, Row{2047, 1024}, Row{2048, 2048},
                         Row{2049, 2048}}) {
    FakeAllocator device;
    const auto pool = NewCubPool(device, Small(row.most));
    const PoolBlock a = pool->Allocate(1024, 0), b = pool->Allocate(1024, 0);
    pool->Free(a, 0);
    pool->Free(b, 0);
    EXPECT_EQ(pool->Statistics().cached_bytes, row.cached) << row.most;
    EXPECT_EQ(device.live_bytes(), row.cached) << row.most;
    // What is used again counts no more.
    const PoolBlock again = pool->Allocate(1024, 0);
    EXPECT_EQ(pool->Statistics().cached_bytes, row.cached < 1024 ? 0 : row.cached - 1024);
    pool->Free(again, 0);
    EXPECT_EQ(pool->Statistics().cached_bytes, row.cached) << row.most;
    pool->CheckInvariants();
  }
}

TEST(CubPoolDetailsTest, TheBlockThatWasFreedFirstIsUsedFirst) {
  FakeAllocator device;
  const auto pool = NewCubPool(device, Small());
  PoolBlock blocks[3];
  for (PoolBlock& block : blocks) block = pool->Allocate(1024, 0);
  const PoolBlock other = pool->Allocate(512, 0);  // of another bin
  for (const int i : {1, 0, 2}) pool->Free(blocks[i], 0);
  pool->Free(other, 0);
  std::vector<PoolBlock> again;
  for (const int i : {1, 0, 2}) {
    again.push_back(pool->Allocate(1000, 0));
    EXPECT_EQ(again.back().data, blocks[i].data) << i;
  }
  again.push_back(pool->Allocate(1, 0));
  EXPECT_EQ(again.back().data, other.data);
  for (const PoolBlock& block : again) pool->Free(block, 0);
  pool->CheckInvariants();
}

// A stream goes past the blocks whose work has not ended, to the first one that is ready.
TEST(CubPoolDetailsTest, ABlockInTheMiddleOfItsBinMayBeReady) {
  FakeAllocator device;
  const auto pool = NewCubPool(device, Small());
  const PoolBlock busy = pool->Allocate(1024, 0), idle = pool->Allocate(1024, 1),
                  last = pool->Allocate(1024, 0);
  device.Give(0);
  pool->Free(busy, 0);
  pool->Free(idle, 1);
  pool->Free(last, 0);
  const PoolBlock taken = pool->Allocate(1024, 2);
  EXPECT_EQ(taken.data, idle.data);
  pool->CheckInvariants();
  const PoolBlock fresh = pool->Allocate(1024, 2);
  EXPECT_NE(fresh.data, busy.data);
  EXPECT_NE(fresh.data, last.data);
  // Its home is the stream that has it now: freed there, it waits for nothing else.
  device.Give(1);
  pool->Free(taken, 2);
  const PoolBlock again = pool->Allocate(1024, 2);
  EXPECT_EQ(again.data, idle.data);
  pool->Free(again, 2);
  pool->Free(fresh, 2);
  EXPECT_EQ(pool->Statistics().cached_bytes, 4096u);
  pool->CheckInvariants();
}

TEST(CubPoolDetailsTest, TheLargestFreeBlockIsThatOfTheLargestBinWithOne) {
  FakeAllocator device;
  const auto pool = NewCubPool(device, Small());
  const PoolBlock small = pool->Allocate(512, 0), large = pool->Allocate(2048, 0);
  EXPECT_EQ(pool->Statistics().largest_free_bytes, 0u);
  pool->Free(small, 0);
  EXPECT_EQ(pool->Statistics().largest_free_bytes, 512u);
  pool->Free(large, 0);
  EXPECT_EQ(pool->Statistics().largest_free_bytes, 2048u);
  EXPECT_EQ(pool->Statistics().cached_bytes, 2560u);
  const PoolBlock again = pool->Allocate(2048, 0);
  EXPECT_EQ(pool->Statistics().largest_free_bytes, 512u);
  pool->Free(again, 0);
}

// At the limit, all that is cached is given back, and the request is made once more.
TEST(CubPoolDetailsTest, MakesRoomForAnotherBin) {
  FakeAllocator device;
  const auto pool = NewCubPool(device, Small(SIZE_MAX, 3072));
  const PoolBlock a = pool->Allocate(1024, 0), b = pool->Allocate(1024, 0);
  pool->Free(a, 0);
  pool->Free(b, 0);
  EXPECT_EQ(pool->Statistics().out_of_memory_retries, 0u);
  const PoolBlock large = pool->Allocate(2048, 0);
  EXPECT_EQ(pool->Statistics().out_of_memory_retries, 1u);
  EXPECT_EQ(pool->Statistics().cached_bytes, 0u);
  EXPECT_EQ(pool->Statistics().upstream_frees, 2u);
  EXPECT_EQ(device.live_bytes(), 2048u);
  const PoolBlock rest = pool->Allocate(1024, 0);  // the limit itself
  EXPECT_EQ(pool->Statistics().out_of_memory_retries, 1u);
  EXPECT_THROW((void)pool->Allocate(1, 0), OutOfMemory);
  EXPECT_EQ(pool->Statistics().out_of_memory_retries, 2u);
  pool->Free(rest, 0);
  pool->Free(large, 0);
  pool->CheckInvariants();
}

// Without one of its events, a block is given back; the events it had are used again.
TEST(CubPoolDetailsTest, EventsOfABlockThatIsNotCachedAreKept) {
  FakeAllocator device;
  const auto pool = NewCubPool(device, Small());
  const PoolBlock block = pool->Allocate(1024, 0);
  pool->RecordUse(block, 1);
  pool->RecordUse(block, 2);
  device.Fail(Call::kCreateEvent, 2, 1);  // that of stream 2
  pool->Free(block, 0);
  EXPECT_EQ(device.live_bytes(), 0u);
  EXPECT_EQ(pool->Statistics().events_created, 2u);
  EXPECT_EQ(pool->Statistics().cached_bytes, 0u);
  const PoolBlock next = pool->Allocate(1024, 0);
  pool->RecordUse(next, 1);
  pool->Free(next, 0);
  EXPECT_EQ(pool->Statistics().events_created, 2u);
  EXPECT_EQ(pool->Statistics().cached_bytes, 1024u);
  // An event that cannot be recorded is one that fails, too.
  const PoolBlock other = pool->Allocate(512, 0);
  device.Fail(Call::kRecord, 0, 1);
  pool->Free(other, 0);
  EXPECT_EQ(pool->Statistics().cached_bytes, 1024u);
  pool->CheckInvariants();
}

TEST(CubPoolDetailsTest, NoBytesAreNoBlock) {
  FakeAllocator device;
  const auto pool = NewCubPool(device, Small());
  const PoolBlock none = pool->Allocate(0, 0);
  EXPECT_EQ(none.data, nullptr);
  pool->RecordUse(none, 1);
  pool->Free(none, 0);
  EXPECT_EQ(device.Calls(Call::kAllocate), 0u);
  EXPECT_EQ(pool->Statistics().blocks_in_use, 0u);
}

TEST(CubPoolDetailsTest, NamesBinsThatCannotBe) {
  FakeAllocator device;
  const auto make = [&](unsigned growth, unsigned min_bin, unsigned max_bin) {
    return [&device, growth, min_bin, max_bin] {
      NewCubPool(device, {.bin_growth = growth, .min_bin = min_bin, .max_bin = max_bin});
    };
  };
  ExpectRefusals({
      {make(0, 3, 4), "bin_growth of pool cub: got 0, want at least 2"},
      {make(1, 3, 4), "bin_growth of pool cub: got 1, want at least 2"},
      {make(8, 5, 4), "min_bin and max_bin of pool cub: got 5, want at most 4"},
      {make(8, 3, 22), "max_bin 22 of pool cub is beyond 64 bits"},
      {make(2, 3, 64), "max_bin 64 of pool cub is beyond 64 bits"},
  });
  make(2, 4, 4)();
  make(8, 3, 21)();
  make(2, 63, 63)();
}

}  // namespace
}  // namespace caffe2rt::test::cub_pool_details_test
