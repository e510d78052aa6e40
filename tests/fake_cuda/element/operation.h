#pragma once

// Used by the fake libraries to check memory and to run as operations of a stream.

#include <cstdio>
#include <functional>
#include <utility>

#include "fake_cuda/fake_cuda.h"

namespace fakecuda {

// Runs `work` in stream order, with the device's memory open.
inline cudaError_t Enqueue(cudaStream_t stream, const char* name, std::function<void()> work) {
  using Function = std::function<void()>;
  return fakecuda_enqueue_host(
      stream, name, [](void* self) { (*static_cast<Function*>(self))(); },
      new Function(std::move(work)), [](void* self) { delete static_cast<Function*>(self); });
}

// Begins a function of a library. Returns false if a test injected a failure.
inline bool Begin(const char* function) { return fakecuda_library_call(function) == cudaSuccess; }

// Allocates the memory that a handle of a library keeps on the current device ("handle_bytes").
inline bool AllocateForHandle(void** memory) {
  const long least = fakecuda_get("allocation_waits", 0) != 0 ? 512 : 0;
  const long bytes = fakecuda_get("handle_bytes", least);
  return bytes <= 0 || cudaMalloc(memory, static_cast<size_t>(bytes)) == cudaSuccess;
}

// Whether [ptr, ptr + bytes) lies in one allocation that the current device can access. If not,
// prints the reason to stderr; NVIDIA's libraries would access invalid memory.
inline bool CheckRange(const char* function, const char* what, const void* ptr, size_t bytes) {
  int device = 0;
  if (cudaGetDevice(&device) != cudaSuccess) return false;
  const char* wrong = fakecuda_check_range(ptr, bytes, device);
  if (wrong == nullptr) return true;
  fprintf(stderr, "[fakecuda] %s: %s: %s\n", function, what, wrong);
  return false;
}

}  // namespace fakecuda
