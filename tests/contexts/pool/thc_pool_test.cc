#include "contexts/pool/thc_pool.h"

#include <vector>

#include "tests/contexts/pool/thc_pool_testing.h"

namespace caffe2rt::test::thc_pool_test {
namespace {

TEST_F(ThcPoolTest, ReusesAFreedBlockOnItsStreamAtOnce) {
  device_.Give(0);  // the work that used it is not finished
  const PoolBlock first = Cached(kMiB, 0);
  const PoolBlock second = New(kMiB, 0);
  EXPECT_EQ(second.data, first.data);
  EXPECT_EQ(device_.Calls(Call::kAllocate), 1u);
  EXPECT_EQ(device_.Calls(Call::kRecord), 0u);
  Free(second, 0);
}

TEST_F(ThcPoolTest, GivesBackSegmentsOfAStreamThatFreedLittle) {
  for (int i = 0; i < 5; ++i) Cached(kKiB, 0);
  EXPECT_EQ(pool_->ReleaseCached(), kMiB);
  Cached(kKiB, 1);  // uses records that stream 0 had before
  EXPECT_EQ(pool_->ReleaseCached(), kMiB);
  EXPECT_EQ(device_.live_bytes(), 0u);
}

TEST_F(ThcPoolTest, AllocatesSegmentsInGranules) {
  Free(New(kMiB + 1, 0), 0);
  EXPECT_EQ(device_.live_bytes(), kMiB + 512 * kKiB);
  // Small requests share a segment of 1 MiB.
  const PoolBlock a = New(1, 0), b = New(256 * kKiB, 0);
  EXPECT_EQ(device_.live_bytes(), 2 * kMiB + 512 * kKiB);
  EXPECT_EQ(Offset(a, b), 512u);
  Free(a, 0);
  Free(b, 0);
}

// The options that contexts/cuda uses: the driver maps memory in pieces of 2 MiB.
ThcPoolOptions MappedPieces() {
  return {.small_granule_bytes = 2 * kMiB,
          .large_granule_bytes = 2 * kMiB,
          .small_segment_bytes = 2 * kMiB};
}

TEST_F(ThcPoolTest, TakesWholePiecesThatTheDriverMaps) {
  constexpr size_t kPiece = 2 * kMiB;
  const struct {
    size_t asked, in_use, reserved;
  } cases[] = {{1, 512, kPiece},
               {512, 512, kPiece},
               {513, 1024, kPiece},
               {256 * kKiB, 256 * kKiB, kPiece},            // the largest small request
               {256 * kKiB + 1, 256 * kKiB + 512, kPiece},  // the smallest large one
               {kPiece - 1, kPiece, kPiece},
               {kPiece, kPiece, kPiece},
               {kPiece + 1, kPiece + 512, 2 * kPiece},
               {2 * kPiece, 2 * kPiece, 2 * kPiece},
               {2 * kPiece + 1, 2 * kPiece + 512, 3 * kPiece},
               {31 * kMiB, 31 * kMiB, 32 * kMiB}};
  for (const auto& c : cases) {
    SCOPED_TRACE(c.asked);
    Make(MappedPieces());
    const PoolBlock block = New(c.asked, 0);
    EXPECT_EQ(device_.live_bytes(), c.reserved);
    EXPECT_EQ(device_.live_allocations(), 1u);
    PoolStatistics statistics = pool_->Statistics();
    EXPECT_EQ(statistics.requested_bytes, c.asked);
    EXPECT_EQ(statistics.in_use_bytes, c.in_use);
    EXPECT_EQ(statistics.reserved_bytes, c.reserved);
    EXPECT_EQ(statistics.cached_bytes, c.reserved - c.in_use);
    EXPECT_EQ(statistics.largest_free_bytes, c.reserved - c.in_use);
    ASSERT_EQ(pool_->Snapshot().segments.size(), 1u);
    EXPECT_EQ(pool_->Snapshot().segments[0].bytes, c.reserved);
    Free(block, 0);
    statistics = pool_->Statistics();
    EXPECT_EQ(statistics.in_use_bytes, 0u);
    EXPECT_EQ(statistics.cached_bytes, c.reserved);
    EXPECT_EQ(statistics.largest_free_bytes, c.reserved);
    EXPECT_EQ(pool_->ReleaseCached(), c.reserved);
    EXPECT_EQ(device_.live_bytes(), 0u);
    EXPECT_EQ(pool_->Statistics().reserved_bytes, 0u);
    EXPECT_EQ(pool_->Statistics().peak_reserved_bytes, c.reserved);
  }
}

TEST_F(ThcPoolTest, FillsAPieceBeforeItTakesAnother) {
  Make(MappedPieces());
  for (int i = 0; i < 8; ++i) New(256 * kKiB, 0);
  EXPECT_EQ(device_.live_bytes(), 2 * kMiB);
  New(1, 0);
  EXPECT_EQ(device_.live_bytes(), 4 * kMiB);
  // Large requests share no piece with small ones.
  const PoolBlock first = New(kMiB, 0), second = New(kMiB, 0);
  EXPECT_EQ(Offset(first, second), kMiB);
  EXPECT_EQ(device_.live_bytes(), 6 * kMiB);
  EXPECT_EQ(pool_->Statistics().reserved_bytes, 6 * kMiB);
  EXPECT_EQ(pool_->Statistics().in_use_bytes, 4 * kMiB + 512);
  New(kMiB, 1);  // nor with other streams, below the soft limit
  EXPECT_EQ(device_.live_bytes(), 8 * kMiB);
}

// The limit need not be a number of pieces.
TEST_F(ThcPoolTest, TakesLessThanAPieceAtTheLimit) {
  ThcPoolOptions options = MappedPieces();
  options.limit_bytes = 3 * kMiB;
  Make(options);
  New(2 * kMiB, 0);
  New(kMiB, 0);
  EXPECT_EQ(device_.live_bytes(), 3 * kMiB);
  EXPECT_THROW(New(1, 0), OutOfMemory);
}

TEST_F(ThcPoolTest, CutsTheSmallestBlockThatFits) {
  // Three free blocks of 4, 2 and 3 MiB between blocks in use.
  const PoolBlock whole = Cached(12 * kMiB, 0);
  std::vector<PoolBlock> blocks;
  for (const size_t mib : {4, 1, 2, 1, 3, 1}) blocks.push_back(New(mib * kMiB, 0));
  EXPECT_EQ(blocks[0].data, whole.data);
  for (const size_t i : {0, 2, 4}) Free(blocks[i], 0);
  const PoolBlock fit = New(2 * kMiB + 512, 0);
  EXPECT_EQ(fit.data, blocks[4].data);
  const PoolBlock rest = New(kMiB - 512, 0);  // the part that was split off fits exactly
  EXPECT_EQ(Offset(fit, rest), 2 * kMiB + 512);
  EXPECT_EQ(New(2 * kMiB, 0).data, blocks[2].data);
  EXPECT_EQ(device_.Calls(Call::kAllocate), 1u);
  EXPECT_EQ(pool_->Statistics().largest_free_bytes, 4 * kMiB);
}

TEST_F(ThcPoolTest, MergesFreedNeighbours) {
  Cached(4 * kMiB, 0);
  std::vector<PoolBlock> blocks;
  for (int i = 0; i < 4; ++i) blocks.push_back(New(kMiB, 0));
  Free(blocks[0], 0);
  Free(blocks[2], 0);
  EXPECT_EQ(pool_->Snapshot().segments[0].blocks.size(), 4u);
  EXPECT_EQ(pool_->Statistics().largest_free_bytes, kMiB);
  Free(blocks[1], 0);  // between two free blocks
  EXPECT_EQ(pool_->Statistics().largest_free_bytes, 3 * kMiB);
  Free(blocks[3], 0);
  EXPECT_EQ(pool_->Snapshot().segments[0].blocks.size(), 1u);
  EXPECT_EQ(pool_->Statistics().largest_free_bytes, 4 * kMiB);
}

TEST_F(ThcPoolTest, GivesFreedBlockToOtherStreamOnlyAfterItsWork) {
  const PoolBlock block = New(kMiB, 0);
  device_.Give(0);  // still running
  Free(block, 0);
  const PoolBlock other = New(kMiB, 1);
  EXPECT_NE(other.data, block.data);
  device_.Finish(0);
  const PoolBlock third = New(kMiB, 1);
  EXPECT_EQ(third.data, block.data);
  EXPECT_EQ(device_.Calls(Call::kAllocate), 2u);
  Free(other, 1);
  Free(third, 1);
}

TEST_F(ThcPoolTest, OldMarkerDoesNotCoverANewerFree) {
  const PoolBlock old = New(kMiB, 0);
  device_.Give(0);
  Free(old, 0);
  const PoolBlock other = New(kMiB, 1);  // leaves a marker behind the work on `old`
  const PoolBlock late = New(2 * kMiB, 0);
  device_.Give(0);
  Free(late, 0);
  device_.Finish(0, 1);  // the marker fires, but the work on `late` is not finished
  const PoolBlock large = New(2 * kMiB, 1);
  EXPECT_NE(large.data, late.data);
  EXPECT_EQ(New(kMiB, 1).data, old.data);
  device_.Finish(0);
  EXPECT_EQ(New(2 * kMiB, 1).data, late.data);
  Free(other, 1);
  Free(large, 1);
}

TEST_F(ThcPoolTest, ReplacesAnOldMarkerOnceItHasFired) {
  const PoolBlock old = New(kMiB, 0);
  device_.Give(0);
  Free(old, 0);
  New(kMiB, 1);  // leaves a marker behind the work on `old`
  const PoolBlock late = New(2 * kMiB, 0);
  device_.Give(0);
  Free(late, 0);
  device_.Finish(0);
  // The old marker covers `old` alone, but all work is finished.
  EXPECT_EQ(New(2 * kMiB, 1).data, late.data);
}

TEST_F(ThcPoolTest, KeepsABlockUntilAllStreamsThatUseItAreDone) {
  const PoolBlock block = New(kMiB, 0);
  for (const StreamIndex stream : {1, 2}) {
    device_.Give(stream);
    pool_->RecordUse(block, stream);
  }
  Free(block, 0);
  PoolBlock other = New(kMiB, 0);
  EXPECT_NE(other.data, block.data);  // not even to its home stream
  EXPECT_EQ(pool_->Snapshot().segments[0].blocks[0].state, PoolSnapshot::State::kWaiting);
  Free(other, 0);
  device_.Finish(1);
  (void)New(512 * kKiB, 0);
  EXPECT_EQ(pool_->Snapshot().segments[0].blocks[0].state, PoolSnapshot::State::kWaiting);
  device_.Finish(2);
  std::vector<void*> given = {New(kMiB, 0).data, New(kMiB, 0).data};
  EXPECT_THAT(given, testing::Contains(block.data));
}

TEST_F(ThcPoolTest, RemembersAnyNumberOfStreams) {
  const PoolBlock block = New(kMiB, 0);
  for (int round = 0; round < 2; ++round) {
    for (StreamIndex stream = 1; stream <= 9; ++stream) pool_->RecordUse(block, stream);
  }
  EXPECT_THAT(pool_->Snapshot().segments[0].blocks[0].uses,
              testing::ElementsAre(1, 2, 3, 4, 5, 6, 7, 8, 9));
  for (StreamIndex stream = 1; stream <= 9; ++stream) device_.Give(stream);
  Free(block, 0);
  EXPECT_EQ(device_.Calls(Call::kRecord), 9u);
  for (StreamIndex stream = 1; stream <= 8; ++stream) device_.Finish(stream);
  EXPECT_NE(New(kMiB, 0).data, block.data);
  device_.Finish(9);
  const PoolBlock again = New(kMiB, 0);
  EXPECT_EQ(again.data, block.data);
  EXPECT_THAT(pool_->Snapshot().segments[0].blocks[0].uses, testing::IsEmpty());
}

TEST_F(ThcPoolTest, CountsTheStreamOfTheFreeingThreadAsAUse) {
  const PoolBlock block = New(kMiB, 0);
  device_.Give(3);
  Free(block, 3);
  EXPECT_NE(New(kMiB, 0).data, block.data);
  device_.Finish(3);
  EXPECT_EQ(New(kMiB, 0).data, block.data);
}

TEST_F(ThcPoolTest, IgnoresUsesByTheHomeStream) {
  const PoolBlock block = New(kMiB, 0);
  pool_->RecordUse(block, 0);
  Free(block, 0);
  EXPECT_EQ(New(kMiB, 0).data, block.data);
  EXPECT_EQ(device_.Calls(Call::kRecord), 0u);
}

TEST_F(ThcPoolTest, UsesEventsAgain) {
  for (int i = 0; i < 100; ++i) {
    const PoolBlock block = New(kMiB, 0);
    pool_->RecordUse(block, 1);
    Free(block, 0);
  }
  EXPECT_EQ(device_.Calls(Call::kCreateEvent), 1u);
  EXPECT_EQ(device_.Calls(Call::kRecord), 100u);
}

TEST_F(ThcPoolTest, LendsPartOfAnotherStreamsSegmentWhereMoreWouldPassThePeak) {
  Make({.growth_slack_bytes = 0});
  const PoolBlock first = New(4 * kMiB, 0), stays = New(4 * kMiB, 0);
  Free(first, 0);
  Free(stays, 0);
  // In the first segment, which therefore cannot move as a whole.
  const PoolBlock pinned = New(kMiB, 0);
  const PoolBlock large = New(4 * kMiB, 0);
  device_.Give(1);
  const PoolBlock lent = New(3 * kMiB, 1);
  EXPECT_EQ(device_.Calls(Call::kAllocate), 2u);
  EXPECT_EQ(Offset(pinned, lent), kMiB);
  Free(lent, 1);
  // The block returns to its home stream after the borrower's work.
  EXPECT_NE(New(3 * kMiB, 0).data, lent.data);
  device_.Finish(1);
  EXPECT_EQ(New(3 * kMiB, 0).data, lent.data);
  Free(pinned, 0);
  Free(large, 0);
}

TEST_F(ThcPoolTest, GivesIdleSegmentsBackBeforeItGrowsBeyondThePeak) {
  Make({.growth_slack_bytes = 0});
  std::vector<PoolBlock> blocks;
  for (const size_t mib : {10, 20, 30}) blocks.push_back(New(mib * kMiB, 0));
  for (const PoolBlock& block : blocks) Free(block, 0);
  // 60 MiB were in use and 72 MiB are allowed. Of 60 + 40 MiB, 30 MiB are returned.
  const PoolBlock large = New(40 * kMiB, 0);
  EXPECT_EQ(device_.live_bytes(), 70 * kMiB);
  EXPECT_EQ(pool_->Statistics().upstream_frees, 1u);
  Free(large, 0);
}

TEST_F(ThcPoolTest, KeepsSegmentsWhoseWorkIsNotOver) {
  Make({.growth_slack_bytes = 0});
  device_.before_free = [](uintptr_t, size_t) { ADD_FAILURE() << "memory at work is given back"; };
  const PoolBlock block = New(10 * kMiB, 0);
  device_.Give(0);
  Free(block, 0);
  const PoolBlock large = New(20 * kMiB, 0);
  EXPECT_EQ(device_.live_bytes(), 30 * kMiB);
  Free(large, 0);
  device_.before_free = nullptr;
}

TEST_F(ThcPoolTest, WaitsForAllStreamsBeforeItGivesUp) {
  Make({.limit_bytes = 10 * kMiB});
  const PoolBlock a = New(4 * kMiB, 0), b = New(6 * kMiB, 1);
  for (const StreamIndex stream : {0, 1, 2}) device_.Give(stream);
  pool_->RecordUse(a, 2);
  Free(a, 0);
  Free(b, 1);
  const PoolBlock all = New(10 * kMiB, 0);
  EXPECT_EQ(device_.live_bytes(), 10 * kMiB);
  EXPECT_EQ(device_.Calls(Call::kSynchronize), 3u);
  Free(all, 0);
}

TEST_F(ThcPoolTest, ServesSmallRequestsFromLargeSegmentsWhenNothingElseIsLeft) {
  Make({.limit_bytes = 8 * kMiB});
  Cached(8 * kMiB, 0);
  const PoolBlock large = New(7 * kMiB, 0);
  const PoolBlock small = New(100, 0);
  EXPECT_EQ(Offset(large, small), 7 * kMiB);
  const PoolBlock borrowed = New(100, 1);
  EXPECT_EQ(Offset(large, borrowed), 7 * kMiB + 512);
  Free(small, 0);
  Free(borrowed, 1);
  Free(large, 0);
}

TEST_F(ThcPoolTest, AllocatesLessThanAWholeSmallSegmentNearTheLimit) {
  Make({.limit_bytes = 256 * kKiB});
  const PoolBlock block = New(100 * kKiB, 0);
  EXPECT_EQ(device_.live_bytes(), 128 * kKiB);
  EXPECT_EQ(pool_->Statistics().out_of_memory_retries, 0u);
  Free(block, 0);
}

TEST_F(ThcPoolTest, WaitsForTheStreamsWhenTheDeviceHasNoEvents) {
  const PoolBlock block = New(kMiB, 0);
  for (const StreamIndex stream : {1, 2}) pool_->RecordUse(block, stream);
  device_.Give(2);
  device_.Fail(Call::kCreateEvent, 0, 1000);
  Free(block, 0);
  // Without events, the end of the streams' work is unknown.
  EXPECT_NE(New(kMiB, 0).data, block.data);
  EXPECT_EQ(pool_->ReleaseCached(), kMiB);
  EXPECT_EQ(device_.Finished(2), 1u);
  EXPECT_EQ(device_.live_bytes(), kMiB);
}

TEST_F(ThcPoolTest, RecordsEventsLaterThatTheDeviceDidNotGive) {
  const PoolBlock block = New(kMiB, 0);
  for (const StreamIndex stream : {1, 2, 3}) pool_->RecordUse(block, stream);
  device_.Fail(Call::kCreateEvent, 1, 2);  // the second event, at first and when retried
  Free(block, 0);
  EXPECT_NE(New(kMiB, 0).data, block.data);
  pool_->CheckInvariants();
  device_.Give(3);
  // The event is recorded now, behind the work on stream 3.
  EXPECT_NE(New(kMiB, 0).data, block.data);
  device_.Finish(3);
  EXPECT_EQ(New(kMiB, 0).data, block.data);
}

TEST_F(ThcPoolTest, ReleasesAllThatIsCached) {
  device_.Give(0);
  Cached(3 * kMiB, 0);
  Cached(100, 1);
  EXPECT_EQ(pool_->ReleaseCached(), 4 * kMiB);
  EXPECT_EQ(device_.live_bytes(), 0u);
  EXPECT_EQ(pool_->Statistics().reserved_bytes, 0u);
}

TEST_F(ThcPoolTest, RejectsInvalidOptions) {
  EXPECT_THROW(NewThcPool(device_, {.large_granule_bytes = 1000}), EnforceNotMet);
  EXPECT_THROW(NewThcPool(device_, {.growth_over_peak = 0.5}), EnforceNotMet);
}

}  // namespace
}  // namespace caffe2rt::test::thc_pool_test
