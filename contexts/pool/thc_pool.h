#pragma once
// Caffe2's pool THC. Caffe2 used Torch's caching allocator (THCCachingAllocator); this is an
// independent implementation: best fit with splitting and merging of blocks, and one cache per
// stream. Internal to contexts/pool; callers use NewThcPool.
//
// A request is rounded up to 512 bytes and cut from the smallest cached block of its stream that is
// large enough. A freed block is merged with its cached neighbours. If the stream's cache has no
// such block, the pool tries in order:
//
//   1. Move: take over an idle segment of another stream (a segment is idle if all of it is cached
//      and the work on it has finished) if at most about half of it would be wasted.
//   2. If a new segment would exceed the soft limit (see ThcPoolOptions): move any idle segment
//      that is large enough; else borrow part of a cached block of another stream whose work has
//      finished (the part returns to its home when the borrower's work has finished); else return
//      idle segments to the upstream, the largest first.
//   3. Allocate a new segment from the upstream, rounded up to whole granules.
//   4. If the limit is reached or the upstream is out of memory: wait for all streams and search
//      again; then return all idle segments to the upstream and allocate once more; finally use any
//      free piece, even in a segment of the other kind (small or large).
//
// All of these steps are growth. With fixed shapes, a warm pool serves every request from the cache
// of its stream.

#include <memory>
#include <vector>

#include "contexts/pool/free_lists.h"
#include "contexts/pool/tracked_pool.h"

namespace caffe2rt::internal {

// Invariants: a cached block is in the list of its home and size, and neither neighbour is cached
// (the two would have been merged); a waiting block is in no free list, and its events are in the
// lists of their streams; all blocks of a segment have the same home.
class ThcPool final : public TrackedPool {
 public:
  ThcPool(Upstream& upstream, const ThcPoolOptions& options);

  PoolBlock Allocate(size_t nbytes, StreamIndex stream) override;
  void Free(const PoolBlock& block, StreamIndex stream) override;
  size_t ReleaseCached() override;

 private:
  struct Request {
    size_t asked_bytes;
    size_t bytes;  // rounded
    StreamIndex stream;
    bool small;
  };
  // The state of one stream. Pointers stay valid when streams are added.
  struct Stream {
    StreamOrder order;
    FreeLists large;
    FreeLists small;
    FreeLists& Lists(bool is_small) { return is_small ? small : large; }
  };

  // A freed block for which recording an event failed: from `use` on, its uses have no event.
  struct Unrecorded {
    BlockRecord* block;
    const StreamIndex* use;
  };

  Stream& StreamOf(StreamIndex index) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  FreeLists& ListOf(const BlockRecord& block) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return streams_[static_cast<size_t>(block.home)]->Lists(block.small);
  }

  // Warm path (thc_pool.cc).
  BlockRecord* TakeCached(const Request& request) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void TakeOut(BlockRecord* block) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Shrinks the block to `bytes` and caches the rest.
  void Split(BlockRecord* block, size_t bytes) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Merges the block with its cached neighbours and inserts the result into the cache.
  void Cache(BlockRecord* block) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Merges two neighbours that are in no list into one block.
  BlockRecord* Absorb(BlockRecord* first, BlockRecord* second)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Records an event for each use. Returns false if the device cannot create or record one.
  bool RecordUses(Unrecorded* unrecorded) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Records the events that failed before. A late event is still behind all work on the block.
  void RecordAgain() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Caches blocks whose events have fired.
  void CollectWaiting() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  // Growth (thc_pool_growth.cc). These release the mutex temporarily.
  BlockRecord* Grow(const Request& request) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  BlockRecord* GrowWithinPeak(const Request& request) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  BlockRecord* GrowAfterRefusal(const Request& request) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  BlockRecord* AddSegment(const Request& request, size_t bytes)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Returns idle segments to the upstream, the largest first, until they add up to `at_least`
  // bytes.
  void GiveBackIdle(size_t at_least) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Waits for all streams: afterwards everything freed before the call is cached and idle.
  void WaitForAll() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  // Growth without waiting. These keep the mutex.
  // Takes a block from the request's stream or an idle one of another stream, at any waste.
  BlockRecord* TakeAnywhere(const Request& request) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Whether the home's work on a cached block is known to have finished.
  bool IsIdle(const BlockRecord& block) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void RefreshMarkers() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Take memory of other streams. `most_bytes` bounds the size, and so the waste, of a segment.
  BlockRecord* MoveSegment(const Request& request, size_t most_bytes)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  BlockRecord* Borrow(const Request& request) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // The bytes by which reserving `more` bytes would exceed the soft limit; 0 if it would not.
  size_t Excess(const Request& request, size_t more) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  size_t LargestFree() const override ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void CheckLists() const override ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const ThcPoolOptions options_;
  std::vector<std::unique_ptr<Stream>> streams_ ABSL_GUARDED_BY(mutex_);
  size_t waiting_ ABSL_GUARDED_BY(mutex_) = 0;  // events in all streams
  std::vector<Unrecorded> without_event_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace caffe2rt::internal
