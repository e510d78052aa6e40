// Behaviour that all pools share, whatever their policy.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "caffe2_core/base/logging.h"
#include "caffe2_core/device/memory.h"
#include "contexts/pool/pool.h"
#include "tests/support/fake_allocator.h"
#include "tests/support/json.h"

namespace caffe2rt::test::pool_suite_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr size_t kMiB = size_t{1} << 20;

// Returns the message of the exception that `action` throws.
std::string ErrorOf(const std::function<void()>& action) {
  try {
    action();
  } catch (const EnforceNotMet& error) {
    return error.message();
  }
  return "";
}

class PoolTest : public testing::TestWithParam<std::string> {
 protected:
  struct Options {
    std::string device = "device 0";
    size_t limit_bytes = SIZE_MAX;
  };
  std::unique_ptr<Pool> New(FakeAllocator& upstream) { return New(upstream, Options()); }
  std::unique_ptr<Pool> New(FakeAllocator& upstream, const Options& options) {
    const auto set = [&](auto pool_options) {
      pool_options.device = options.device;
      pool_options.limit_bytes = options.limit_bytes;
      return pool_options;
    };
    if (GetParam() == "none") return NewDirectPool(upstream, set(DirectPoolOptions()));
    if (GetParam() == "cub") return NewCubPool(upstream, set(CubPoolOptions()));
    return NewThcPool(upstream, set(ThcPoolOptions()));
  }

  FakeAllocator device_;
};

INSTANTIATE_TEST_SUITE_P(Pools, PoolTest, testing::Values("none", "cub", "thc"),
                         [](const auto& info) { return info.param; });

TEST_P(PoolTest, GivesAlignedMemoryThatDoesNotOverlap) {
  const auto pool = New(device_);
  std::vector<std::pair<uintptr_t, PoolBlock>> blocks;
  for (const size_t nbytes : {size_t{1}, size_t{511}, size_t{513}, kMiB, kMiB + 1, 3 * kMiB}) {
    const PoolBlock block = pool->Allocate(nbytes, 0);
    const auto begin = reinterpret_cast<uintptr_t>(block.data);
    EXPECT_EQ(begin % 512, 0u);
    for (const auto& [end, other] : blocks) {
      const auto other_begin = reinterpret_cast<uintptr_t>(other.data);
      EXPECT_TRUE(begin >= end || begin + nbytes <= other_begin);
    }
    blocks.emplace_back(begin + nbytes, block);
  }
  pool->CheckInvariants();
  for (const auto& [end, block] : blocks) pool->Free(block, 0);
  pool->CheckInvariants();
}

TEST_P(PoolTest, ReturnsNullForZeroBytesAndAcceptsItsFree) {
  const auto pool = New(device_);
  const PoolBlock block = pool->Allocate(0, 0);
  EXPECT_EQ(block.data, nullptr);
  pool->RecordUse(block, 1);
  pool->Free(block, 0);
  EXPECT_EQ(device_.Calls(FakeAllocator::Call::kAllocate), 0u);
}

TEST_P(PoolTest, CountsWhatIsInUse) {
  const auto pool = New(device_);
  const PoolBlock a = pool->Allocate(1000, 0);
  const PoolBlock b = pool->Allocate(3 * kMiB, 0);
  PoolStatistics s = pool->Statistics();
  EXPECT_EQ(s.blocks_in_use, 2u);
  EXPECT_EQ(s.requested_bytes, 1000 + 3 * kMiB);
  EXPECT_GE(s.in_use_bytes, s.requested_bytes);
  EXPECT_EQ(s.reserved_bytes, device_.live_bytes());
  EXPECT_EQ(s.cached_bytes, s.reserved_bytes - s.in_use_bytes);
  const size_t peak = s.in_use_bytes;
  pool->Free(a, 0);
  pool->Free(b, 0);
  s = pool->Statistics();
  EXPECT_EQ(s.blocks_in_use, 0u);
  EXPECT_EQ(s.in_use_bytes, 0u);
  EXPECT_EQ(s.peak_in_use_bytes, peak);
  EXPECT_EQ(s.allocations, 2u);
  pool->ResetPeaks();
  EXPECT_EQ(pool->Statistics().peak_in_use_bytes, 0u);
  EXPECT_EQ(pool->Statistics().peak_reserved_bytes, device_.live_bytes());
}

