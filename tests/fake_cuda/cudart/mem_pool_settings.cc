// Memory pools: creation, attributes, access.

#include <algorithm>

#include "cudart/mem_pool.h"
#include "cudart/world.h"

using namespace fakecuda;

namespace {

cudaMemPool_t HandleOf(const MemPool* pool) {
  World& world = TheWorld();
  for (const auto& [handle, live] : world.pools.live()) {
    if (live.get() == pool) return static_cast<cudaMemPool_t>(handle);
  }
  for (const auto& known : world.default_pools) {
    if (known.get() == pool) return static_cast<cudaMemPool_t>(world.pools.Add(known));
  }
  return nullptr;
}

int* Switch(MemPool& pool, cudaMemPoolAttr attribute) {
  switch (attribute) {
    case cudaMemPoolReuseFollowEventDependencies:
      return &pool.follow_events;
    case cudaMemPoolReuseAllowOpportunistic:
      return &pool.opportunistic;
    case cudaMemPoolReuseAllowInternalDependencies:
      return &pool.internal_dependencies;
    default:
      return nullptr;
  }
}

uint64_t* Number(MemPool& pool, cudaMemPoolAttr attribute) {
  switch (attribute) {
    case cudaMemPoolAttrReleaseThreshold:
      return &pool.threshold;
    case cudaMemPoolAttrReservedMemCurrent:
      return &pool.reserved;
    case cudaMemPoolAttrReservedMemHigh:
      return &pool.reserved_high;
    case cudaMemPoolAttrUsedMemCurrent:
      return &pool.used;
    case cudaMemPoolAttrUsedMemHigh:
      return &pool.used_high;
    default:
      return nullptr;
  }
}

}  // namespace

extern "C" {

cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* pool, int device) {
  FAKECUDA_CALL(kPlain);
  if (pool == nullptr) return call.Return(cudaErrorInvalidValue);
  if (!ValidDevice(device)) return call.Return(cudaErrorInvalidDevice);
  *pool = HandleOf(TheWorld().devices[static_cast<size_t>(device)]->default_pool);
  return cudaSuccess;
}

cudaError_t cudaDeviceGetMemPool(cudaMemPool_t* pool, int device) {
  FAKECUDA_CALL(kPlain);
  if (pool == nullptr) return call.Return(cudaErrorInvalidValue);
  if (!ValidDevice(device)) return call.Return(cudaErrorInvalidDevice);
  *pool = HandleOf(TheWorld().devices[static_cast<size_t>(device)]->pool);
  return cudaSuccess;
}

cudaError_t cudaDeviceSetMemPool(int device, cudaMemPool_t handle) {
  FAKECUDA_CALL(kPlain);
  MemPool* pool = FindPool(handle);
  if (!ValidDevice(device)) return call.Return(cudaErrorInvalidDevice);
  if (pool == nullptr || pool->device != device) return call.Return(cudaErrorInvalidValue);
  TheWorld().devices[static_cast<size_t>(device)]->pool = pool;
  return cudaSuccess;
}

cudaError_t cudaMemPoolCreate(cudaMemPool_t* handle, const cudaMemPoolProps* properties) {
  FAKECUDA_CALL(kPlain);
  if (handle == nullptr || properties == nullptr ||
      properties->allocType != cudaMemAllocationTypePinned ||
      properties->location.type != cudaMemLocationTypeDevice ||
      !ValidDevice(properties->location.id)) {
    return call.Return(cudaErrorInvalidValue);
  }
  auto pool = std::make_shared<MemPool>();
  pool->device = properties->location.id;
  pool->max_bytes = properties->maxSize;
  TheWorld().made_pools.push_back(pool);
  *handle = static_cast<cudaMemPool_t>(TheWorld().pools.Add(std::move(pool)));
  return cudaSuccess;
}

