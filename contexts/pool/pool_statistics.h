#pragma once
// Statistics of a pool, which may be read at any time, and a snapshot of its memory.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "contexts/pool/upstream.h"

#pragma GCC visibility push(default)
namespace caffe2rt {

// Bytes in use and cached bytes count whole blocks, as rounded by the pool.
struct PoolStatistics {
  size_t in_use_bytes = 0;
  size_t peak_in_use_bytes = 0;
  size_t requested_bytes = 0;  // the requested sizes of the blocks in use, before rounding
  size_t blocks_in_use = 0;
  size_t reserved_bytes = 0;  // taken from the upstream
  size_t peak_reserved_bytes = 0;
  size_t cached_bytes = 0;        // reserved but not in use; its work may be unfinished
  size_t largest_free_bytes = 0;  // the largest cached block of any stream
  size_t limit_bytes = 0;
  uint64_t allocations = 0;
  uint64_t upstream_allocations = 0;
  uint64_t upstream_frees = 0;
  uint64_t events_created = 0;
  uint64_t events_recorded = 0;
  uint64_t out_of_memory_retries = 0;
};

struct PoolSnapshot {
  enum class State { kInUse, kWaiting, kCached };
  struct Block {
    uintptr_t address = 0;
    size_t bytes = 0;
    size_t requested_bytes = 0;  // 0 unless in use
    State state = State::kCached;
    StreamIndex home = 0;
    std::vector<StreamIndex> uses;  // other streams that use it
  };
  // The memory of one upstream call, divided into blocks without gaps or overlap.
  struct Segment {
    uintptr_t address = 0;
    size_t bytes = 0;
    std::vector<Block> blocks;
  };
  std::string device;
  std::string pool;
  PoolStatistics statistics;
  std::vector<Segment> segments;
};

// One JSON object, or an array of them, on one line, with addresses as hexadecimal strings:
//   {"device": ..., "pool": ..., "statistics": {"in_use_bytes": ..., ...},
//    "segments": [{"address": ..., "bytes": ..., "blocks": [{"address": ..., "bytes": ...,
//      "requested_bytes": ..., "state": "in use", "home": 0, "uses": [1]}]}]}
// The text is ASCII. Bytes of names that are not UTF-8 become U+FFFD.
std::string SnapshotJson(const PoolSnapshot& snapshot);
std::string SnapshotJson(const std::vector<PoolSnapshot>& snapshots);

namespace internal {

// The counters of one pool, on separate cache lines. They are written under the pool's lock, so a
// load and a store are enough for an update, and read without it.
class alignas(128) PoolCounters {
 public:
  using Counter = std::atomic<size_t>;

  static void Add(Counter& counter, size_t n) {
    counter.store(counter.load(std::memory_order_relaxed) + n, std::memory_order_relaxed);
  }
  static void Subtract(Counter& counter, size_t n) {
    counter.store(counter.load(std::memory_order_relaxed) - n, std::memory_order_relaxed);
  }
  static size_t Get(const Counter& counter) { return counter.load(std::memory_order_relaxed); }

  void OnUse(size_t block_bytes, size_t asked_bytes) {
    Add(in_use, block_bytes);
    Add(requested, asked_bytes);
    Add(blocks, 1);
    Add(allocations, 1);
    if (Get(in_use) > Get(peak_in_use)) peak_in_use.store(Get(in_use), std::memory_order_relaxed);
  }
  void OnFree(size_t block_bytes, size_t asked_bytes) {
    Subtract(in_use, block_bytes);
    Subtract(requested, asked_bytes);
    Subtract(blocks, 1);
  }
  void OnReserve(size_t nbytes) {
    Add(reserved, nbytes);
    if (Get(reserved) > Get(peak_reserved)) {
      peak_reserved.store(Get(reserved), std::memory_order_relaxed);
    }
  }
  void ResetPeaks() {
    peak_in_use.store(Get(in_use), std::memory_order_relaxed);
    peak_reserved.store(Get(reserved), std::memory_order_relaxed);
  }
  // Reads everything except largest_free_bytes.
  PoolStatistics Read() const;

  Counter in_use{0}, peak_in_use{0}, requested{0}, blocks{0}, allocations{0};
  Counter reserved{0}, peak_reserved{0}, limit{SIZE_MAX};
  Counter upstream_allocations{0}, upstream_frees{0}, events_created{0}, events_recorded{0};
  Counter out_of_memory_retries{0};
};

}  // namespace internal
}  // namespace caffe2rt
#pragma GCC visibility pop
