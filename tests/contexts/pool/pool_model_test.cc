// Random calls on several streams, checked against a model that knows which work is finished.
// Memory never goes to a stream while another stream still uses it, and the pools' records agree
// with the blocks that callers hold.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "contexts/pool/pool.h"
#include "contexts/pool/trace_maker.h"
#include "contexts/pool/trace_replayer.h"
#include "tests/support/allocation_counter.h"
#include "tests/support/fake_allocator.h"

namespace caffe2rt::test::pool_model_test {
namespace {

constexpr size_t kMiB = size_t{1} << 20;

// Work number `position` of a stream, on an address range.
struct Work {
  uintptr_t begin, end;
  StreamIndex stream;
  uint64_t position;
};

struct Held {
  PoolBlock block;
  size_t bytes;
  StreamIndex home;
  uintptr_t begin() const { return reinterpret_cast<uintptr_t>(block.data); }
};

// Returns the fault that the snapshot alone reveals, or "" if there is none.
std::string FaultOf(const PoolSnapshot& snapshot, const std::vector<Held>& held, bool merges) {
  size_t reserved = 0, in_use = 0;
  uintptr_t last_end = 0;
  std::vector<uintptr_t> addresses;
  for (const PoolSnapshot::Segment& segment : snapshot.segments) {
    if (segment.address < last_end) return "segments overlap or are not in order";
    uintptr_t at = segment.address;
    bool cached_before = false;
    for (const PoolSnapshot::Block& block : segment.blocks) {
      if (block.address != at) return "a byte is in no block or in two";
      if (block.bytes == 0) return "a block is empty";
      at += block.bytes;
      const bool cached = block.state == PoolSnapshot::State::kCached;
      if (merges && cached && cached_before) return "neighbours are not merged";
      cached_before = cached;
      if (block.state != PoolSnapshot::State::kInUse) continue;
      in_use += block.bytes;
      addresses.push_back(block.address);
    }
    if (at != segment.address + segment.bytes) return "blocks do not fill their segment";
    last_end = at;
    reserved += segment.bytes;
  }
  if (reserved != snapshot.statistics.reserved_bytes) return "reserved bytes are wrong";
  if (in_use != snapshot.statistics.in_use_bytes) return "bytes in use are wrong";
  std::vector<uintptr_t> want;
  for (const Held& block : held) want.push_back(block.begin());
  std::sort(want.begin(), want.end());
  return addresses == want ? "" : "blocks in use are not those that callers hold";
}

class PoolModelTest : public testing::TestWithParam<std::string> {
 protected:
  static constexpr StreamIndex kStreams = 4;

  void Make(size_t limit_bytes = SIZE_MAX) {
    merges_ = GetParam() == "thc";
    if (merges_) {
      // Tight limits, so that segments are moved, lent and returned.
      pool_ = NewThcPool(device_, {.limit_bytes = limit_bytes, .growth_slack_bytes = 0});
    } else {
      pool_ = NewCubPool(device_, {.limit_bytes = limit_bytes});
    }
    device_.before_free = [this](uintptr_t address, size_t bytes) {
      OnGivenBack(address, address + bytes);
    };
  }
  void TearDown() override { End(); }
  // Frees all held blocks. The pool's destructor may wait for work.
  void End() {
    device_.before_free = nullptr;
    for (const Held& block : held_) pool_->Free(block.block, kNoStream);
    held_.clear();
    past_.clear();
    pool_.reset();
  }

  // The CUB pool leaves the waiting to the upstream allocator. The THC pool must not make it wait.
  void OnGivenBack(uintptr_t begin, uintptr_t end) {
    for (const Work& work : past_) {
      const bool over = device_.Finished(work.stream) >= work.position;
      if (merges_ && work.begin < end && begin < work.end) {
        EXPECT_TRUE(over) << "memory goes back while stream " << work.stream << " works on it";
      }
    }
    std::erase_if(past_, [&](const Work& work) { return work.begin < end && begin < work.end; });
  }

  // Returns why the range must not go to the stream now, or "" if it may.
  std::string HazardOf(uintptr_t begin, uintptr_t end, StreamIndex stream) const {
    for (const Work& work : past_) {
      const bool over = device_.Finished(work.stream) >= work.position;
      if (over || work.stream == stream || end <= work.begin || work.end <= begin) continue;
      return MakeString("stream ", stream, " gets memory that stream ", work.stream, " works on");
    }
    return "";
  }

  void Allocate(size_t bytes, StreamIndex stream) {
    const Held block{pool_->Allocate(bytes, stream), bytes, stream};
    const uintptr_t begin = block.begin(), end = begin + bytes;
    for (const Held& other : held_) {
      ASSERT_TRUE(end <= other.begin() || other.begin() + other.bytes <= begin) << "overlap";
    }
    ASSERT_EQ(HazardOf(begin, end, stream), "");
    held_.push_back(block);
    GiveWork(block, stream);
  }
  void GiveWork(const Held& block, StreamIndex stream) {
    past_.push_back({block.begin(), block.begin() + block.bytes, stream, device_.Give(stream)});
  }
  void Free(size_t i, StreamIndex stream) {
    pool_->Free(held_[i].block, stream);
    held_[i] = held_.back();
    held_.pop_back();
  }

