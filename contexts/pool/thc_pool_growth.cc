// The growth of a ThcPool: the search for memory when the cache of a stream has no block that fits.
// thc_pool.h lists the steps.
#include <algorithm>

#include "contexts/pool/thc_pool.h"

namespace caffe2rt::internal {

BlockRecord* ThcPool::Grow(const Request& request) {
  BlockRecord* block = GrowWithinPeak(request);
  if (block == nullptr) block = GrowAfterRefusal(request);
  if (block == nullptr) ThrowOutOfMemory(request.asked_bytes, request.stream);
  return block;
}

BlockRecord* ThcPool::GrowWithinPeak(const Request& request) {
  const size_t granule =
      request.small ? options_.small_granule_bytes : options_.large_granule_bytes;
  const size_t floor = request.small ? options_.small_segment_bytes : 0;
  const size_t least_bytes = RoundUp(request.bytes, granule);
  const size_t segment_bytes = RoundUp(std::max(request.bytes, floor), granule);
  RefreshMarkers();
  // Below the soft limit, waste at most half of a segment; above it, any waste is acceptable.
  if (BlockRecord* const block = MoveSegment(request, 2 * segment_bytes)) return block;
  if (const size_t excess = Excess(request, segment_bytes); excess != 0) {
    if (BlockRecord* const block = MoveSegment(request, SIZE_MAX)) return block;
    if (BlockRecord* const block = Borrow(request)) return block;
    GiveBackIdle(excess);
    // GiveBackIdle releases the mutex, so other threads may have freed a block meanwhile.
    if (BlockRecord* const block = TakeCached(request)) return block;
  }
  BlockRecord* const block = AddSegment(request, segment_bytes);
  // Near the limit a segment for many small requests may be too large; try one for this request.
  return block == nullptr && segment_bytes > least_bytes ? AddSegment(request, least_bytes) : block;
}

BlockRecord* ThcPool::GrowAfterRefusal(const Request& request) {
  PoolCounters::Add(counters_.out_of_memory_retries, 1);
  WaitForAll();
  if (BlockRecord* const block = TakeAnywhere(request)) return block;
  GiveBackIdle(SIZE_MAX);
  AwaitGiveBacks();
  if (BlockRecord* const block = AddSegment(request, request.bytes)) return block;
  // All that is left are free pieces of segments in use, including those of the other kind.
  if (BlockRecord* const block = TakeAnywhere(request)) return block;
  Request other = request;
  other.small = !request.small;
  return TakeAnywhere(other);
}

BlockRecord* ThcPool::TakeAnywhere(const Request& request) {
  if (BlockRecord* const block = TakeCached(request)) return block;
  if (BlockRecord* const block = MoveSegment(request, SIZE_MAX)) return block;
  return Borrow(request);
}

bool ThcPool::IsIdle(const BlockRecord& block) const {
  return block.sequence <= streams_[static_cast<size_t>(block.home)]->order.completed;
}

void ThcPool::RefreshMarkers() {
  for (size_t i = 0; i < streams_.size(); ++i) {
    if (streams_[i] != nullptr) streams_[i]->order.Refresh(static_cast<StreamIndex>(i), events_);
  }
}

BlockRecord* ThcPool::MoveSegment(const Request& request, size_t most_bytes) {
  BlockRecord* best = nullptr;
  for (const auto& [data, block] : segments_) {
    const bool fits = block->state == BlockState::kCached && block->IsWholeSegment() &&
                      block->small == request.small && block->bytes >= request.bytes &&
                      block->bytes <= most_bytes && block->home != request.stream;
    if (fits && (best == nullptr || block->bytes < best->bytes) && IsIdle(*block)) best = block;
  }
  if (best == nullptr) return nullptr;
  TakeOut(best);
  best->home = request.stream;
  best->sequence = 0;  // idle: all work on it has finished
  return best;
}

BlockRecord* ThcPool::Borrow(const Request& request) {
  BlockRecord* best = nullptr;
  for (const auto& stream : streams_) {
    if (stream == nullptr) continue;
    const uint64_t completed = stream->order.completed;  // as IsIdle, for a block of this stream
    BlockRecord* const block =
        stream->Lists(request.small).FindBestFit(request.bytes, [completed](const BlockRecord& b) {
          return b.sequence <= completed;
        });
    if (block != nullptr && (best == nullptr || block->bytes < best->bytes)) best = block;
  }
  if (best != nullptr) TakeOut(best);
  return best;
}

size_t ThcPool::Excess(const Request& request, size_t more) const {
  const size_t peak = std::max(PoolCounters::Get(counters_.peak_in_use),
                               PoolCounters::Get(counters_.in_use) + request.bytes);
  const size_t allowed =
      std::max(static_cast<size_t>(static_cast<double>(peak) * options_.growth_over_peak),
               peak + options_.growth_slack_bytes);
  const size_t wanted = PoolCounters::Get(counters_.reserved) + more;
  return wanted > allowed ? wanted - allowed : 0;
}

void ThcPool::GiveBackIdle(size_t at_least) {
  std::vector<BlockRecord*> idle;
  for (const auto& [data, block] : segments_) {
    if (block->state == BlockState::kCached && block->IsWholeSegment() && IsIdle(*block)) {
      idle.push_back(block);
    }
  }
  std::stable_sort(idle.begin(), idle.end(),
                   [](const BlockRecord* a, const BlockRecord* b) { return a->bytes > b->bytes; });
  std::vector<Extent> extents;
  size_t bytes = 0;
  for (BlockRecord* const block : idle) {
    if (bytes >= at_least) break;
    bytes += block->bytes;
    TakeOut(block);
    extents.push_back(RemoveSegment(block));
  }
  GiveBack(extents);
}

BlockRecord* ThcPool::AddSegment(const Request& request, size_t bytes) {
  BlockRecord* const block = NewSegment(bytes, request.stream);
  if (block != nullptr) block->small = request.small;
  return block;
}

void ThcPool::WaitForAll() {
  // Blocks freed before the wait are idle after it. Other threads may free more during the wait, so
  // take the numbers of the frees before.
  std::vector<uint64_t> frees;
  for (const auto& stream : streams_) {
    frees.push_back(stream != nullptr ? stream->order.frees : 0);
  }
  const std::vector<Unrecorded> without_event = std::move(without_event_);
  without_event_.clear();
  try {
    Synchronize(frees.size());
  } catch (...) {
    without_event_.insert(without_event_.end(), without_event.begin(), without_event.end());
    throw;
  }
  for (size_t i = 0; i < frees.size(); ++i) {
    if (streams_[i] == nullptr) continue;
    StreamOrder& order = streams_[i]->order;
    order.completed = std::max(order.completed, frees[i]);
  }
  for (const Unrecorded& unrecorded : without_event) {
    if (--unrecorded.block->waits == 0) Cache(unrecorded.block);
  }
  CollectWaiting();
}

size_t ThcPool::ReleaseCached() {
  const MutexLock lock(mutex_);
  const size_t before = PoolCounters::Get(counters_.reserved);
  WaitForAll();
  GiveBackIdle(SIZE_MAX);
  const size_t after = PoolCounters::Get(counters_.reserved);
  return before > after ? before - after : 0;
}

}  // namespace caffe2rt::internal
