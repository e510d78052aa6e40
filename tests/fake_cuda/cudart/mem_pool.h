#pragma once

// Stream-ordered memory pools (cudaMemPool_t).

#include <cuda_runtime_api.h>

#include <cstdint>
#include <vector>

#include "cudart/stream.h"

namespace fakecuda {

// Memory that was freed into a pool and not yet returned to the device.
struct CachedBlock {
  uintptr_t address = 0;
  size_t bytes = 0;
  OpP freed;  // the end of its last use: `home` may reuse the block at once, others when it is done
  StreamP home;
  unsigned long long id = 0;  // identifies this free; the same address may be freed several times
};

// Guarded by the world's mutex.
// Invariants: `used` is the bytes of the pool's live blocks, `reserved` those of its live and
// cached blocks; neither exceeds its high-water mark.
struct MemPool {
  int device = 0;
  uint64_t threshold = 0;  // bytes kept when a synchronization returns memory to the device
  uint64_t max_bytes = 0;  // 0: no limit
  uint64_t reserved = 0;
  uint64_t used = 0;
  uint64_t reserved_high = 0;
  uint64_t used_high = 0;
  int follow_events = 1;
  int opportunistic = 1;
  int internal_dependencies = 1;
  std::vector<CachedBlock> cached;
  DeviceSet access = 0;  // peers granted access by cudaMemPoolSetAccess
};

// All functions REQUIRE the world's mutex.

// Returns null if the handle is not live.
MemPool* FindPool(cudaMemPool_t handle);

// Returns cached blocks whose last use is done to the device, until each pool keeps at most `keep`
// bytes (or, with `by_threshold`, its threshold).
void ReleaseCached(int device, uint64_t keep, bool by_threshold = false);
// Frees an allocation's addresses on the device, and no longer counts its bytes as used.
void ReturnPlace(int device, uintptr_t address, size_t bytes);

}  // namespace fakecuda
