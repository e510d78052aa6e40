#pragma once
// Pools cache the memory of a device and reuse it in stream order.
//
//   auto pool = NewThcPool(upstream, {.device = "CUDA 0", .limit_bytes = size_t{8} << 30});
//   PoolBlock block = pool->Allocate(1 << 20, stream);   // for work on `stream`
//   pool->RecordUse(block, other);                       // work on `other` uses it as well
//   pool->Free(block, stream);                           // by a thread that works on `stream`
//
// Stream order: a stream may reuse a freed block at once if no other stream used the block, because
// work on one stream runs in order. Otherwise the block is reused only after the work of every
// other stream that used it has finished. NewDirectPool caches nothing: Free waits for all work
// that uses the block, and returns the memory to the upstream.
//
// Freeing needs no look-up by address: `block.token` is the state of a MemoryDeleter. RawMemory
// (raw_memory.h) serves callers that keep only the pointer.
//
// Failure: if the upstream has no memory or the limit is reached, the pool releases its cached
// memory and tries once more. If that fails too, it throws OutOfMemory. Whatever the upstream
// throws, the statistics stay correct.
//
// A pool is thread safe. Each pool serves one device, and pools share no state, so threads that use
// different devices never contend. The pool holds no lock while the upstream allocates, frees or
// waits. Free all blocks before destroying the pool: the destructor logs the number of blocks that
// are still in use, and returns their memory to the upstream.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "caffe2_core/base/enforce.h"
#include "contexts/pool/pool_statistics.h"
#include "contexts/pool/upstream.h"

#pragma GCC visibility push(default)
namespace caffe2rt {

// The two options that every pool has. `device` names the device in messages. `limit_bytes` bounds
// the memory taken from the upstream: bytes in use plus bytes cached.
struct DirectPoolOptions {
  std::string device = "device 0";
  size_t limit_bytes = SIZE_MAX;
};

// A handle to allocated memory; null for 0 bytes. Copies of a handle refer to the same memory. Free
// it exactly once.
struct PoolBlock {
  void* data = nullptr;
  void* token = nullptr;  // identifies the block and this allocation of it, to detect double frees
};

class Pool {
 public:
  Pool() = default;
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;
  virtual ~Pool() = default;

  // Returns at least `nbytes` bytes, aligned to 512 bytes, for work on `stream`. That stream is the
  // block's home.
  // REQUIRES: stream >= 0.
  // THROWS: OutOfMemory, and any exception of the upstream.
  [[nodiscard]] virtual PoolBlock Allocate(size_t nbytes, StreamIndex stream) = 0;

  // Frees the block. `stream` is the stream that the calling thread works on, or kNoStream if there
  // is none; it counts as a user of the block.
  // THROWS: if the block is not in use (a double free) or belongs to another pool.
  virtual void Free(const PoolBlock& block, StreamIndex stream) = 0;

  // Declares that `stream` uses the block. After Free, the block is reused only when the work
  // enqueued on `stream` before the Free has finished.
  // THROWS: if the block is not in use.
  virtual void RecordUse(const PoolBlock& block, StreamIndex stream) = 0;

  // Waits for the streams that the pool has seen, and returns all cached memory to the upstream.
  // Returns the number of bytes released.
  virtual size_t ReleaseCached() = 0;

  // Reads the counters without a lock; takes the lock only to find the largest free block.
  virtual PoolStatistics Statistics() const = 0;
  // Sets the peaks to the current values.
  virtual void ResetPeaks() = 0;
  // Changes the limit. Memory that the pool holds already is not released.
  virtual void SetLimit(size_t limit_bytes) = 0;

  // Lists all memory of the pool, ordered by address.
  virtual PoolSnapshot Snapshot() const = 0;

  // Returns whether the address lies in memory of the pool, whether that memory is in use or free.
  virtual bool Owns(const void* data) const = 0;
  // Checks the pool's internal data structures; for tests and debugging.
  // THROWS: EnforceNotMet if they are inconsistent.
  virtual void CheckInvariants() const = 0;

  // Returns the pool that issued the token.
  static Pool& Of(void* token);
  // Return the block of a token, and its home stream.
  // REQUIRES: the block is in use and is not freed during the call.
  static PoolBlock BlockOf(void* token);
  static StreamIndex HomeOf(void* token);
};

// Frees a block given by data and token, on behalf of a MemoryDeleter. Logs errors; never throws.
void FreePoolBlock(void* data, void* token, StreamIndex stream) noexcept;

// The pools below carry Caffe2's names (CudaMemoryPoolType, flag --caffe2_cuda_memory_pool): NONE,
// CUB and THC. The fourth pool, ASYNC, wraps the CUDA driver's pool and lives in contexts/cuda.

// NONE: no cache. Every call goes to the upstream.
std::unique_ptr<Pool> NewDirectPool(Upstream& upstream, const DirectPoolOptions& options);

struct CubPoolOptions {
  std::string device = "device 0";
  size_t limit_bytes = SIZE_MAX;
  // Block sizes are bin_growth^min_bin to bin_growth^max_bin bytes; larger blocks are not cached.
  // Flags: `caffe2_cub_bin_growth`, `caffe2_cub_min_bin`, `caffe2_cub_max_bin`.
  unsigned bin_growth = 8;
  unsigned min_bin = 3;
  unsigned max_bin = 10;
  // Upper bound of the cache. A freed block that would exceed it is returned to the upstream.
  // Flag: `caffe2_cub_max_managed_mb`.
  size_t max_cached_bytes = size_t{10} << 30;
};
// CUB: rounds sizes up to powers of bin_growth, and records an event at every free. Caffe2 used
// cub::CachingDeviceAllocator; this is a separate, device-independent implementation of the same
// policy.
std::unique_ptr<Pool> NewCubPool(Upstream& upstream, const CubPoolOptions& options);

struct ThcPoolOptions {
  std::string device = "device 0";
  size_t limit_bytes = SIZE_MAX;
  // Requests up to this size are "small". Small blocks live in separate segments, so that a
  // long-lived small block does not keep a large segment in use.
  size_t small_bytes = size_t{256} << 10;
  // Segment sizes are rounded up to a multiple of the granule of their kind.
  size_t small_granule_bytes = size_t{64} << 10;
  size_t large_granule_bytes = size_t{512} << 10;
  // Minimum size of a segment for small requests, so that one upstream call serves many of them.
  size_t small_segment_bytes = size_t{1} << 20;
  // Soft limit of reserved memory: growth_over_peak times the peak of bytes in use, or that peak
  // plus growth_slack_bytes, whichever is larger. Before the pool exceeds this limit, it reuses
  // memory of other streams and releases idle segments.
  double growth_over_peak = 1.2;
  size_t growth_slack_bytes = size_t{7} << 20;
};
// THC: best fit with splitting and merging of blocks, and one cache per stream. Caffe2 used Torch's
// caching allocator; the policy and the code of this pool are independent of it.
std::unique_ptr<Pool> NewThcPool(Upstream& upstream, const ThcPoolOptions& options);

}  // namespace caffe2rt
#pragma GCC visibility pop
