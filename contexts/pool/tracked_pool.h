#pragma once
// What all pools have in common: records of blocks, counts, the limit, calls of the upstream
// without the lock, errors. Internal to contexts/pool.

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

// `lock` parameters are the pool's lock, held; a function that takes one may let go of it
// meanwhile, and what was known about lists before is then to be looked at again.
//
// Invariant: reserved counts memory from before it is asked of the upstream until after it is given
// back, so that threads which allocate at once do not pass the limit together.
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

  // What the upstream gave in one call, and the streams besides its home that may still use it.
  struct Extent {
    void* data;
    size_t bytes;
    std::vector<StreamIndex> uses;
  };

  TrackedPool(Upstream& upstream, std::string kind, std::string device, size_t limit_bytes);
  ~TrackedPool() override;

  // THROWS for a number that no stream has. kNoStream passes where `none` does.
  void CheckStream(StreamIndex stream, bool none) const;
  // The block's record, if the token is of a block in use. THROWS else.
  BlockRecord* Claim(const PoolBlock& block) const;
  // `requested` rounded up to `granule`. THROWS OutOfMemory when that does not fit into size_t.
  size_t RoundUp(size_t requested, size_t granule) const;
  // Marks the record as in use and makes its block. Its home and size are set.
  PoolBlock HandOut(BlockRecord* record, size_t requested_bytes);
  // Marks it as freed, with the stream of the caller as a use. It is in no list.
  void TakeBack(BlockRecord* record, StreamIndex stream);

  // Memory of the upstream as a new segment of one unused block; null when the limit or the
  // upstream refuses. Lets go of the lock. THROWS what the upstream throws.
  BlockRecord* NewSegment(size_t bytes, StreamIndex home, Lock& lock);
  // Forgets the segment of this one block; the caller gives the memory back.
  Extent RemoveSegment(BlockRecord* record);
  // Waits for the streams that may still use it. Lets go of the lock. THROWS the first of what the
  // upstream throws, after all calls.
  void GiveBack(const std::vector<Extent>& extents, Lock& lock);
  // Waits until what other threads give back has arrived: before a refusal is believed. Lets go of
  // the lock.
  void AwaitGiveBacks(Lock& lock);
  // Waits for streams 0 to count - 1. Lets go of the lock.
  void Synchronize(size_t count, Lock& lock);
  [[noreturn]] void ThrowOutOfMemory(size_t asked_bytes, StreamIndex stream) const;

  // Under the lock.
  virtual size_t LargestFree() const = 0;
  // THROWS where the lists of the pool do not agree with its segments.
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
  std::map<char*, BlockRecord*> segments_;  // first blocks; changes with calls of the upstream only
};

}  // namespace caffe2rt::internal