TEST_P(PoolTest, FindsABlockThatIsFreedTwice) {
  const auto pool = New(device_, {.device = "CUDA 1", .limit_bytes = SIZE_MAX});
  const PoolBlock block = pool->Allocate(kMiB, 0);
  pool->Free(block, 0);
  EXPECT_THAT(ErrorOf([&] { pool->Free(block, 0); }),
              AllOf(HasSubstr("CUDA 1: block 0x"), HasSubstr("freed before")));
  EXPECT_THAT(ErrorOf([&] { pool->RecordUse(block, 1); }), HasSubstr("freed before"));
  pool->CheckInvariants();
}

TEST_P(PoolTest, FindsASecondFreeAfterTheMemoryWasGivenOutAgain) {
  const auto pool = New(device_);
  const PoolBlock old = pool->Allocate(kMiB, 0);
  pool->Free(old, 0);
  const PoolBlock now = pool->Allocate(kMiB, 0);
  ASSERT_EQ(now.data, old.data);
  EXPECT_THAT(ErrorOf([&] { pool->Free(old, 0); }), HasSubstr("freed before"));
  EXPECT_EQ(pool->Statistics().blocks_in_use, 1u);
  pool->Free(now, 0);
}

TEST_P(PoolTest, RejectsABlockOfAnotherPool) {
  const auto pool = New(device_);
  FakeAllocator other_device;
  const auto other = New(other_device);
  const PoolBlock block = other->Allocate(kMiB, 0);
  EXPECT_THAT(ErrorOf([&] { pool->Free(block, 0); }), HasSubstr("another pool"));
  EXPECT_EQ(&Pool::Of(block.token), other.get());
  other->Free(block, 0);
}

TEST_P(PoolTest, RejectsInvalidStreams) {
  const auto pool = New(device_);
  EXPECT_THAT(ErrorOf([&] { (void)pool->Allocate(1, -1); }), HasSubstr("stream is -1, want 0 to"));
  const PoolBlock block = pool->Allocate(1, 0);
  EXPECT_THAT(ErrorOf([&] { pool->Free(block, 1 << 20); }), HasSubstr("stream is 1048576"));
  pool->Free(block, kNoStream);
}

TEST_P(PoolTest, FreesThroughAMemoryDeleter) {
  const auto pool = New(device_);
  const PoolBlock block = pool->Allocate(kMiB, 0);
  {
    const DataPtr memory(
        block.data,
        MemoryDeleter([](void* data, void* token) { FreePoolBlock(data, token, kNoStream); },
                      block.token));
  }
  EXPECT_EQ(pool->Statistics().blocks_in_use, 0u);
}

TEST_P(PoolTest, LogsWhatADeleterDoesWrongAndThrowsNothing) {
  const auto pool = New(device_);
  const PoolBlock block = pool->Allocate(kMiB, 0);
  FreePoolBlock(block.data, block.token, 0);
  testing::internal::CaptureStderr();
  FreePoolBlock(block.data, block.token, 0);
  FreePoolBlock(block.data, nullptr, 0);
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              AllOf(HasSubstr("freed before"), HasSubstr("has no block token")));
}

TEST_P(PoolTest, NamesAllFiguresWhenMemoryIsOut) {
  const auto pool = New(device_, {.device = "CUDA 0", .limit_bytes = 8 * kMiB});
  const PoolBlock block = pool->Allocate(2 * kMiB, 0);
  try {
    (void)pool->Allocate(7 * kMiB, 3);
    FAIL() << "7 MiB beside 2 MiB within 8 MiB";
  } catch (const OutOfMemory& error) {
    EXPECT_EQ(
        error.message(),
        "CUDA 0 is out of memory: asked 7 MiB on stream 3, in use 2 MiB in 1 blocks, cached 0 "
        "bytes, limit 8 MiB, peak 2 MiB; use a smaller batch "
        "or raise the limit");
  }
  pool->CheckInvariants();
  EXPECT_EQ(pool->Statistics().reserved_bytes, device_.live_bytes());
  pool->SetLimit(64 * kMiB);
  pool->Free(pool->Allocate(7 * kMiB, 3), 3);
  pool->Free(block, 0);
}

TEST_P(PoolTest, RejectsSizesBeyondAllMemory) {
  const auto pool = New(device_, {.device = "d", .limit_bytes = kMiB});
  for (const size_t nbytes : {SIZE_MAX, SIZE_MAX - 511, SIZE_MAX / 2, kMiB + 1}) {
    EXPECT_THROW((void)pool->Allocate(nbytes, 0), OutOfMemory) << nbytes;
  }
  EXPECT_EQ(pool->Statistics().reserved_bytes, 0u);
}

