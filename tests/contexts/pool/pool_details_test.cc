// What the pools share, to the last byte and word: errors, snapshots, numbers of streams; and how
// much the THC pool gives back when it grows.
#include <functional>
#include <string>
#include <vector>

#include "contexts/pool/pool.h"
#include "tests/contexts/pool/thc_pool_testing.h"

namespace caffe2rt::test::pool_details_test {
namespace {

struct PoolKind {
  const char* name;
  std::function<std::unique_ptr<Pool>(Upstream&, size_t limit_bytes)> make;
};

const std::vector<PoolKind>& Kinds() {
  static const std::vector<PoolKind> kinds = {
      {"thc",
       [](Upstream& upstream, size_t limit_bytes) {
         return NewThcPool(upstream, {.device = "card 7", .limit_bytes = limit_bytes});
       }},
      {"cub",
       [](Upstream& upstream, size_t limit_bytes) {
         return NewCubPool(upstream, {.device = "card 7",
                                      .limit_bytes = limit_bytes,
                                      .bin_growth = 2,
                                      .min_bin = 9,
                                      .max_bin = 24});
       }},
      {"none", [](Upstream& upstream, size_t limit_bytes) {
         return NewDirectPool(upstream, {.device = "card 7", .limit_bytes = limit_bytes});
       }}};
  return kinds;
}

std::string ErrorOf(const std::function<void()>& act) {
  try {
    act();
  } catch (const EnforceNotMet& error) {
    return error.message();
  }
  return "no error";
}

TEST(PoolDetailsTest, OutOfMemoryHasTheBytesTheStreamAndTheUse) {
  for (const PoolKind& kind : Kinds()) {
    SCOPED_TRACE(kind.name);
    FakeAllocator device;
    const auto pool = kind.make(device, 2 * kMiB);
    const PoolBlock block = pool->Allocate(kMiB, 0);
    const std::string use =
        ", in use 1 MiB in 1 blocks, cached 0 bytes, limit 2 MiB, peak 1 MiB; use a smaller batch "
        "or "
        "raise the limit";
    for (const StreamIndex stream : {0, 3}) {
      EXPECT_EQ(ErrorOf([&] { (void)pool->Allocate(2 * kMiB, stream); }),
                MakeString("card 7 is out of memory: asked 2 MiB on stream ", stream, use));
    }
    pool->Free(block, 0);
    // Without a limit, it is the device that has no more.
    const auto boundless = kind.make(device, SIZE_MAX);
    device.Refuse(0, 100);
    EXPECT_EQ(
        ErrorOf([&] { (void)boundless->Allocate(kMiB, 1); }),
        "card 7 is out of memory: asked 1 MiB on stream 1, in use 0 bytes in 0 blocks, cached "
        "0 bytes, limit none, peak 0 bytes; use a smaller batch or raise the limit");
  }
  // More than can be rounded up.
  FakeAllocator device;
  EXPECT_EQ(ErrorOf([&] { (void)Kinds()[0].make(device, SIZE_MAX)->Allocate(SIZE_MAX, 1); }),
            "card 7 is out of memory: asked 16.0 EiB, in use 0 bytes in 0 blocks, cached 0 bytes, "
            "limit none, peak 0 bytes; use a smaller batch or raise the limit");
}

TEST(PoolDetailsTest, StreamsHaveNumbersOf16Bits) {
  for (const PoolKind& kind : Kinds()) {
    SCOPED_TRACE(kind.name);
    FakeAllocator device;
    const auto pool = kind.make(device, SIZE_MAX);
    const PoolBlock block = pool->Allocate(1, 0);
    for (const StreamIndex stream : {-2, -1, 65536}) {
      const std::string error = MakeString("card 7: stream is ", stream, ", want 0 to 65535");
      EXPECT_EQ(ErrorOf([&] { (void)pool->Allocate(1, stream); }), error);
      EXPECT_EQ(ErrorOf([&] { pool->RecordUse(block, stream); }), error);
      if (stream != -1) {
        EXPECT_EQ(ErrorOf([&] { pool->Free(block, stream); }), error);
      }
    }
    pool->Free(block, -1);
    const PoolBlock last = pool->Allocate(1, 65535);
    pool->RecordUse(last, 0);
    pool->Free(last, 65535);
    pool->CheckInvariants();
  }
}

TEST(PoolDetailsTest, SnapshotsHaveTheStatisticsAndNoRequestOfWhatIsFree) {
  for (const PoolKind& kind : Kinds()) {
    SCOPED_TRACE(kind.name);
    FakeAllocator device;
    const auto pool = kind.make(device, SIZE_MAX);
    const PoolBlock a = pool->Allocate(700000, 0), b = pool->Allocate(300000, 0),
                    c = pool->Allocate(1000, 0);
    pool->Free(a, 0);
    pool->Free(b, 0);
    const PoolStatistics statistics = pool->Statistics();
    const PoolSnapshot snapshot = pool->Snapshot();
    EXPECT_EQ(snapshot.device, "card 7");
    EXPECT_EQ(snapshot.pool, kind.name);
    EXPECT_EQ(snapshot.statistics.largest_free_bytes, statistics.largest_free_bytes);
    size_t in_use = 0, largest = 0, reserved = 0;
    for (const PoolSnapshot::Segment& segment : snapshot.segments) {
      reserved += segment.bytes;
      size_t bytes = 0;
      for (const PoolSnapshot::Block& block : segment.blocks) {
        const bool is_used = block.state == PoolSnapshot::State::kInUse;
        EXPECT_EQ(block.requested_bytes, is_used ? 1000u : 0u);
        in_use += is_used;
        if (!is_used) largest = std::max(largest, block.bytes);
        bytes += block.bytes;
      }
      EXPECT_EQ(bytes, segment.bytes);
    }
    EXPECT_EQ(in_use, 1u);
    EXPECT_EQ(reserved, statistics.reserved_bytes);
    EXPECT_EQ(largest, statistics.largest_free_bytes);
    EXPECT_EQ(largest >= 700000, std::string(kind.name) != "none");
    pool->Free(c, 0);
  }
}

using ThcPoolDetailsTest = ThcPoolTest;

// The limit is that of the memory in use with the request: 4 MiB and the slack of 2. What is cached
// beyond that, 1 of 3 MiB, is given back.
TEST_F(ThcPoolDetailsTest, ARequestRaisesThePeakThatTheGrowthIsMeasuredBy) {
  Make({.growth_over_peak = 1, .growth_slack_bytes = 2 * kMiB});
  const std::vector<PoolBlock> blocks = {New(kMiB, 0), New(kMiB, 0), New(kMiB, 0)};
  for (const PoolBlock& block : blocks) Free(block, 0);
  EXPECT_EQ(device_.live_bytes(), 3 * kMiB);
  New(4 * kMiB, 0);
  EXPECT_EQ(device_.live_bytes(), 6 * kMiB);
  EXPECT_EQ(device_.Calls(Call::kFree), 1u);
}

// An event that could not be recorded is used for the next record.
TEST_F(ThcPoolDetailsTest, AnEventWhoseRecordFailsIsNotLost) {
  for (int i = 0; i < 5; ++i) {
    const PoolBlock block = New(kMiB, 0);
    pool_->RecordUse(block, 1);
    device_.Fail(Call::kRecord, 0, 1);
    Free(block, 0);
    device_.Finish(1);
    Free(New(kMiB, 0), 0);
  }
  EXPECT_LE(device_.live_events(), 2u);
  EXPECT_EQ(pool_->Statistics().events_created, device_.live_events());
}

TEST(PoolDetailsTest, SnapshotsNameTheStateAndTheUsesOfBlocks) {
  using State = PoolSnapshot::State;
  PoolSnapshot snapshot{.device = "card 7", .pool = "thc", .statistics = {}, .segments = {}};
  snapshot.segments.push_back({.address = 0x100, .bytes = 96, .blocks = {}});
  std::vector<PoolSnapshot::Block>& blocks = snapshot.segments[0].blocks;
  blocks.push_back({0x100, 32, 7, State::kInUse, 2, {}});
  blocks.push_back({0x120, 32, 0, State::kWaiting, 2, {1, 3}});
  blocks.push_back({0x140, 32, 0, State::kCached, 2, {}});
  const std::string want =
      R"("segments":[{"address":"0x100","bytes":96,"blocks":[)"
      R"({"address":"0x100","bytes":32,"requested_bytes":7,"state":"in use","home":2,"uses":[]},)"
      R"({"address":"0x120","bytes":32,"requested_bytes":0,"state":"waiting","home":2,"uses":[1,3]},)"
      R"({"address":"0x140","bytes":32,"requested_bytes":0,"state":"cached","home":2,"uses":[]}]}])";
  const std::string json = SnapshotJson(snapshot);
  EXPECT_NE(json.find(want), std::string::npos) << json;
  EXPECT_TRUE(
      json.starts_with(R"({"device":"card 7","pool":"thc","statistics":{"in_use_bytes":0,)"));
}

TEST(PoolDetailsTest, SnapshotsAreOfAsciiCharacters) {
  PoolSnapshot snapshot{
      .device = "k\xc3\xa4rtchen \"7\"\n\xff", .pool = "thc", .statistics = {}, .segments = {}};
  const std::string want = R"({"device":"k\u00e4rtchen \"7\"\n\ufffd","pool":"thc",)";
  EXPECT_TRUE(SnapshotJson(snapshot).starts_with(want)) << SnapshotJson(snapshot);
  EXPECT_TRUE(SnapshotJson(std::vector{snapshot, snapshot}).starts_with("[" + want));
  EXPECT_EQ(SnapshotJson(std::vector<PoolSnapshot>()), "[]");
}

// Memory is given back to the device although waiting for its uses fails; the first error is reported.
TEST(PoolDetailsTest, TheFirstErrorOfAReleaseIsReportedAndAllOfItIsDone) {
  for (const bool free_fails : {false, true}) {
    FakeAllocator device;
    const auto pool = Kinds()[2].make(device, SIZE_MAX);
    const PoolBlock block = pool->Allocate(kMiB, 0);
    pool->RecordUse(block, 3);
    pool->RecordUse(block, 2);
    std::vector<StreamIndex> waited;
    device.before_synchronize = [&](StreamIndex stream) {
      waited.push_back(stream);
      CAFFE_THROW("stream ", stream, " is lost");
    };
    if (free_fails) device.Fail(Call::kFree);
    const std::string error = ErrorOf([&] { pool->Free(block, 0); });
    ASSERT_EQ(waited.size(), 2u);
    EXPECT_EQ(error, MakeString("stream ", waited[0], " is lost"));
    EXPECT_EQ(waited[0] + waited[1], 5);
    EXPECT_EQ(device.live_bytes(), 0u);
    EXPECT_EQ(pool->Statistics().reserved_bytes, 0u);
    EXPECT_EQ(pool->Statistics().upstream_frees, 1u);
    pool->CheckInvariants();
  }
}

// The token of a block leads to its pool, its home and the block itself.
TEST(PoolDetailsTest, TokensLeadToTheirBlocks) {
  FakeAllocator device;
  for (const PoolKind& kind : Kinds()) {
    const auto pool = kind.make(device, SIZE_MAX);
    const PoolBlock first = pool->Allocate(1000, 3), second = pool->Allocate(2000, 5);
    for (const PoolBlock& block : {first, second}) {
      EXPECT_EQ(&Pool::Of(block.token), pool.get());
      EXPECT_EQ(Pool::BlockOf(block.token).data, block.data);
      EXPECT_EQ(Pool::BlockOf(block.token).token, block.token);
    }
    EXPECT_EQ(Pool::HomeOf(first.token), 3);
    EXPECT_EQ(Pool::HomeOf(second.token), 5);
    pool->Free(Pool::BlockOf(first.token), 3);
    EXPECT_EQ(pool->Statistics().requested_bytes, 2000u);
    pool->Free(second, 5);
  }
}

}  // namespace
}  // namespace caffe2rt::test::pool_details_test
