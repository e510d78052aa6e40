// What the THC pool does when the cache of a stream cannot serve a request: waiting for all
// streams, moving segments, and the limits of growth.
#include <utility>
#include <vector>

#include "tests/contexts/pool/thc_pool_testing.h"

namespace caffe2rt::test::thc_pool_growth_test {
namespace {

using ThcPoolGrowthTest = ThcPoolTest;

TEST_F(ThcPoolGrowthTest, MemoryFreedDuringAWaitIsStillInUse) {
  device_.Give(1);
  const PoolBlock early = New(kMiB, 0), late = New(2 * kMiB, 0), used = New(3 * kMiB, 0),
                  unrecorded = New(4 * kMiB, 0), other = New(kMiB, 1);
  pool_->RecordUse(used, 0);
  Free(early, 0);
  Free(other, 1);
  bool is_done = false;
  device_.before_synchronize = [&](StreamIndex stream) {
    if (stream != 1 || std::exchange(is_done, true)) return;
    device_.Give(0);  // stream 0 was waited for, and gets new work
    device_.Give(2);
    pool_->RecordUse(used, 2);
    pool_->RecordUse(unrecorded, 2);
    Free(late, 0);
    Free(used, 0);
    device_.Fail(Call::kRecord, 0, 1);
    Free(unrecorded, 0);
  };
  device_.before_free = [&](uintptr_t address, size_t) {
    for (const PoolBlock& block : {late, used, unrecorded}) {
      EXPECT_NE(address, reinterpret_cast<uintptr_t>(block.data));
    }
  };
  EXPECT_EQ(pool_->ReleaseCached(), 2 * kMiB);
  pool_->CheckInvariants();
  // No other stream gets the memory, and the home stream does not get what stream 2 uses.
  for (const size_t nbytes : {3 * kMiB, 4 * kMiB}) {
    const PoolBlock home = New(nbytes, 0);
    EXPECT_NE(home.data, used.data);
    EXPECT_NE(home.data, unrecorded.data);
  }
  for (const PoolBlock& block : {late, used, unrecorded}) {
    EXPECT_NE(New(2 * kMiB, 1).data, block.data);
    EXPECT_NE(New(4 * kMiB, 1).data, block.data);
  }
  device_.before_free = nullptr;
  device_.Finish(0);
  device_.Finish(2);
  EXPECT_EQ(pool_->ReleaseCached(), 9 * kMiB);
}

TEST_F(ThcPoolGrowthTest, WaitThatFailsLeavesItsBooksAsTheyWere) {
  const PoolBlock cached = New(kMiB, 0), waiting = New(2 * kMiB, 0), unrecorded = New(3 * kMiB, 0);
  device_.Give(0);
  device_.Give(1);
  for (const PoolBlock& block : {waiting, unrecorded}) pool_->RecordUse(block, 1);
  Free(cached, 0);
  Free(waiting, 0);
  device_.Fail(Call::kRecord, 0, 1);
  Free(unrecorded, 0);
  for (const uint64_t stream : {0, 1}) {
    device_.Fail(Call::kSynchronize, stream, 1);
    EXPECT_THROW(pool_->ReleaseCached(), EnforceNotMet);
    pool_->CheckInvariants();
    EXPECT_EQ(device_.Calls(Call::kFree), 0u);
  }
  EXPECT_EQ(pool_->ReleaseCached(), 6 * kMiB);
  EXPECT_EQ(device_.Finished(1), 1u);
}

// Frees are counted per stream. When a segment moves to another stream, its count restarts.
TEST_F(ThcPoolGrowthTest, SegmentThatMovedIsIdleByTheWorkOfItsNewStreamAlone) {
  for (const bool busy : {true, false}) {  // the segment's old stream frees more, or less
    const StreamIndex from = busy ? 0 : 2, to = from + 1;
    for (int i = 0; i < (busy ? 9 : 1); ++i) Cached(4 * kMiB, from);
    for (int i = 0; i < (busy ? 0 : 9); ++i) Cached(kMiB, to);
    device_.before_free = [](uintptr_t, size_t) { ADD_FAILURE() << "it is given back"; };
    const uint64_t allocations = device_.Calls(Call::kAllocate);
    const PoolBlock moved = New(3 * kMiB, to);  // the block is split
    EXPECT_EQ(device_.Calls(Call::kAllocate), allocations);
    device_.Give(to);
    Free(moved, to);
    EXPECT_NE(New(4 * kMiB, from).data, moved.data);
    device_.before_free = nullptr;
    device_.Finish(to);
    for (const PoolBlock& block : std::vector<PoolBlock>(in_use_)) Free(block, from);
    pool_->ReleaseCached();
    EXPECT_EQ(device_.live_bytes(), 0u);
    EXPECT_EQ(pool_->Statistics().reserved_bytes, 0u);
  }
}

TEST_F(ThcPoolGrowthTest, SegmentThatMovedIsAtHomeInItsNewStream) {
  const PoolBlock segment = Cached(4 * kMiB, 0);
  const PoolBlock moved = New(3 * kMiB, 1);
  EXPECT_EQ(moved.data, segment.data);
  device_.Give(1);
  Free(moved, 1);
  // At once, merged with the part that was split off.
  EXPECT_EQ(New(4 * kMiB, 1).data, segment.data);
}

TEST_F(ThcPoolGrowthTest, MovesSegmentsOfUpToTwiceTheRequest) {
  const PoolBlock large = Cached(2 * kMiB + 512 * kKiB, 0), twice = Cached(2 * kMiB, 0);
  EXPECT_EQ(large.data, twice.data);  // a single block, which is too large
  EXPECT_NE(New(kMiB, 1).data, large.data);
  const PoolBlock rest = New(2 * kMiB + 512 * kKiB, 0);
  const PoolBlock fits = Cached(2 * kMiB, 0);
  EXPECT_NE(fits.data, rest.data);
  EXPECT_EQ(New(kMiB, 1).data, fits.data);
}

// 20 and 30 MiB are cached, and the peak use was 50 MiB. 31 MiB more are requested.
TEST_F(ThcPoolGrowthTest, GrowsToExactlyWhatItsOptionsAllow) {
  const struct {
    size_t slack_bytes, live_bytes;
  } cases[] = {{31 * kMiB, 81 * kMiB},        // nothing exceeds the limit
               {31 * kMiB - 512, 51 * kMiB},  // the limit is exceeded a little
               {kMiB, 51 * kMiB},             // the limit is exceeded by 30 MiB
               {kMiB - 512, 31 * kMiB}};      // and a little more
  for (const auto& c : cases) {
    Make({.growth_over_peak = 1, .growth_slack_bytes = c.slack_bytes});
    const PoolBlock first = New(20 * kMiB, 0), second = New(30 * kMiB, 0);
    Free(first, 0);
    Free(second, 0);
    const PoolBlock more = New(31 * kMiB, 0);
    EXPECT_EQ(device_.live_bytes(), c.live_bytes);
    Free(more, 0);
  }
}

TEST_F(ThcPoolGrowthTest, UsesWhatOthersFreeWhileItReleasesMemory) {
  Make({.growth_over_peak = 1, .growth_slack_bytes = 0});
  const PoolBlock kept = New(31 * kMiB, 0);
  Cached(30 * kMiB, 1);
  bool is_done = false;
  device_.before_free = [&](uintptr_t, size_t) {
    if (!std::exchange(is_done, true)) Free(kept, 0);
  };
  EXPECT_EQ(New(31 * kMiB, 0).data, kept.data);
  EXPECT_EQ(device_.Calls(Call::kAllocate), 2u);
  device_.before_free = nullptr;
}

TEST_F(ThcPoolGrowthTest, RestOfASegmentThatMovedIsGivenToOthers) {
  Make({.growth_slack_bytes = 0});
  for (int i = 0; i < 9; ++i) Cached(8 * kMiB, 0);
  const PoolBlock moved = New(5 * kMiB, 1);
  const PoolBlock rest = New(2 * kMiB, 2);  // borrowed from stream 1, which has not done any work
  EXPECT_EQ(Offset(moved, rest), 5 * kMiB);
}

TEST_F(ThcPoolGrowthTest, MovesNoSegmentToTheOtherKindOfRequest) {
  const PoolBlock small = Cached(100, 0);  // a segment of 1 MiB for many small requests
  const PoolBlock large = Cached(2 * kMiB, 0);
  const PoolBlock first = New(512 * kKiB, 1);  // not taken from the small segment
  EXPECT_NE(first.data, small.data);
  EXPECT_EQ(device_.Calls(Call::kAllocate), 3u);  // a block of 2 MiB would waste too much
  const PoolBlock second = New(200, 2);           // not taken from the large segment
  EXPECT_EQ(second.data, small.data);
  EXPECT_EQ(device_.Calls(Call::kAllocate), 3u);
  const PoolBlock third = New(200, 3);
  EXPECT_NE(third.data, large.data);
  EXPECT_EQ(device_.Calls(Call::kAllocate), 4u);
  const PoolBlock fourth = New(kMiB + 1, 3);
  EXPECT_EQ(fourth.data, large.data);
  EXPECT_EQ(device_.Calls(Call::kAllocate), 4u);
}

}  // namespace
}  // namespace caffe2rt::test::thc_pool_growth_test
