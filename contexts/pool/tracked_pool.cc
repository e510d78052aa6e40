#include "contexts/pool/tracked_pool.h"

#include <exception>

#include "caffe2_core/base/byte_size.h"
#include "caffe2_core/base/logging.h"

namespace caffe2rt {

Pool& Pool::Of(void* token) { return *internal::RecordOf(token)->pool; }

PoolBlock Pool::BlockOf(void* token) { return {internal::RecordOf(token)->data, token}; }
StreamIndex Pool::HomeOf(void* token) { return internal::RecordOf(token)->home; }

void FreePoolBlock(void* data, void* token, StreamIndex stream) noexcept {
  try {
    if (data == nullptr) return;
    CAFFE_ENFORCE(token != nullptr, "pointer ", data, " has no block token");
    Pool::Of(token).Free({data, token}, stream);
  } catch (...) {
    LOG(ERROR) << CurrentExceptionMessage();
  }
}

namespace internal {

TrackedPool::TrackedPool(Upstream& upstream, std::string kind, std::string device,
                         size_t limit_bytes)
    : upstream_(upstream),
      kind_(std::move(kind)),
      device_(std::move(device)),
      records_(this),
      events_(upstream, counters_) {
  SetLimit(limit_bytes);
}

TrackedPool::~TrackedPool() {
  if (PoolCounters::Get(counters_.blocks) != 0) {
    LOG(ERROR) << device_ << ": pool ends with " << PoolCounters::Get(counters_.blocks)
               << " blocks in use";
  }
  for (const auto& [data, first] : segments_) {
    size_t bytes = 0;
    for (const BlockRecord* block = first; block != nullptr; block = block->after) {
      bytes += block->bytes;
    }
    try {
      upstream_.Free(data, bytes);
    } catch (...) {
      LOG(ERROR) << device_ << ": " << CurrentExceptionMessage();
    }
  }
}

void TrackedPool::CheckStream(StreamIndex stream, bool none) const {
  // Pools keep tables indexed by stream number, so bound it.
  constexpr StreamIndex kMostStreams = 1 << 16;
  CAFFE_ENFORCE(stream >= (none ? kNoStream : 0) && stream < kMostStreams, device_, ": stream is ",
                stream, ", want 0 to ", kMostStreams - 1);
}

BlockRecord* TrackedPool::Claim(const PoolBlock& block) const {
  CAFFE_ENFORCE(block.token != nullptr, device_, ": pointer ", block.data,
                " has no block token, want the block that Allocate returned");
  BlockRecord* const record = RecordOf(block.token);
  CAFFE_ENFORCE(record->pool == this, device_, ": block ", block.data,
                " belongs to another pool, want the pool that allocated it");
  CAFFE_ENFORCE(record->state == BlockState::kInUse && record->data == block.data &&
                    record->generation % kGenerations == GenerationOf(block.token),
                device_, ": block ", block.data, " is not in use: it was freed before");
  return record;
}

size_t TrackedPool::RoundUp(size_t requested, size_t granule) const {
  size_t sum;
  if (__builtin_add_overflow(requested, granule - 1, &sum)) ThrowOutOfMemory(requested, kNoStream);
  return sum / granule * granule;
}

PoolBlock TrackedPool::HandOut(BlockRecord* record, size_t requested_bytes) {
  record->state = BlockState::kInUse;
  record->requested_bytes = requested_bytes;
  ++record->generation;
  counters_.OnUse(record->bytes, requested_bytes);
  return {record->data, TokenOf(record)};
}

void TrackedPool::TakeBack(BlockRecord* record, StreamIndex stream) {
  counters_.OnFree(record->bytes, record->requested_bytes);
  record->requested_bytes = 0;
  record->AddUse(stream);
}

BlockRecord* TrackedPool::NewSegment(size_t bytes, StreamIndex home) {
  const size_t limit = PoolCounters::Get(counters_.limit);
  const size_t reserved = PoolCounters::Get(counters_.reserved);
  if (bytes > limit || reserved > limit - bytes) return nullptr;
  // What the segment needs, so that nothing can fail behind the upstream's allocation.
  BlockRecord* const record = records_.Take();
  std::map<char*, BlockRecord*> made;
  try {
    made.emplace(nullptr, record);
  } catch (...) {
    records_.Give(record);
    throw;
  }
  counters_.OnReserve(bytes);
  void* data = nullptr;
  std::exception_ptr failure;
  {
    const MutexUnlock unlocked(mutex_);
    try {
      data = upstream_.Allocate(bytes);
    } catch (...) {
      failure = std::current_exception();
    }
  }
  PoolCounters::Add(counters_.upstream_allocations, 1);
  if (data == nullptr) {
    PoolCounters::Subtract(counters_.reserved, bytes);
    records_.Give(record);
  }
  if (failure != nullptr) std::rethrow_exception(failure);
  if (data == nullptr) return nullptr;
  record->data = static_cast<char*>(data);
  record->bytes = bytes;
  record->home = home;
  auto segment = made.extract(made.begin());
  segment.key() = record->data;
  segments_.insert(std::move(segment));
  return record;
}

BlockRecord* TrackedPool::NewSegmentOrThrow(size_t bytes, StreamIndex home, size_t asked_bytes) {
  if (BlockRecord* const record = NewSegment(bytes, home)) return record;
  PoolCounters::Add(counters_.out_of_memory_retries, 1);
  MakeRoom();
  AwaitGiveBacks();
  BlockRecord* const record = NewSegment(bytes, home);
  if (record == nullptr) ThrowOutOfMemory(asked_bytes, home);
  return record;
}

TrackedPool::Extent TrackedPool::RemoveSegment(BlockRecord* record) {
  Extent extent{record->data, record->bytes, {record->uses.begin(), record->uses.end()}};
  segments_.erase(record->data);
  records_.Give(record);
  return extent;
}

void TrackedPool::GiveBack(const std::vector<Extent>& extents) {
  if (extents.empty()) return;
  std::exception_ptr failure;
  size_t bytes = 0;
  ++giving_back_;
  const auto attempt = [&failure](const auto& call) {
    try {
      call();
    } catch (...) {
      if (failure == nullptr) failure = std::current_exception();
    }
  };
  {
    const MutexUnlock unlocked(mutex_);
    for (const Extent& extent : extents) {
      // Free waits only for the upstream's own device; the uses may be streams of other devices.
      for (const StreamIndex use : extent.uses) attempt([&] { upstream_.Synchronize(use); });
      attempt([&] { upstream_.Free(extent.data, extent.bytes); });
      bytes += extent.bytes;
    }
  }
  PoolCounters::Subtract(counters_.reserved, bytes);
  PoolCounters::Add(counters_.upstream_frees, extents.size());
  --giving_back_;
  gave_back_.NotifyAll();
  if (failure != nullptr) std::rethrow_exception(failure);
}

void TrackedPool::AwaitGiveBacks() {
  while (giving_back_ != 0) gave_back_.Wait(mutex_);
}

void TrackedPool::Synchronize(size_t count) {
  const MutexUnlock unlocked(mutex_);
  for (size_t i = 0; i < count; ++i) upstream_.Synchronize(static_cast<StreamIndex>(i));
}

void TrackedPool::ThrowOutOfMemory(size_t asked_bytes, StreamIndex stream) const {
  const PoolStatistics now = counters_.Read();
  const std::string limit = now.limit_bytes == SIZE_MAX ? "none" : ByteSizeText(now.limit_bytes);
  const std::string where = stream == kNoStream ? "" : MakeString(" on stream ", stream);
  throw OutOfMemory(
      __FILE__, __LINE__, "",
      MakeString(device_, " is out of memory: asked ", ByteSizeText(asked_bytes), where,
                 ", in use ", ByteSizeText(now.in_use_bytes), " in ", now.blocks_in_use,
                 " blocks, cached ", ByteSizeText(now.cached_bytes), ", limit ", limit, ", peak ",
                 ByteSizeText(now.peak_in_use_bytes), "; use a smaller batch or raise the limit"));
}

void TrackedPool::RecordUse(const PoolBlock& block, StreamIndex stream) {
  if (block.data == nullptr) return;
  CheckStream(stream, false);
  const MutexLock lock(mutex_);
  Claim(block)->AddUse(stream);
}

PoolStatistics TrackedPool::Statistics() const {
  PoolStatistics statistics = counters_.Read();
  const MutexLock lock(mutex_);
  statistics.largest_free_bytes = LargestFree();
  return statistics;
}

void TrackedPool::ResetPeaks() {
  const MutexLock lock(mutex_);
  counters_.ResetPeaks();
}

void TrackedPool::SetLimit(size_t limit_bytes) {
  counters_.limit.store(limit_bytes, std::memory_order_relaxed);
}

PoolSnapshot TrackedPool::Snapshot() const {
  using State = PoolSnapshot::State;
  PoolSnapshot snapshot{device_, kind_, {}, {}};
  const MutexLock lock(mutex_);
  snapshot.statistics = counters_.Read();
  snapshot.statistics.largest_free_bytes = LargestFree();
  for (const auto& [data, first] : segments_) {
    PoolSnapshot::Segment& segment = snapshot.segments.emplace_back();
    segment.address = reinterpret_cast<uintptr_t>(data);
    for (const BlockRecord* block = first; block != nullptr; block = block->after) {
      const State state = block->state == BlockState::kInUse     ? State::kInUse
                          : block->state == BlockState::kWaiting ? State::kWaiting
                                                                 : State::kCached;
      segment.bytes += block->bytes;
      segment.blocks.push_back({reinterpret_cast<uintptr_t>(block->data),
                                block->bytes,
                                block->requested_bytes,
                                state,
                                block->home,
                                {block->uses.begin(), block->uses.end()}});
    }
  }
  return snapshot;
}

bool TrackedPool::Owns(const void* data) const {
  const MutexLock lock(mutex_);
  auto segment = segments_.upper_bound(const_cast<char*>(static_cast<const char*>(data)));
  if (segment == segments_.begin()) return false;
  --segment;
  const BlockRecord* last = segment->second;
  while (last->after != nullptr) last = last->after;
  return static_cast<const char*>(data) < last->data + last->bytes;
}

void TrackedPool::CheckInvariants() const {
  const MutexLock lock(mutex_);
  size_t reserved = 0, in_use = 0, requested = 0, blocks = 0;
  for (const auto& [data, first] : segments_) {
    CAFFE_ENFORCE(first->before == nullptr && first->data == data,
                  "first block of a segment has a predecessor or a wrong address");
    const BlockRecord* before = nullptr;
    for (const BlockRecord* block = first; block != nullptr; block = block->after) {
      CAFFE_ENFORCE(block->before == before, "wrong link to the block before ",
                    static_cast<const void*>(block->data));
      CAFFE_ENFORCE(before == nullptr || before->data + before->bytes == block->data,
                    "gap or overlap before block ", static_cast<const void*>(block->data));
      CAFFE_ENFORCE_EQ(block->home, first->home, "home of a block and of its segment");
      CAFFE_ENFORCE(block->state != BlockState::kUnused, "a block of a segment has no state");
      reserved += block->bytes;
      if (block->state == BlockState::kInUse) {
        CAFFE_ENFORCE_LE(block->requested_bytes, block->bytes, "request and size of a block");
        in_use += block->bytes;
        requested += block->requested_bytes;
        ++blocks;
      }
      before = block;
    }
  }
  // Memory that is being allocated or released is counted but is in no segment.
  CAFFE_ENFORCE_LE(reserved, PoolCounters::Get(counters_.reserved), "bytes of all segments");
  CAFFE_ENFORCE_EQ(in_use, PoolCounters::Get(counters_.in_use), "bytes in use");
  CAFFE_ENFORCE_EQ(requested, PoolCounters::Get(counters_.requested), "bytes asked for");
  CAFFE_ENFORCE_EQ(blocks, PoolCounters::Get(counters_.blocks), "blocks in use");
  CheckLists();
}

}  // namespace internal
}  // namespace caffe2rt