// Live allocations of the pool remain valid.
cudaError_t cudaMemPoolDestroy(cudaMemPool_t handle) {
  FAKECUDA_CALL(kPlain);
  World& world = TheWorld();
  MemPool* pool = FindPool(handle);
  if (pool == nullptr) return call.Return(cudaErrorInvalidValue);
  Device& device = *world.devices[static_cast<size_t>(pool->device)];
  if (pool == device.default_pool) return call.Return(cudaErrorInvalidValue);
  if (device.pool == pool) device.pool = device.default_pool;
  pool->threshold = 0;  // returns everything to the device at the next wait
  world.pools.Remove(handle);
  return cudaSuccess;
}

cudaError_t cudaMemPoolTrimTo(cudaMemPool_t handle, size_t keep) {
  FAKECUDA_CALL(kPlain);
  MemPool* pool = FindPool(handle);
  if (pool == nullptr) return call.Return(cudaErrorInvalidValue);
  std::erase_if(pool->cached, [&](const CachedBlock& block) {
    if (pool->reserved <= keep || !block.freed->done) return false;
    ReturnPlace(pool->device, block.address, block.bytes);
    pool->reserved -= block.bytes;
    return true;
  });
  return cudaSuccess;
}

cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t handle, cudaMemPoolAttr attribute, void* value) {
  FAKECUDA_CALL(kPlain);
  MemPool* pool = FindPool(handle);
  if (pool == nullptr || value == nullptr) return call.Return(cudaErrorInvalidValue);
  if (int* flag = Switch(*pool, attribute)) {
    *flag = *static_cast<int*>(value);
    return cudaSuccess;
  }
  const uint64_t wanted = *static_cast<uint64_t*>(value);
  if (attribute == cudaMemPoolAttrReleaseThreshold) {
    pool->threshold = wanted;
  } else if (attribute == cudaMemPoolAttrReservedMemHigh && wanted == 0) {
    pool->reserved_high = pool->reserved;
  } else if (attribute == cudaMemPoolAttrUsedMemHigh && wanted == 0) {
    pool->used_high = pool->used;
  } else {
    return call.Return(cudaErrorInvalidValue);
  }
  return cudaSuccess;
}

cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t handle, cudaMemPoolAttr attribute, void* value) {
  FAKECUDA_CALL(kPlain);
  MemPool* pool = FindPool(handle);
  if (pool == nullptr || value == nullptr) return call.Return(cudaErrorInvalidValue);
  if (const int* flag = Switch(*pool, attribute)) {
    *static_cast<int*>(value) = *flag;
  } else if (const uint64_t* number = Number(*pool, attribute)) {
    *static_cast<uint64_t*>(value) = *number;
  } else {
    return call.Return(cudaErrorInvalidValue);
  }
  return cudaSuccess;
}

cudaError_t cudaMemPoolSetAccess(cudaMemPool_t handle, const cudaMemAccessDesc* list,
                                 size_t count) {
  FAKECUDA_CALL(kPlain);
  MemPool* pool = FindPool(handle);
  if (pool == nullptr || (list == nullptr && count > 0)) return call.Return(cudaErrorInvalidValue);
  for (size_t i = 0; i < count; ++i) {
    const int device = list[i].location.id;
    const bool none = list[i].flags == cudaMemAccessFlagsProtNone;
    if (list[i].location.type != cudaMemLocationTypeDevice || !ValidDevice(device) ||
        (none && device == pool->device)) {
      return call.Return(cudaErrorInvalidValue);
    }
    if (none) {
      pool->access &= ~(DeviceSet{1} << device);
    } else {
      pool->access |= DeviceSet{1} << device;
    }
  }
  return cudaSuccess;
}

cudaError_t cudaMemPoolGetAccess(cudaMemAccessFlags* flags, cudaMemPool_t handle,
                                 cudaMemLocation* location) {
  FAKECUDA_CALL(kPlain);
  const MemPool* pool = FindPool(handle);
  if (pool == nullptr || flags == nullptr || location == nullptr || !ValidDevice(location->id)) {
    return call.Return(cudaErrorInvalidValue);
  }
  const bool can = location->id == pool->device || ((pool->access >> location->id) & 1) != 0;
  *flags = can ? cudaMemAccessFlagsProtReadWrite : cudaMemAccessFlagsProtNone;
  return cudaSuccess;
}

}  // extern "C"