  // Makes one random call.
  void Step() {
    const auto draw = [&](size_t below) { return static_cast<size_t>(random_() % below); };
    const auto stream = static_cast<StreamIndex>(draw(kStreams));
    const size_t choice = draw(100);
    if (choice < 40 || held_.empty()) {
      const size_t power = size_t{512} << draw(12);
      try {
        Allocate(power + draw(power), stream);
      } catch (const OutOfMemory&) {
        ++out_of_memory_;
        while (held_.size() > 10) Free(draw(held_.size()), kNoStream);
      }
    } else if (choice < 75) {
      const size_t i = draw(held_.size());
      // A thread that currently uses another stream has enqueued work on the block there.
      const StreamIndex current = draw(4) == 0 ? stream : held_[i].home;
      if (current != held_[i].home) GiveWork(held_[i], current);
      Free(i, draw(8) == 0 && current == held_[i].home ? kNoStream : current);
    } else if (choice < 85) {
      const size_t i = draw(held_.size());
      GiveWork(held_[i], stream);
      pool_->RecordUse(held_[i].block, stream);
    } else if (choice < 88) {
      const Held& block = held_[draw(held_.size())];
      GiveWork(block, block.home);  // no pool is informed of this work
    } else if (choice < 99) {
      device_.Finish(stream, 1 + draw(20));
      // Events fail now and then. Only the CUB pool returns memory because of that.
      if (events_fail_ && draw(4) == 0) {
        device_.Fail(
            draw(2) == 0 ? FakeAllocator::Call::kCreateEvent : FakeAllocator::Call::kRecord,
            draw(3), 1 + draw(3));
      }
    } else {
      device_.Synchronize(stream);
    }
    std::erase_if(past_,
                  [&](const Work& work) { return device_.Finished(work.stream) >= work.position; });
  }

  void Run(int steps) {
    for (int i = 0; i < steps && !HasFatalFailure(); ++i) {
      Step();
      if (i % 16 == 0) pool_->CheckInvariants();
      if (i % 64 == 0) {
        ASSERT_EQ(FaultOf(pool_->Snapshot(), held_, merges_), "");
      }
      if (i % 1000 == 999) pool_->ReleaseCached();
      ASSERT_EQ(pool_->Statistics().reserved_bytes, device_.live_bytes());
    }
  }

  FakeAllocator device_;
  std::unique_ptr<Pool> pool_;
  bool merges_ = false;
  std::vector<Held> held_;
  std::vector<Work> past_;
  std::mt19937_64 random_{20};
  int out_of_memory_ = 0;
  bool events_fail_ = false;
};

INSTANTIATE_TEST_SUITE_P(Pools, PoolModelTest, testing::Values("cub", "thc"),
                         [](const auto& info) { return info.param; });

TEST_P(PoolModelTest, GivesNoMemoryToAStreamWhileAnotherWorksOnIt) {
  for (uint64_t seed = 1; seed <= 8 && !HasFatalFailure(); ++seed) {
    random_.seed(seed);
    Make();
    Run(4000);
    End();
  }
}

TEST_P(PoolModelTest, StaysSoWhenMemoryIsShort) {
  for (uint64_t seed = 1; seed <= 8; ++seed) {
    random_.seed(seed);
    Make(12 * kMiB);
    Run(3000);
    End();
  }
  EXPECT_GT(out_of_memory_, 0);
}

TEST_P(PoolModelTest, StaysSoWhenEventsFail) {
  events_fail_ = true;
  for (uint64_t seed = 1; seed <= 8 && !HasFatalFailure(); ++seed) {
    random_.seed(seed);
    Make(seed % 2 == 0 ? SIZE_MAX : 12 * kMiB);
    Run(3000);
    End();
  }
}

// Checks that the model can detect the mistake, which the caller makes here.
TEST_P(PoolModelTest, DetectsAUseThatThePoolWasNotNotifiedOf) {
  Make();
  Allocate(kMiB, 0);
  const uintptr_t begin = held_[0].begin();
  GiveWork(held_[0], 1);
  device_.Finish(0);
  Free(0, 0);
  const PoolBlock block = pool_->Allocate(kMiB, 2);
  ASSERT_EQ(reinterpret_cast<uintptr_t>(block.data), begin);
  EXPECT_EQ(HazardOf(begin, begin + kMiB, 2), "stream 2 gets memory that stream 1 works on");
  EXPECT_EQ(FaultOf(pool_->Snapshot(), held_, merges_),
            "blocks in use are not those that callers hold");
  pool_->Free(block, 2);
}

TEST_P(PoolModelTest, AllocatesNoHostMemoryInASteadyState) {
  if (!AllocationCounter::kCounts) GTEST_SKIP() << "sanitizers replace malloc";
  const auto pool = GetParam() == "thc" ? NewThcPool(device_, {}) : NewCubPool(device_, {});
  const Trace trace = TwoStreamTrainingTrace(4, 8);  // includes events
  TraceReplayer replayer(trace, *pool, device_);
  const size_t half = trace.entries.size() / 2;
  replayer.Replay(0, half);
  const PoolStatistics before = pool->Statistics();
  const AllocationCounter counter;
  replayer.Replay(half, trace.entries.size());
  EXPECT_EQ(pool->Statistics().upstream_allocations, before.upstream_allocations);
  EXPECT_EQ(pool->Statistics().events_created, before.events_created);
  EXPECT_EQ(counter.Counts().allocations, 0);
}

}  // namespace
}  // namespace caffe2rt::test::pool_model_test
