// Pinned host memory: allocated, or registered.

#include <cstdlib>
#include <cstring>

#include "cudart/world.h"

using namespace fakecuda;

namespace {

constexpr size_t kPage = 4096;

cudaError_t Allocate(Call& call, void** ptr, size_t bytes, unsigned flags) {
  if (ptr == nullptr) return call.Return(cudaErrorInvalidValue);
  *ptr = nullptr;
  if (bytes == 0) return cudaSuccess;
  const cudaError_t error = call.WaitToAllocate(-1);
  if (error != cudaSuccess) return error;
  void* memory = nullptr;
  if (bytes > PTRDIFF_MAX || posix_memalign(&memory, kPage, bytes) != 0) {
    return call.Return(cudaErrorMemoryAllocation);
  }
  memset(memory, 0xCD, bytes);
  TheWorld().blocks[reinterpret_cast<uintptr_t>(memory)] = {
      .bytes = bytes, .device = Me().device, .kind = BlockKind::kPinned, .flags = flags};
  *ptr = memory;
  return cudaSuccess;
}

// Waits for all streams, any of which may use pinned memory. Then removes the block of `ptr`, which must be of `kind`, from the table.
cudaError_t Forget(Call& call, void* ptr, BlockKind kind, cudaError_t not_found) {
  auto& blocks = TheWorld().blocks;
  const auto address = reinterpret_cast<uintptr_t>(ptr);
  auto it = blocks.find(address);
  if (it == blocks.end() || it->second.kind != kind) return call.Return(not_found);
  const std::vector<OpP> ops = AllLastOps();
  if (const cudaError_t held = call.WaitToFree(ops); held != cudaSuccess) return held;
  const cudaError_t error = call.WaitFor(ops, Me().device);
  for (const auto& device : TheWorld().devices) Acquire(&device->ended);
  it = blocks.find(address);
  if (it == blocks.end() || it->second.kind != kind) return call.Return(not_found);
  blocks.erase(it);
  if (kind == BlockKind::kPinned) free(ptr);
  return error;
}

bool Overlaps(uintptr_t begin, size_t bytes) {
  const auto& blocks = TheWorld().blocks;
  auto it = blocks.lower_bound(begin + bytes);
  if (it == blocks.begin()) return false;
  --it;
  return it->first + it->second.bytes > begin;
}

}  // namespace

extern "C" {

cudaError_t cudaMallocHost(void** ptr, size_t bytes) {
  FAKECUDA_CALL(kUnsafeInCapture);
  return Allocate(call, ptr, bytes, cudaHostAllocDefault);
}

cudaError_t cudaHostAlloc(void** ptr, size_t bytes, unsigned int flags) {
  FAKECUDA_CALL(kUnsafeInCapture);
  constexpr unsigned kKnown =
      cudaHostAllocPortable | cudaHostAllocMapped | cudaHostAllocWriteCombined;
  if ((flags & ~kKnown) != 0) return call.Return(cudaErrorInvalidValue);
  return Allocate(call, ptr, bytes, flags);
}

cudaError_t cudaFreeHost(void* ptr) {
  FAKECUDA_CALL(kUnsafeInCapture);
  if (ptr == nullptr) return cudaSuccess;
  return Forget(call, ptr, BlockKind::kPinned, cudaErrorInvalidValue);
}

cudaError_t cudaHostRegister(void* ptr, size_t bytes, unsigned int flags) {
  FAKECUDA_CALL(kUnsafeInCapture);
  constexpr unsigned kKnown = cudaHostRegisterPortable | cudaHostRegisterMapped |
                              cudaHostRegisterIoMemory | cudaHostRegisterReadOnly;
  if (ptr == nullptr || bytes == 0 || (flags & ~kKnown) != 0) {
    return call.Return(cudaErrorInvalidValue);
  }
  const auto address = reinterpret_cast<uintptr_t>(ptr);
  const cudaError_t error = call.WaitToAllocate(-1);
  if (error != cudaSuccess) return error;
  if (Overlaps(address, bytes)) return call.Return(cudaErrorHostMemoryAlreadyRegistered);
  TheWorld().blocks[address] = {
      .bytes = bytes, .device = Me().device, .kind = BlockKind::kRegistered, .flags = flags};
  return cudaSuccess;
}

cudaError_t cudaHostUnregister(void* ptr) {
  FAKECUDA_CALL(kUnsafeInCapture);
  if (ptr == nullptr) return call.Return(cudaErrorInvalidValue);
  return Forget(call, ptr, BlockKind::kRegistered, cudaErrorHostMemoryNotRegistered);
}

cudaError_t cudaHostGetDevicePointer(void** device_ptr, void* ptr, unsigned int flags) {
  FAKECUDA_CALL(kPlain);
  if (device_ptr == nullptr || flags != 0) return call.Return(cudaErrorInvalidValue);
  const Block* block = FindBlock(ptr);
  if (block == nullptr || block->kind == BlockKind::kDevice) {
    return call.Return(cudaErrorInvalidValue);
  }
  *device_ptr = ptr;
  return cudaSuccess;
}

cudaError_t cudaHostGetFlags(unsigned int* flags, void* ptr) {
  FAKECUDA_CALL(kPlain);
  const Block* block = FindBlock(ptr);
  if (flags == nullptr || block == nullptr || block->kind != BlockKind::kPinned) {
    return call.Return(cudaErrorInvalidValue);
  }
  *flags = block->flags;
  return cudaSuccess;
}

}  // extern "C"