TEST_P(PoolTest, RetriesOnceIfTheUpstreamFails) {
  const auto pool = New(device_);
  device_.Refuse(0, 1);
  pool->Free(pool->Allocate(2 * kMiB, 0), 0);
  EXPECT_EQ(pool->Statistics().out_of_memory_retries, 1u);
  device_.Refuse(0, 2);
  EXPECT_THROW((void)pool->Allocate(40 * kMiB, 0), OutOfMemory);
  EXPECT_EQ(pool->Statistics().blocks_in_use, 0u);
}

TEST_P(PoolTest, GivesCachedMemoryBackBeforeItGivesUp) {
  FakeAllocator device({.limit_bytes = 16 * kMiB});
  const auto pool = New(device);
  // 2 MiB is a block size of every pool. With five blocks cached, the device does not have another
  // 16 MiB.
  std::vector<PoolBlock> blocks;
  for (int i = 0; i < 5; ++i) blocks.push_back(pool->Allocate(2 * kMiB, 0));
  for (const PoolBlock& block : blocks) pool->Free(block, 0);
  const PoolBlock large = pool->Allocate(16 * kMiB, 0);
  EXPECT_EQ(device.live_bytes(), 16 * kMiB);
  pool->Free(large, 0);
}

TEST_P(PoolTest, KeepsItsCountsWhenTheUpstreamThrows) {
  const auto pool = New(device_);
  using Call = FakeAllocator::Call;
  std::vector<PoolBlock> blocks;
  for (uint64_t round = 0; round < 300; ++round) {
    const Call calls[] = {Call::kAllocate, Call::kFree,   Call::kCreateEvent,
                          Call::kRecord,   Call::kIsDone, Call::kSynchronize};
    device_.Fail(calls[round % 6], round % 3, 1 + round % 2);
    for (StreamIndex stream = 0; stream < 3; ++stream) {
      device_.Give(stream);
      try {
        blocks.push_back(pool->Allocate(700 * 1024 * (1 + round % 7), stream));
        pool->RecordUse(blocks.back(), static_cast<StreamIndex>(round % 3));
      } catch (const EnforceNotMet&) {
      }
    }
    while (blocks.size() > 4) {
      const PoolBlock block = blocks[round % blocks.size()];
      blocks.erase(blocks.begin() + static_cast<ptrdiff_t>(round % blocks.size()));
      try {
        pool->Free(block, static_cast<StreamIndex>(round % 3));
      } catch (const EnforceNotMet&) {
      }
      device_.Finish(static_cast<StreamIndex>(round % 3));
    }
    if (round % 50 == 49) {
      try {
        pool->ReleaseCached();
      } catch (const EnforceNotMet&) {
      }
    }
    pool->CheckInvariants();
    ASSERT_EQ(pool->Statistics().reserved_bytes, device_.live_bytes());
    ASSERT_EQ(pool->Statistics().blocks_in_use, blocks.size());
  }
  for (const Call call : {Call::kAllocate, Call::kFree, Call::kCreateEvent, Call::kRecord,
                          Call::kIsDone, Call::kSynchronize}) {
    device_.Fail(call, 0, 0);
  }
  for (const PoolBlock& block : blocks) pool->Free(block, 0);
  pool->ReleaseCached();
  EXPECT_EQ(device_.live_bytes(), 0u);
}

TEST_P(PoolTest, LeavesNothingBehind) {
  {
    const auto pool = New(device_);
    const PoolBlock block = pool->Allocate(kMiB, 0);
    pool->RecordUse(block, 1);
    device_.Give(1);
    pool->Free(block, 0);
    pool->Free(pool->Allocate(100, 1), 2);
  }
  EXPECT_EQ(device_.live_bytes(), 0u);
  EXPECT_EQ(device_.live_events(), 0u);
}

TEST_P(PoolTest, LogsBlocksThatOutliveIt) {
  testing::internal::CaptureStderr();
  {
    const auto pool = New(device_, {.device = "CUDA 2", .limit_bytes = SIZE_MAX});
    (void)pool->Allocate(kMiB, 0);
  }
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              HasSubstr("CUDA 2: pool ends with 1 blocks in use"));
  EXPECT_EQ(device_.live_bytes(), 0u);
}

TEST_P(PoolTest, HoldsNoLockWhileTheUpstreamAllocatesAndFrees) {
  const auto pool = New(device_);
  const PoolBlock first = pool->Allocate(kMiB, 0);
  // Another thread calls the pool while the upstream allocator works. If the lock were held, it
  // would wait forever.
  bool nested = false;
  const auto ask = [&] {
    if (nested) return;
    nested = true;
    std::jthread([&] {
      EXPECT_EQ(pool->Statistics().blocks_in_use, 1u);
      EXPECT_TRUE(pool->Owns(first.data));
    }).join();
    nested = false;
  };
  device_.before_allocate = ask;
  device_.before_free = [&](uintptr_t, size_t) { ask(); };
  PoolBlock second = pool->Allocate(30 * kMiB, 0);
  device_.before_free = nullptr;
  pool->Free(second, 0);
  device_.before_free = [&](uintptr_t, size_t) { ask(); };
  pool->ReleaseCached();
  device_.before_free = nullptr;
  device_.before_allocate = nullptr;
  pool->Free(first, 0);
}

