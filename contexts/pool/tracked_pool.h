#pragma once
// The base class of all pools: block records, statistics, the limit, unlocked calls of the
// upstream, errors. Internal to contexts/pool.

#include <condition_variable>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "contexts/pool/block_record.h"
#include "contexts/pool/pool.h"
#include "contexts/pool/stream_order.h"

namespace caffe2rt::internal {

// A `lock` parameter is the pool's lock, which the caller holds. The function may release it
// temporarily; the caller must then read the pool's lists again.
//
// Invariant: the `reserved` counter includes memory from before the upstream is asked for it until
// after it has been released, so threads that allocate concurrently cannot exceed the limit.
class TrackedPool : public Pool {
 public:
  void RecordUse(const PoolBlock& block, StreamIndex stream) override;
  PoolStatistics Statistics() const override;
  void ResetPeaks() override;
  void SetLimit(size_t limit_bytes) override;
  PoolSnapshot Snapshot() const override;
  bool Owns(const void* data) const override;
  void CheckInvariants() const override;

 protected:
  using Lock = std::unique_lock<std::mutex>;

  // Memory from one upstream call, and the streams besides its home that may still use it.
  struct Extent {
    void* data;
    size_t bytes;
    std::vector<StreamIndex> uses;
  };

  TrackedPool(Upstream& upstream, std::string kind, std::string device, size_t limit_bytes);
  ~TrackedPool() override;

  // THROWS if the number is out of range. kNoStream is accepted if `none` is true.
  void CheckStream(StreamIndex stream, bool none) const;
  // Returns the block's record. THROWS unless the token is of a block in use.
  BlockRecord* Claim(const PoolBlock& block) const;
  // Returns `requested` rounded up to `granule`. THROWS OutOfMemory on overflow.
  size_t RoundUp(size_t requested, size_t granule) const;
  // Marks the record as in use and returns its block.
  // REQUIRES: the record's home and size are set.
  PoolBlock HandOut(BlockRecord* record, size_t requested_bytes);
  // Counts the block as freed and adds the caller's stream to its uses. The caller sets the new
  // state and inserts the record into a list.
  void TakeBack(BlockRecord* record, StreamIndex stream);

  // Allocates from the upstream and returns a new segment of one unused block, or null if the limit
  // is reached or the upstream is out of memory. Releases the lock temporarily. THROWS any
  // exception of the upstream.
  BlockRecord* NewSegment(size_t bytes, StreamIndex home, Lock& lock);
  // Removes a segment that is this one block; the caller must return the memory to the upstream.
  Extent RemoveSegment(BlockRecord* record);
  // Waits for the streams that may still use the extents and returns them to the upstream. Releases
  // the lock temporarily. After an error it continues; at the end it THROWS the first error.
  void GiveBack(const std::vector<Extent>& extents, Lock& lock);
  // Waits until no thread is in GiveBack. Call it before a failed allocation counts as final.
  // Releases the lock temporarily.
  void AwaitGiveBacks(Lock& lock);
  // Waits for streams 0 to count - 1. Releases the lock temporarily.
  void Synchronize(size_t count, Lock& lock);
  [[noreturn]] void ThrowOutOfMemory(size_t asked_bytes, StreamIndex stream) const;

  // Called under the lock.
  virtual size_t LargestFree() const = 0;
  // Called under the lock. THROWS if the lists of the pool do not match its segments.
  virtual void CheckLists() const = 0;

  Upstream& upstream_;
  const std::string kind_;
  const std::string device_;
  PoolCounters counters_;
  mutable std::mutex mutex_;
  BlockTable records_;
  EventStock events_;
  size_t giving_back_ = 0;  // threads in GiveBack
  std::condition_variable gave_back_;
  // The first block of each segment, by address. Changes only with upstream calls.
  std::map<char*, BlockRecord*> segments_;
};

}  // namespace caffe2rt::internal
