#pragma once
// The base class of all pools: block records, statistics, the limit, unlocked calls of the
// upstream, errors. Internal to contexts/pool.

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "caffe2_core/base/condition_variable.h"
#include "caffe2_core/base/mutex.h"
#include "contexts/pool/block_record.h"
#include "contexts/pool/pool.h"
#include "contexts/pool/stream_order.h"

namespace caffe2rt::internal {

// Invariant: the `reserved` counter includes memory from before the upstream is asked for it until
// after it has been released, so threads that allocate concurrently cannot exceed the limit.
class [[gnu::visibility("default")]] TrackedPool : public Pool {
 public:
  void RecordUse(const PoolBlock& block, StreamIndex stream) override;
  PoolStatistics Statistics() const override;
  void ResetPeaks() override;
  void SetLimit(size_t limit_bytes) override;
  PoolSnapshot Snapshot() const override;
  bool Owns(const void* data) const override;
  void CheckInvariants() const override;

 protected:
  // Memory from one upstream call, and the streams besides its home that may still use it.
  struct Extent {
    void* data;
    size_t bytes;
    std::vector<StreamIndex> uses;
  };

  TrackedPool(Upstream & upstream, std::string kind, std::string device, size_t limit_bytes);
  ~TrackedPool() override;

  // THROWS if the number is out of range. kNoStream is accepted if `none` is true.
  void CheckStream(StreamIndex stream, bool none) const;
  // Returns the block's record. THROWS unless the token is of a block in use.
  BlockRecord* Claim(const PoolBlock& block) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Returns `requested` rounded up to `granule`. THROWS OutOfMemory on overflow.
  size_t RoundUp(size_t requested, size_t granule) const;
  // Marks the record as in use and returns its block.
  // REQUIRES: the record's home and size are set.
  PoolBlock HandOut(BlockRecord * record, size_t requested_bytes)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Counts the block as freed and adds the caller's stream to its uses. The caller sets the new
  // state and inserts the record into a list.
  void TakeBack(BlockRecord * record, StreamIndex stream) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  // Functions that release the mutex temporarily say so. Their callers must then read the pool's
  // lists again.

  // Allocates from the upstream and returns a new segment of one unused block, or null if the limit
  // is reached or the upstream is out of memory. Releases the mutex temporarily. THROWS any
  // exception of the upstream.
  BlockRecord* NewSegment(size_t bytes, StreamIndex home) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // The same. If there is no memory, makes room, waits for threads in GiveBack and tries once more.
  // THROWS OutOfMemory, for a request of `asked_bytes`, if that fails too.
  BlockRecord* NewSegmentOrThrow(size_t bytes, StreamIndex home, size_t asked_bytes)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Removes a segment that is this one block; the caller must return the memory to the upstream.
  Extent RemoveSegment(BlockRecord * record) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Waits for the streams that may still use the extents and returns them to the upstream. Releases
  // the mutex temporarily. After an error it continues; at the end it THROWS the first error.
  void GiveBack(const std::vector<Extent>& extents) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Waits until no thread is in GiveBack. Call it before a failed allocation counts as final.
  // Releases the mutex temporarily.
  void AwaitGiveBacks() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Waits for streams 0 to count - 1. Releases the mutex temporarily.
  void Synchronize(size_t count) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  [[noreturn]] void ThrowOutOfMemory(size_t asked_bytes, StreamIndex stream) const;

  // Returns the memory that the pool does not need to the upstream. May release the mutex
  // temporarily.
  virtual void MakeRoom() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {}
  virtual size_t LargestFree() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) = 0;
  // THROWS if the lists of the pool do not match its segments.
  virtual void CheckLists() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) = 0;

  Upstream& upstream_;
  const std::string kind_;
  const std::string device_;
  PoolCounters counters_;
  mutable Mutex mutex_;
  BlockTable records_ ABSL_GUARDED_BY(mutex_);
  EventStock events_ ABSL_GUARDED_BY(mutex_);
  size_t giving_back_ ABSL_GUARDED_BY(mutex_) = 0;  // threads in GiveBack
  ConditionVariable gave_back_;
  // The first block of each segment, by address. Changes only with upstream calls.
  std::map<char*, BlockRecord*> segments_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace caffe2rt::internal
