#pragma once
// The pool THC of Caffe2, which took Torch's caching allocator (THCCachingAllocator) for it; this
// is an implementation of its own: best fit with split and merge, a cache for each stream. Internal
// to contexts/pool; callers use NewThcPool.
//
// A request is rounded up to 512 bytes and cut from the smallest cached block of its stream that
// holds it; a freed block is merged with its neighbours. What no cache has is looked for, in turn:
//
//   1. a segment of another stream that is cached as a whole and whose work is over moves here;
//   2. when taking more would pass growth_over_peak x the peak in use: part of such a segment, or a
//      piece of any cached block of another stream whose work is over, is lent (it returns to its
//      home when the borrower's work is over); then idle segments go back, the largest first;
//   3. the upstream gives a segment of the requested size in whole granules;
//   4. it refuses: wait for all streams, look again, give everything cached back, ask once more;
//   last,
//      take any piece that is left, also of a segment for the other kind (small, large) of request.
//
// Everything after the look into the own cache is growth: a warm pool comes there no more.

#include <memory>
#include <vector>

#include "contexts/pool/free_lists.h"
#include "contexts/pool/tracked_pool.h"

namespace caffe2rt::internal {

// Invariants: a cached block is in the list of its home and size, and neither neighbour is cached
// (it would be merged); a waiting block is in no list, its events are; all blocks of a segment have
// one home.
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
  // Of one stream. Pointers stay valid when others are added.
  struct Stream {
    StreamOrder order;
    FreeLists large;
    FreeLists small;
    FreeLists& Lists(bool is_small) { return is_small ? small : large; }
  };

  // A freed block for which the device gave no event: from `use` on, none of its uses has one.
  struct Unrecorded {
    BlockRecord* block;
    const StreamIndex* use;
  };

  Stream& StreamOf(StreamIndex index);
  FreeLists& ListOf(const BlockRecord& block) {
    return streams_[static_cast<size_t>(block.home)]->Lists(block.small);
  }

  // Warm path (thc_pool.cc).
  BlockRecord* TakeCached(const Request& request);
  void TakeOut(BlockRecord* block);
  // Cuts what is beyond `bytes` off and caches it.
  void Split(BlockRecord* block, size_t bytes);
  // Into the cache, merged with its neighbours.
  void Cache(BlockRecord* block);
  // One block of two neighbours that are in no list.
  BlockRecord* Absorb(BlockRecord* first, BlockRecord* second);
  // False when the device gives no event.
  bool RecordUses(Unrecorded* unrecorded);
  // An event that is recorded late is still behind all work on the block.
  void RecordAgain();
  // Caches blocks whose events have fired.
  void CollectWaiting();

  // Growth (thc_pool_growth.cc).
  BlockRecord* Grow(const Request& request, Lock& lock);
  BlockRecord* GrowWithinPeak(const Request& request, Lock& lock);
  BlockRecord* GrowAfterRefusal(const Request& request, Lock& lock);
  // From the own cache or, if idle, from that of another stream, whatever goes to waste.
  BlockRecord* TakeAnywhere(const Request& request);
  // Whether the work of its home on a cached block is known to be over.
  bool IsIdle(const BlockRecord& block) const;
  void RefreshMarkers();
  // From other streams. `most_bytes` bounds the waste of moving a large segment.
  BlockRecord* MoveSegment(const Request& request, size_t most_bytes);
  BlockRecord* Borrow(const Request& request);
  // Bytes beyond growth_over_peak x peak after taking `more` bytes.
  size_t Excess(const Request& request, size_t more) const;
  // Whole segments, the largest first, until it is `at_least` bytes.
  void GiveBackIdle(size_t at_least, Lock& lock);
  BlockRecord* AddSegment(const Request& request, size_t bytes, Lock& lock);
  // Waits for all streams: afterwards everything freed before is cached and idle.
  void WaitForAll(Lock& lock);

  size_t LargestFree() const override;
  void CheckLists() const override;

  const ThcPoolOptions options_;
  std::vector<std::unique_ptr<Stream>> streams_;
  size_t waiting_ = 0;  // events in all streams
  std::vector<Unrecorded> without_event_;
};

}  // namespace caffe2rt::internal
