// Device memory and pointer attributes.

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "cudart/mem_pool.h"
#include "cudart/world.h"

namespace fakecuda {

// The bytes that an allocation counts as.
static size_t Rounded(size_t bytes) { return (bytes + 511) / 512 * 512; }

Block* FindBlock(const void* ptr, uintptr_t* begin) {
  auto& blocks = TheWorld().blocks;
  const auto address = reinterpret_cast<uintptr_t>(ptr);
  auto it = blocks.upper_bound(address);
  if (it == blocks.begin()) return nullptr;
  --it;
  if (address - it->first >= std::max<size_t>(it->second.bytes, 1)) return nullptr;
  if (begin != nullptr) *begin = it->first;
  return &it->second;
}

cudaError_t AllocateDevice(void** ptr, size_t bytes, int device_id, MemPool* pool) {
  World& world = TheWorld();
  Device& device = *world.devices[static_cast<size_t>(device_id)];
  *ptr = nullptr;
  if (bytes == 0) return cudaSuccess;
  if (bytes > device.limit) return cudaErrorMemoryAllocation;
  const size_t counted = Rounded(bytes);
  if (device.used + counted > device.limit) ReleaseCached(device_id, 0);
  if (device.used + counted > device.limit) return cudaErrorMemoryAllocation;
  device.MakeArena();
  void* memory = device.arena->Allocate(bytes);
  if (memory == nullptr) return cudaErrorMemoryAllocation;
  device.used += counted;
  device.peak = std::max(device.peak, device.used);
  world.blocks[reinterpret_cast<uintptr_t>(memory)] = {
      .bytes = bytes, .device = device_id, .kind = BlockKind::kDevice, .pool = pool};
  *ptr = memory;
  return cudaSuccess;
}

void ReturnPlace(int device_id, uintptr_t address, size_t bytes) {
  Device& device = *TheWorld().devices[static_cast<size_t>(device_id)];
  device.arena->Free(reinterpret_cast<void*>(address), bytes);
  device.used -= std::min(device.used, Rounded(bytes));
}

void ReleaseDevice(uintptr_t address) {
  World& world = TheWorld();
  const auto it = world.blocks.find(address);
  if (it == world.blocks.end()) return;
  const Block block = it->second;
  world.blocks.erase(it);
  if (block.pool != nullptr) {
    block.pool->used -= block.bytes;
    block.pool->reserved -= block.bytes;
  }
  ReturnPlace(block.device, address, block.bytes);
}

}  // namespace fakecuda

using namespace fakecuda;

namespace {

cudaError_t Allocate(Call& call, void** ptr, size_t bytes) {
  if (ptr == nullptr) return call.Return(cudaErrorInvalidValue);
  *ptr = nullptr;
  const cudaError_t error = bytes == 0 ? cudaSuccess : call.WaitToAllocate(Me().device);
  if (error != cudaSuccess) return error;
  return call.Return(AllocateDevice(ptr, bytes, Me().device, nullptr));
}

}  // namespace

extern "C" {

cudaError_t cudaMalloc(void** ptr, size_t bytes) {
  FAKECUDA_CALL(kUnsafeInCapture);
  return Allocate(call, ptr, bytes);
}

cudaError_t cudaMallocPitch(void** ptr, size_t* pitch, size_t width, size_t height) {
  FAKECUDA_CALL(kUnsafeInCapture);
  if (ptr == nullptr || pitch == nullptr) return call.Return(cudaErrorInvalidValue);
  *pitch = (width + 511) / 512 * 512;
  if (height != 0 && *pitch > SIZE_MAX / height) return call.Return(cudaErrorMemoryAllocation);
  return Allocate(call, ptr, *pitch * height);
}

// Waits for the device, as the driver does.
cudaError_t cudaFree(void* ptr) {
  FAKECUDA_CALL(kUnsafeInCapture);
  if (ptr == nullptr) return cudaSuccess;
  World& world = TheWorld();
  const auto address = reinterpret_cast<uintptr_t>(ptr);
  auto it = world.blocks.find(address);
  const bool ours = it != world.blocks.end() && (it->second.kind == BlockKind::kDevice ||
                                                 it->second.kind == BlockKind::kManaged);
  if (!ours) return call.Return(cudaErrorInvalidValue);
  const int device = it->second.device;
  const std::vector<OpP> ops = LastOps(device);
  if (const cudaError_t held = call.WaitToFree(ops); held != cudaSuccess) return held;
  const cudaError_t error = call.WaitFor(ops, device);
  Acquire(&world.devices[static_cast<size_t>(device)]->ended);
  it = world.blocks.find(address);
  if (it == world.blocks.end()) return call.Return(cudaErrorInvalidValue);
  if (it->second.kind == BlockKind::kManaged) {
    Device& owner = *world.devices[static_cast<size_t>(device)];
    owner.used -= std::min(owner.used, Rounded(it->second.bytes));
    world.blocks.erase(it);
    free(ptr);
    return error;
  }
  ReleaseDevice(address);
  return error;
}

// Managed memory is always accessible, to the host and to all devices.
cudaError_t cudaMallocManaged(void** ptr, size_t bytes, unsigned int flags) {
  FAKECUDA_CALL(kUnsafeInCapture);
  if (ptr == nullptr || bytes == 0) return call.Return(cudaErrorInvalidValue);
  const cudaError_t error = call.WaitToAllocate(Me().device);
  if (error != cudaSuccess) return error;
  Device& device = CurrentDevice();
  if (device.used + Rounded(bytes) > device.limit) return call.Return(cudaErrorMemoryAllocation);
  if (posix_memalign(ptr, 4096, bytes) != 0) return call.Return(cudaErrorMemoryAllocation);
  memset(*ptr, 0, bytes);
  device.used += Rounded(bytes);
  device.peak = std::max(device.peak, device.used);
  TheWorld().blocks[reinterpret_cast<uintptr_t>(*ptr)] = {
      .bytes = bytes, .device = Me().device, .kind = BlockKind::kManaged, .flags = flags};
  return cudaSuccess;
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* ptr) {
  FAKECUDA_CALL(kPlain);
  if (attributes == nullptr) return call.Return(cudaErrorInvalidValue);
  *attributes = {};
  const Block* block = FindBlock(ptr);
  if (block == nullptr) {
    attributes->type = cudaMemoryTypeUnregistered;
    attributes->device = cudaInvalidDeviceId;
    return cudaSuccess;
  }
  attributes->device = block->device;
  attributes->devicePointer = const_cast<void*>(ptr);
  switch (block->kind) {
    case BlockKind::kDevice:
      attributes->type = cudaMemoryTypeDevice;
      break;
    case BlockKind::kManaged:
      attributes->type = cudaMemoryTypeManaged;
      attributes->hostPointer = const_cast<void*>(ptr);
      break;
    default:
      attributes->type = cudaMemoryTypeHost;
      attributes->hostPointer = const_cast<void*>(ptr);
  }
  return cudaSuccess;
}

}  // extern "C"
