// Filling device memory.

#include <cstring>

#include "cudart/world.h"

using namespace fakecuda;

namespace {

struct Fill {
  void* ptr;
  size_t pitch;
  int value;
  size_t width;
  size_t height;
  cudaStream_t stream;
};

// For device memory this is asynchronous even in the functions without a stream argument.
cudaError_t Enqueue(Call& call, const Fill& fill) {
  if (fill.width == 0 || fill.height == 0) return cudaSuccess;
  if (fill.height > 1 && fill.pitch < fill.width) return call.Return(cudaErrorInvalidValue);
  const StreamP stream = Resolve(fill.stream);
  if (!stream) return call.Return(cudaErrorInvalidResourceHandle);
  uintptr_t begin = 0;
  const Block* block = FindBlock(fill.ptr, &begin);
  if (block == nullptr) return call.Return(cudaErrorInvalidValue);
  const size_t offset = reinterpret_cast<uintptr_t>(fill.ptr) - begin;
  const size_t extent = (fill.height - 1) * fill.pitch + fill.width;
  if (offset + extent > block->bytes) return call.Return(cudaErrorInvalidValue);
  Work work{.name = "memset", .type = cudaGraphNodeTypeMemset};
  if (block->kind == BlockKind::kDevice) work.devices = DeviceSet{1} << block->device;
  work.run = [fill] {
    Shown shown;
    for (size_t row = 0; row < fill.height; ++row) {
      memset(static_cast<char*>(fill.ptr) + row * fill.pitch, fill.value, fill.width);
    }
    return cudaSuccess;
  };
  const bool host = block->kind == BlockKind::kPinned || block->kind == BlockKind::kRegistered;
  OpP op;
  const cudaError_t error = Submit(stream, std::move(work), &op);
  if (error != cudaSuccess) return call.Return(error);
  return host && op ? call.WaitFor({op}, stream->device) : cudaSuccess;
}

}  // namespace

extern "C" {

cudaError_t cudaMemset(void* ptr, int value, size_t bytes) {
  FAKECUDA_CALL(kPlain);
  return Enqueue(call, {ptr, bytes, value, bytes, 1, nullptr});
}

cudaError_t cudaMemsetAsync(void* ptr, int value, size_t bytes, cudaStream_t stream) {
  FAKECUDA_CALL(kPlain);
  return Enqueue(call, {ptr, bytes, value, bytes, 1, stream});
}

cudaError_t cudaMemset2D(void* ptr, size_t pitch, int value, size_t width, size_t height) {
  FAKECUDA_CALL(kPlain);
  return Enqueue(call, {ptr, pitch, value, width, height, nullptr});
}

cudaError_t cudaMemset2DAsync(void* ptr, size_t pitch, int value, size_t width, size_t height,
                              cudaStream_t stream) {
  FAKECUDA_CALL(kPlain);
  return Enqueue(call, {ptr, pitch, value, width, height, stream});
}

}  // extern "C"
