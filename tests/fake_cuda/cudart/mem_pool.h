#pragma once

// Stream-ordered memory pools (cudaMemPool_t).

#include <cuda_runtime_api.h>

#include <cstdint>
#include <vector>

#include "cudart/stream.h"

namespace fakecuda {

// Memory that was freed into a pool and not given back to the device.
struct CachedBlock {
  uintptr_t address = 0;
  size_t bytes = 0;
  OpP freed;  // the end of its last use: reusable by all when done, by `home` at once
  StreamP home;
  unsigned long long id = 0;  // of this free: an address may be freed again
};

// Guarded by the world's mutex.
// Invariants: reserved = bytes of the pool's live blocks and of its cached ones, used = of the live
// ones alone, each at most its high mark.
struct MemPool {
  int device = 0;
  uint64_t threshold = 0;  // bytes kept when a wait gives memory back
  uint64_t max_bytes = 0;  // 0: no limit
  uint64_t reserved = 0;
  uint64_t used = 0;
  uint64_t reserved_high = 0;
  uint64_t used_high = 0;
  int follow_events = 1;
  int opportunistic = 1;
  int internal_dependencies = 1;
  std::vector<CachedBlock> cached;
  DeviceSet access = 0;  // peers given access by cudaMemPoolSetAccess
};

// All REQUIRE the world's mutex.

// Null for handles that are not alive.
MemPool* FindPool(cudaMemPool_t handle);

// Gives cached blocks whose last use is over back to the device, until each pool keeps at most
// `keep` bytes (or, with `by_threshold`, its threshold).
void ReleaseCached(int device, uint64_t keep, bool by_threshold = false);
// Ends an allocation's place on the device: its bytes are no longer used.
void ReturnPlace(int device, uintptr_t address, size_t bytes);

}  // namespace fakecuda
