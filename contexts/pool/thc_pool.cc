#include "contexts/pool/thc_pool.h"

#include <algorithm>

namespace caffe2rt {
namespace internal {
namespace {

bool IsCached(const BlockRecord* block) {
  return block != nullptr && block->state == BlockState::kCached;
}

}  // namespace

ThcPool::ThcPool(Upstream& upstream, const ThcPoolOptions& options)
    : TrackedPool(upstream, "thc", options.device, options.limit_bytes), options_(options) {
  for (const size_t granule : {options.small_granule_bytes, options.large_granule_bytes}) {
    CAFFE_ENFORCE(granule > 0 && granule % kBlockGranule == 0, "granule of a pool is ", granule,
                  " bytes, want a multiple of ", kBlockGranule);
  }
  CAFFE_ENFORCE_GE(options.growth_over_peak, 1.0, "growth_over_peak of a pool");
}

PoolBlock ThcPool::Allocate(size_t nbytes, StreamIndex stream) {
  if (nbytes == 0) return {};
  CheckStream(stream, false);
  const size_t bytes = RoundUp(nbytes, kBlockGranule);
  const Request request{nbytes, bytes, stream, bytes <= options_.small_bytes};
  const MutexLock lock(mutex_);
  if (!without_event_.empty()) RecordAgain();
  if (waiting_ != 0) CollectWaiting();
  BlockRecord* block = TakeCached(request);
  if (block == nullptr) block = Grow(request);
  try {
    Split(block, bytes);
  } catch (...) {  // the host has no memory for a record
    Cache(block);
    throw;
  }
  block->AddUse(stream);  // only if the block is borrowed: its home is another stream
  return HandOut(block, nbytes);
}

void ThcPool::Free(const PoolBlock& pool_block, StreamIndex stream) {
  if (pool_block.data == nullptr) return;
  CheckStream(stream, true);
  const MutexLock lock(mutex_);
  BlockRecord* const block = Claim(pool_block);
  TakeBack(block, stream);
  block->sequence = ++StreamOf(block->home).order.frees;
  if (block->uses.empty()) {
    Cache(block);
    return;
  }
  block->state = BlockState::kWaiting;
  Unrecorded unrecorded{block, block->uses.begin()};
  if (!RecordUses(&unrecorded)) {
    ++block->waits;                                           // for the uses without an event
    for (const StreamIndex use : block->uses) StreamOf(use);  // WaitForAll waits for known streams
    without_event_.push_back(unrecorded);
  }
}

bool ThcPool::RecordUses(Unrecorded* unrecorded) {
  BlockRecord* const block = unrecorded->block;
  for (; unrecorded->use != block->uses.end(); ++unrecorded->use) {
    EventNode* const node = events_.Record(*unrecorded->use);
    if (node == nullptr) return false;
    node->block = block;
    StreamOf(*unrecorded->use).order.Wait(node);
    ++block->waits;
    ++waiting_;
  }
  return true;
}

void ThcPool::RecordAgain() {
  while (!without_event_.empty() && RecordUses(&without_event_.back())) {
    --without_event_.back().block->waits;
    without_event_.pop_back();
  }
}

ThcPool::Stream& ThcPool::StreamOf(StreamIndex index) {
  const size_t i = static_cast<size_t>(index);
  if (i >= streams_.size()) streams_.resize(i + 1);
  if (streams_[i] == nullptr) streams_[i] = std::make_unique<Stream>();
  return *streams_[i];
}

BlockRecord* ThcPool::TakeCached(const Request& request) {
  const FreeLists& lists = StreamOf(request.stream).Lists(request.small);
  BlockRecord* const block = lists.FindBestFit(request.bytes);
  if (block != nullptr) TakeOut(block);
  return block;
}

void ThcPool::TakeOut(BlockRecord* block) {
  ListOf(*block).Remove(block);
  block->state = BlockState::kUnused;
}

void ThcPool::Split(BlockRecord* block, size_t bytes) {
  if (block->bytes == bytes) return;
  BlockRecord* const rest = records_.Take();
  rest->data = block->data + bytes;
  rest->bytes = block->bytes - bytes;
  rest->home = block->home;
  rest->small = block->small;
  rest->sequence = block->sequence;
  rest->before = block;
  rest->after = block->after;
  if (rest->after != nullptr) rest->after->before = rest;
  block->after = rest;
  block->bytes = bytes;
  rest->state = BlockState::kCached;
  ListOf(*rest).Insert(rest);
}

void ThcPool::Cache(BlockRecord* block) {
  block->uses.Clear();
  block->state = BlockState::kCached;
  if (BlockRecord* const before = block->before; IsCached(before)) {
    ListOf(*before).Remove(before);
    block = Absorb(before, block);
  }
  if (BlockRecord* const after = block->after; IsCached(after)) {
    ListOf(*after).Remove(after);
    block = Absorb(block, after);
  }
  ListOf(*block).Insert(block);
}

BlockRecord* ThcPool::Absorb(BlockRecord* first, BlockRecord* second) {
  first->bytes += second->bytes;
  first->sequence = std::max(first->sequence, second->sequence);
  first->after = second->after;
  if (first->after != nullptr) first->after->before = first;
  records_.Give(second);
  return first;
}

void ThcPool::CollectWaiting() {
  for (const auto& stream : streams_) {
    if (stream == nullptr) continue;
    while (EventNode* const node = stream->order.TakeDone(events_)) {
      BlockRecord* const block = node->block;
      events_.Give(node);
      --waiting_;
      if (--block->waits == 0) Cache(block);
    }
  }
}

size_t ThcPool::LargestFree() const {
  size_t bytes = 0;
  for (const auto& stream : streams_) {
    if (stream == nullptr) continue;
    for (const FreeLists* lists : {&stream->large, &stream->small}) {
      const BlockRecord* const block = lists->Largest();
      if (block != nullptr) bytes = std::max(bytes, block->bytes);
    }
  }
  return bytes;
}

void ThcPool::CheckLists() const {
  size_t listed = 0, events = 0, cached = 0, waits = 0;
  for (const auto& stream : streams_) {
    if (stream == nullptr) continue;
    listed += stream->large.CheckInvariants() + stream->small.CheckInvariants();
    CAFFE_ENFORCE_LE(stream->order.completed, stream->order.frees, "completed frees of a stream");
    for (const EventNode* n = stream->order.first_waiting; n != nullptr; n = n->next) ++events;
  }
  for (const auto& [data, first] : segments_) {
    for (const BlockRecord* block = first; block != nullptr; block = block->after) {
      const bool is_cached = block->state == BlockState::kCached;
      CAFFE_ENFORCE(
          !is_cached || block->after == nullptr || block->after->state != BlockState::kCached,
          "cached neighbours are not merged");
      CAFFE_ENFORCE_EQ(block->small, first->small, "kind of a block and of its segment");
      CAFFE_ENFORCE_EQ(block->bytes % kBlockGranule, 0u, "size of a block in granules");
      cached += is_cached ? 1 : 0;
      waits += block->waits;
      CAFFE_ENFORCE_EQ(block->waits != 0, block->state == BlockState::kWaiting,
                       "whether a block waits for events");
    }
  }
  CAFFE_ENFORCE_EQ(listed, cached, "cached blocks in lists");
  CAFFE_ENFORCE_EQ(events, waiting_, "events that blocks wait for");
  CAFFE_ENFORCE_EQ(events + without_event_.size(), waits, "events that blocks wait for");
}

}  // namespace internal

std::unique_ptr<Pool> NewThcPool(Upstream& upstream, const ThcPoolOptions& options) {
  return std::make_unique<internal::ThcPool>(upstream, options);
}

}  // namespace caffe2rt