TEST_P(PoolTest, AwaitsMemoryThatAnotherThreadGivesBack) {
  const auto pool = New(device_, {.device = "d", .limit_bytes = 16 * kMiB});
  const PoolBlock block = pool->Allocate(16 * kMiB, 0);
  if (GetParam() != "none") pool->Free(block, 0);
  std::jthread other;
  std::atomic<bool> started{false};
  device_.before_free = [&](uintptr_t, size_t) {
    if (started.exchange(true)) return;
    other = std::jthread([&] { pool->Free(pool->Allocate(2 * kMiB, 0), 0); });
    // Waits until the other thread's request has failed, because the memory still counts as used.
    while (pool->Statistics().out_of_memory_retries == 0) std::this_thread::yield();
  };
  if (GetParam() == "none") {
    pool->Free(block, 0);
  } else {
    pool->ReleaseCached();
  }
  other.join();
  device_.before_free = nullptr;
  EXPECT_EQ(pool->Statistics().allocations, 2u);
}

TEST_P(PoolTest, ListsItsBlocksAsJson) {
  const auto pool = New(device_, {.device = "CUDA \"0\"", .limit_bytes = SIZE_MAX});
  const PoolBlock block = pool->Allocate(1000, 2);
  pool->RecordUse(block, 5);
  const PoolSnapshot snapshot = pool->Snapshot();
  ASSERT_EQ(snapshot.segments.size(), 1u);
  const auto& first = snapshot.segments[0].blocks.at(0);
  EXPECT_EQ(first.address, reinterpret_cast<uintptr_t>(block.data));
  EXPECT_EQ(first.requested_bytes, 1000u);
  EXPECT_EQ(first.home, 2);
  EXPECT_THAT(first.uses, testing::ElementsAre(5));
  const uintptr_t end = snapshot.segments[0].address + snapshot.segments[0].bytes;
  EXPECT_TRUE(pool->Owns(reinterpret_cast<void*>(end - 1)));
  EXPECT_FALSE(pool->Owns(reinterpret_cast<void*>(end)));
  const std::string json = SnapshotJson(snapshot);
  EXPECT_EQ(JsonAt(json, "/device"), R"("CUDA \"0\"")");
  EXPECT_EQ(JsonAt(json, "/pool"), '"' + GetParam() + '"');
  EXPECT_EQ(JsonAt(json, "/statistics/blocks_in_use"), "1");
  EXPECT_EQ(JsonAt(json, "/segments/0/blocks/0/state"), R"("in use")");
  EXPECT_EQ(JsonAt(json, "/segments/0/blocks/0/home"), "2");
  EXPECT_EQ(JsonAt(json, "/segments/0/blocks/0/uses"), "[5]");
  EXPECT_EQ(JsonAt(SnapshotJson(std::vector{snapshot, snapshot}), "/1"), JsonAt(json, ""));
  pool->Free(block, 2);
}

TEST_P(PoolTest, IsSafeForThreadsWithStreamsOfTheirOwn) {
  const auto pool = New(device_);
  {
    std::vector<std::jthread> threads;
    for (StreamIndex stream = 0; stream < 4; ++stream) {
      threads.emplace_back([&, stream] {
        uint64_t state = static_cast<uint64_t>(stream) + 1;
        std::vector<PoolBlock> blocks;
        for (int i = 0; i < 500; ++i) {
          state = state * 6364136223846793005u + 1442695040888963407u;
          blocks.push_back(pool->Allocate(1 + (state >> 33) % (2 * kMiB), stream));
          if (i % 5 == 0) pool->RecordUse(blocks.back(), (stream + 1) % 4);
          if (i % 100 == 0) (void)pool->Snapshot();
          if (blocks.size() > 8) {
            pool->Free(blocks[(state >> 20) % 8], stream);
            blocks[(state >> 20) % 8] = blocks.back();
            blocks.pop_back();
          }
        }
        for (const PoolBlock& block : blocks) pool->Free(block, stream);
      });
    }
  }
  pool->CheckInvariants();
  EXPECT_EQ(pool->Statistics().blocks_in_use, 0u);
  EXPECT_EQ(pool->Statistics().allocations, 2000u);
}

}  // namespace
}  // namespace caffe2rt::test::pool_suite_test
