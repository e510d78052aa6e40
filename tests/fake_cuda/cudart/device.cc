// Devices: count, current device, synchronization, reset, peers.

#include "cudart/graph.h"
#include "cudart/mem_pool.h"
#include "cudart/world.h"

using namespace fakecuda;

namespace {

// Invalidates the captures of the device's streams, closes the streams, and frees the memory of the
// device. Clears its errors.
void ResetDevice(int id) {
  World& world = TheWorld();
  Device& device = *world.devices[static_cast<size_t>(id)];
  std::vector<void*> handles;
  for (const auto& [handle, stream] : world.streams.live()) {
    if (stream->device == id) handles.push_back(handle);
  }
  for (void* handle : handles) {
    const StreamP stream = *world.streams.Find(handle);
    LeaveCapture(stream);
    world.streams.Remove(handle);
    Close(stream);
  }
  std::vector<uintptr_t> blocks;
  for (const auto& [address, block] : world.blocks) {
    if (block.device == id && block.kind == BlockKind::kDevice) blocks.push_back(address);
  }
  for (const uintptr_t address : blocks) ReleaseDevice(address);
  for (const CachedBlock& block : device.default_pool->cached) {
    device.arena->Free(reinterpret_cast<void*>(block.address), block.bytes);
  }
  *device.default_pool = MemPool();
  device.default_pool->device = id;
  device.pool = device.default_pool;
  device.used = 0;
  device.peers.clear();
  device.has_context = false;
  device.sticky = cudaSuccess;
}

}  // namespace

extern "C" {

cudaError_t cudaGetDeviceCount(int* count) {
  if (count != nullptr) *count = 0;
  FAKECUDA_CALL(kIgnoresSticky | kNoContext);
  if (count == nullptr) return call.Return(cudaErrorInvalidValue);
  *count = static_cast<int>(TheWorld().devices.size());
  return cudaSuccess;
}

cudaError_t cudaGetDevice(int* device) {
  FAKECUDA_CALL(kIgnoresSticky | kNoContext);
  if (device == nullptr) return call.Return(cudaErrorInvalidValue);
  *device = Me().device;
  return cudaSuccess;
}

cudaError_t cudaSetDevice(int device) {
  FAKECUDA_CALL(kIgnoresSticky | kNoContext);
  if (!ValidDevice(device)) return call.Return(cudaErrorInvalidDevice);
  Me().device = device;
  CurrentDevice().has_context = true;
  return call.Return(CurrentDevice().sticky);
}

cudaError_t cudaSetDeviceFlags(unsigned int flags) {
  FAKECUDA_CALL(kPlain);
  if ((flags & ~cudaDeviceMask) != 0) return call.Return(cudaErrorInvalidValue);
  CurrentDevice().flags = flags;
  return cudaSuccess;
}

cudaError_t cudaGetDeviceFlags(unsigned int* flags) {
  FAKECUDA_CALL(kPlain);
  if (flags == nullptr) return call.Return(cudaErrorInvalidValue);
  *flags = CurrentDevice().flags;
  return cudaSuccess;
}

cudaError_t cudaDeviceSynchronize() {
  FAKECUDA_CALL(kUnsafeInCapture);
  const int device = Me().device;
  for (const StreamP& stream : CurrentDevice().streams) {
    if (!stream->capture) continue;
    stream->capture->invalid = true;
    return call.Return(cudaErrorStreamCaptureUnsupported);
  }
  const std::vector<OpP> ops = LastOps(device);
  const cudaError_t error = call.WaitFor(ops, device);
  Acquire(&TheWorld().devices[static_cast<size_t>(device)]->ended);
  return error;
}

cudaError_t cudaDeviceReset() {
  FAKECUDA_CALL(kIgnoresSticky | kNoContext);
  const int device = Me().device;
  call.WaitFor(LastOps(device), device);
  ResetDevice(device);
  Me().last_error = cudaSuccess;
  return cudaSuccess;
}

cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  FAKECUDA_CALL(kPlain);
  if (least != nullptr) *least = 0;
  if (greatest != nullptr) *greatest = -5;
  return cudaSuccess;
}

cudaError_t cudaDeviceSetLimit(cudaLimit limit, size_t value) {
  FAKECUDA_CALL(kPlain);
  if (limit >= cudaLimitPersistingL2CacheSize) return call.Return(cudaErrorUnsupportedLimit);
  CurrentDevice().limits[static_cast<size_t>(limit)] = value;
  return cudaSuccess;
}

cudaError_t cudaDeviceGetLimit(size_t* value, cudaLimit limit) {
  FAKECUDA_CALL(kPlain);
  if (value == nullptr) return call.Return(cudaErrorInvalidValue);
  if (limit >= cudaLimitPersistingL2CacheSize) return call.Return(cudaErrorUnsupportedLimit);
  *value = CurrentDevice().limits[static_cast<size_t>(limit)];
  return cudaSuccess;
}

cudaError_t cudaMemGetInfo(size_t* free_bytes, size_t* total) {
  FAKECUDA_CALL(kPlain);
  if (free_bytes == nullptr || total == nullptr) return call.Return(cudaErrorInvalidValue);
  const Device& device = CurrentDevice();
  *total = device.limit;
  *free_bytes = device.limit > device.used ? device.limit - device.used : 0;
  return cudaSuccess;
}

cudaError_t cudaDriverGetVersion(int* version) {
  FAKECUDA_CALL(kIgnoresSticky | kNoDevice);
  if (version == nullptr) return call.Return(cudaErrorInvalidValue);
  *version = TheWorld().driver_version;
  return cudaSuccess;
}

cudaError_t cudaRuntimeGetVersion(int* version) {
  FAKECUDA_CALL(kIgnoresSticky | kNoDevice);
  if (version == nullptr) return call.Return(cudaErrorInvalidValue);
  *version = CUDART_VERSION;
  return cudaSuccess;
}

cudaError_t cudaDeviceCanAccessPeer(int* can, int device, int peer) {
  FAKECUDA_CALL(kNoContext);
  if (can == nullptr) return call.Return(cudaErrorInvalidValue);
  if (!ValidDevice(device) || !ValidDevice(peer)) return call.Return(cudaErrorInvalidDevice);
  const int group = TheWorld().peer_group;
  *can = device != peer && device / group == peer / group ? 1 : 0;
  return cudaSuccess;
}

cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned int flags) {
  FAKECUDA_CALL(kPlain);
  if (flags != 0) return call.Return(cudaErrorInvalidValue);
  const int device = Me().device;
  if (!ValidDevice(peer) || peer == device) return call.Return(cudaErrorInvalidDevice);
  const int group = TheWorld().peer_group;
  if (device / group != peer / group) return call.Return(cudaErrorPeerAccessUnsupported);
  TheWorld().devices[static_cast<size_t>(peer)]->MakeArena();
  TheWorld().devices[static_cast<size_t>(peer)]->has_context = true;
  const bool added = CurrentDevice().peers.insert(peer).second;
  return call.Return(added ? cudaSuccess : cudaErrorPeerAccessAlreadyEnabled);
}

cudaError_t cudaDeviceDisablePeerAccess(int peer) {
  FAKECUDA_CALL(kPlain);
  if (!ValidDevice(peer)) return call.Return(cudaErrorInvalidDevice);
  const bool was = CurrentDevice().peers.erase(peer) > 0;
  return call.Return(was ? cudaSuccess : cudaErrorPeerAccessNotEnabled);
}

}  // extern "C"
