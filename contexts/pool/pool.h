#pragma once
// Pools: memory of a device that is kept and given out again, in the order of streams.
//
//   auto pool = NewThcPool(upstream, {.device = "CUDA 0", .limit_bytes = size_t{8} << 30});
//   PoolBlock block = pool->Allocate(1 << 20, stream);   // for work on `stream`
//   pool->RecordUse(block, other);                       // work on `other` uses it as well
//   pool->Free(block, stream);                           // by a thread that works on `stream`
//
// Stream order: a freed block may be given to its home stream at once, because work there runs in
// order. Nobody else gets it before the work of every stream that used it is over. Memory given by
// NewDirectPool goes back to the upstream, which waits.
//
// A block frees itself: `block.token` is the state of a MemoryDeleter, no address is looked up.
// RawMemory (raw_memory.h) is for callers that have nothing but a pointer.
//
// When the upstream refuses or the limit is reached, cached memory is given back, the call is tried
// once more, and then OutOfMemory is thrown. Counts are right whatever the upstream throws.
//
// Thread safe. One pool is one device: pools share nothing, so threads on different devices do not
// meet. No lock is held while the upstream allocates, frees or waits. A pool ends after its blocks:
// what is in use then is logged and its memory goes back all the same.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "caffe2_core/base/enforce.h"
#include "contexts/pool/pool_statistics.h"
#include "contexts/pool/upstream.h"

namespace caffe2rt {

// Options of every pool: `device` names it in messages; `limit_bytes` is of all memory taken from
// the upstream, in use and cached together.
struct DirectPoolOptions {
  std::string device = "device 0";
  size_t limit_bytes = SIZE_MAX;
};

// Memory that a pool gave. Copies mean the same memory; it is freed once. Null for 0 bytes.
struct PoolBlock {
  void* data = nullptr;
  void* token = nullptr;  // says to the pool which block it is, and of which giving out
};

class Pool {
 public:
  Pool() = default;
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;
  virtual ~Pool() = default;

  // At least `nbytes`, aligned to 512, for work on `stream` (the block's home).
  // REQUIRES: stream >= 0. THROWS OutOfMemory, and what the upstream throws.
  [[nodiscard]] virtual PoolBlock Allocate(size_t nbytes, StreamIndex stream) = 0;

  // Takes the block back. `stream` is the one that the calling thread works on, kNoStream if none:
  // it counts as a use. THROWS for a block that is not in use (freed twice) or of another pool.
  virtual void Free(const PoolBlock& block, StreamIndex stream) = 0;

  // Work given to `stream` so far uses the block: after Free it waits for that stream, too.
  // THROWS for a block that is not in use.
  virtual void RecordUse(const PoolBlock& block, StreamIndex stream) = 0;

  // Waits for the streams that the pool knows and gives all cached memory back. Returns the bytes.
  virtual size_t ReleaseCached() = 0;

  // Lock free but for the largest free block.
  virtual PoolStatistics Statistics() const = 0;
  virtual void ResetPeaks() = 0;
  virtual void SetLimit(size_t limit_bytes) = 0;

  // All memory of the pool, in order of addresses.
  virtual PoolSnapshot Snapshot() const = 0;

  // Whether the address lies in memory of the pool, in use or not.
  virtual bool Owns(const void* data) const = 0;
  // THROWS EnforceNotMet where the pool's own books do not agree: for tests and for hunting errors.
  virtual void CheckInvariants() const = 0;

  // The pool that gave a token.
  static Pool& Of(void* token);
  // The block and its home stream. REQUIRES: the block is in use, and stays so meanwhile.
  static PoolBlock BlockOf(void* token);
  static StreamIndex HomeOf(void* token);
};

// For a MemoryDeleter: frees by data and token. Logs what is wrong and never throws.
void FreePoolBlock(void* data, void* token, StreamIndex stream) noexcept;

// The pools, under the names that Caffe2 has for them (CudaMemoryPoolType, flag
// --caffe2_cuda_memory_pool): NONE, CUB, THC. ASYNC is the driver's own and stands in
// contexts/cuda.

// NONE: no cache, every call goes to the upstream.
std::unique_ptr<Pool> NewDirectPool(Upstream& upstream, const DirectPoolOptions& options);

struct CubPoolOptions {
  std::string device = "device 0";
  size_t limit_bytes = SIZE_MAX;
  // Sizes are powers of growth, from growth^min_bin to growth^max_bin; larger blocks are not
  // cached. `caffe2_cub_bin_growth`, `caffe2_cub_min_bin`, `caffe2_cub_max_bin`.
  unsigned bin_growth = 8;
  unsigned min_bin = 3;
  unsigned max_bin = 10;
  // Beyond it freed blocks go back. `caffe2_cub_max_managed_mb`.
  size_t max_cached_bytes = size_t{10} << 30;
};
// CUB: bins of powers, an event behind every free. The policy of cub::CachingDeviceAllocator, which
// Caffe2 used for it; the code is this project's and knows no device.
std::unique_ptr<Pool> NewCubPool(Upstream& upstream, const CubPoolOptions& options);

struct ThcPoolOptions {
  std::string device = "device 0";
  size_t limit_bytes = SIZE_MAX;
  // Requests up to it live in segments of their own, so that a small block that stays does not hold
  // a large segment.
  size_t small_bytes = size_t{256} << 10;
  // What is taken from the upstream is rounded up to a granule.
  size_t small_granule_bytes = size_t{64} << 10;
  size_t large_granule_bytes = size_t{512} << 10;
  // Least segment of small requests: one call for many of them.
  size_t small_segment_bytes = size_t{1} << 20;
  // Beyond this multiple of the peak in use, idle segments are given back before more is taken.
  double growth_over_peak = 1.2;
  // But never for less than this much above the peak.
  size_t growth_slack_bytes = size_t{7} << 20;
};
// THC: best fit with split and merge, a cache for each stream. Caffe2 used Torch's caching
// allocator for it; the policy and the code are this project's.
std::unique_ptr<Pool> NewThcPool(Upstream& upstream, const ThcPoolOptions& options);

}  // namespace caffe2rt
