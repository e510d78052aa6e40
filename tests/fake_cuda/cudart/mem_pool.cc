// Stream-ordered memory pools: cudaMallocAsync and related functions.

#include "cudart/mem_pool.h"

#include <algorithm>

#include "cudart/graph.h"
#include "cudart/world.h"

namespace fakecuda {

void ReleaseCached(int device, uint64_t keep, bool by_threshold) {
  for (auto* pools : {&TheWorld().default_pools, &TheWorld().made_pools}) {
    for (const auto& pool : *pools) {
      if (pool->device != device) continue;
      const uint64_t kept = by_threshold ? pool->threshold : keep;
      std::erase_if(pool->cached, [&](const CachedBlock& block) {
        if (pool->reserved <= kept || !block.freed->done) return false;
        ReturnPlace(device, block.address, block.bytes);
        pool->reserved -= block.bytes;
        return true;
      });
    }
  }
}

void TrimPoolsAfterWait() {
  for (size_t i = 0; i < TheWorld().devices.size(); ++i) {
    ReleaseCached(static_cast<int>(i), 0, true);
  }
}

MemPool* FindPool(cudaMemPool_t handle) {
  World& world = TheWorld();
  const auto* found = world.pools.Find(handle);
  return found == nullptr ? nullptr : found->get();
}

namespace {

// Takes a cached block that the stream may use now: one that it freed itself, or one that another
// stream freed and whose last use is done. At most an eighth of the block (plus 511 bytes) may be
// unused.
bool TakeCached(MemPool& pool, size_t bytes, const StreamP& stream, CachedBlock* taken) {
  for (auto it = pool.cached.rbegin(); it != pool.cached.rend(); ++it) {
    const bool own = it->home == stream;
    const bool free_for_all = it->freed->done && pool.opportunistic != 0;
    if (it->bytes < bytes || it->bytes > bytes + bytes / 8 + 511 || (!own && !free_for_all))
      continue;
    *taken = std::move(*it);
    pool.cached.erase(std::next(it).base());
    return true;
  }
  return false;
}

void RaiseHighs(MemPool& pool) {
  pool.used_high = std::max(pool.used_high, pool.used);
  pool.reserved_high = std::max(pool.reserved_high, pool.reserved);
}

cudaError_t Allocate(Call& call, void** ptr, size_t bytes, MemPool* pool, cudaStream_t handle) {
  if (ptr == nullptr) return call.Return(cudaErrorInvalidValue);
  *ptr = nullptr;
  const StreamP stream = Resolve(handle);
  if (!stream) return call.Return(cudaErrorInvalidResourceHandle);
  if (pool == nullptr) pool = TheWorld().devices[static_cast<size_t>(stream->device)]->pool;
  if (stream->capture) {  // the fake has no memory nodes
    stream->capture->invalid = true;
    return call.Return(cudaErrorStreamCaptureUnsupported);
  }
  if (bytes == 0) return call.Return(cudaErrorInvalidValue);
  CachedBlock cached;
  if (TakeCached(*pool, bytes, stream, &cached)) {
    auto* memory = reinterpret_cast<void*>(cached.address);
    Arena& arena = *TheWorld().devices[static_cast<size_t>(pool->device)]->arena;
    if (cached.freed->done) {
      arena.Refresh(memory, cached.bytes);
    } else {
      arena.Unretire(memory, cached.bytes);  // earlier work of the stream may still use it
    }
    TheWorld().blocks[cached.address] = {
        .bytes = cached.bytes, .device = pool->device, .kind = BlockKind::kDevice, .pool = pool};
    pool->used += cached.bytes;
    *ptr = memory;
  } else {
    if (pool->max_bytes != 0 && pool->reserved + bytes > pool->max_bytes) {
      return call.Return(cudaErrorMemoryAllocation);
    }
    const cudaError_t error = AllocateDevice(ptr, bytes, pool->device, pool);
    if (error != cudaSuccess) return call.Return(error);
    pool->used += bytes;
    pool->reserved += bytes;
  }
  RaiseHighs(*pool);
  return cudaSuccess;
}

}  // namespace
}  // namespace fakecuda

using namespace fakecuda;

extern "C" {

cudaError_t cudaMallocAsync(void** ptr, size_t bytes, cudaStream_t stream) {
  FAKECUDA_CALL(kPlain);
  return Allocate(call, ptr, bytes, nullptr, stream);
}

cudaError_t cudaMallocFromPoolAsync(void** ptr, size_t bytes, cudaMemPool_t handle,
                                    cudaStream_t stream) {
  FAKECUDA_CALL(kPlain);
  MemPool* pool = FindPool(handle);
  if (pool == nullptr) return call.Return(cudaErrorInvalidValue);
  return Allocate(call, ptr, bytes, pool, stream);
}

// Returns the memory to the pool. The stream may reuse it at once, other streams once the work
// enqueued so far is done.
cudaError_t cudaFreeAsync(void* ptr, cudaStream_t handle) {
  FAKECUDA_CALL(kPlain);
  const StreamP stream = Resolve(handle);
  if (!stream) return call.Return(cudaErrorInvalidResourceHandle);
  if (ptr == nullptr) return cudaSuccess;
  World& world = TheWorld();
  const auto it = world.blocks.find(reinterpret_cast<uintptr_t>(ptr));
  if (it == world.blocks.end() || it->second.kind != BlockKind::kDevice) {
    return call.Return(cudaErrorInvalidValue);
  }
  if (stream->capture) {
    stream->capture->invalid = true;
    return call.Return(cudaErrorStreamCaptureUnsupported);
  }
  OpP op;
  const Block block = it->second;
  if (block.pool == nullptr) {  // from cudaMalloc: returned to the device in stream order
    const uintptr_t address = it->first;
    Work work{.name = "free"};
    work.run = [address] {
      std::lock_guard<std::mutex> lock(TheWorld().mutex);
      ReleaseDevice(address);
      return cudaSuccess;
    };
    return call.Return(Submit(stream, std::move(work)));
  }
  // When the stream reaches this operation, the memory is poisoned unless it was reused before.
  MemPool* pool = block.pool;
  const unsigned long long id = TheWorld().next_id++;
  Work work{.name = "free"};
  work.run = [pool, id] {
    std::lock_guard<std::mutex> lock(TheWorld().mutex);
    Arena& arena = *TheWorld().devices[static_cast<size_t>(pool->device)]->arena;
    for (const CachedBlock& cached : pool->cached) {
      if (cached.id == id) arena.Retire(reinterpret_cast<void*>(cached.address), cached.bytes);
    }
    return cudaSuccess;
  };
  const cudaError_t error = Submit(stream, std::move(work), &op);
  if (error != cudaSuccess) return call.Return(error);
  block.pool->used -= block.bytes;
  block.pool->cached.push_back({it->first, block.bytes, op, stream, id});
  world.blocks.erase(it);
  return cudaSuccess;
}

}  // extern "C"
