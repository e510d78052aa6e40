#pragma once

// The implementation of all copy functions.

#include "cudart/world.h"

namespace fakecuda {

struct Rect {
  size_t width = 0;  // bytes of a row
  size_t rows = 0;
};

// The source or the destination of a copy. Without the world's mutex only `ptr`, `pitch` and
// `device` remain valid.
struct Side {
  char* ptr = nullptr;
  size_t pitch = 0;
  const Block* block = nullptr;  // null: pageable host memory
  size_t offset = 0;             // of `ptr` in the block
  bool dead = false;             // an address of a device, but in no live allocation
  int device = 0;

  bool on_device() const { return block != nullptr && block->kind == BlockKind::kDevice; }
  bool managed() const { return block != nullptr && block->kind == BlockKind::kManaged; }
  bool pageable() const { return block == nullptr; }
};

struct CopyArguments {
  void* to;
  size_t to_pitch;
  const void* from;
  size_t from_pitch;
  Rect rect;
  cudaMemcpyKind kind;
  cudaStream_t stream;
  bool async;
};

// Checks the arguments and enqueues the copy. As CUDA documents, the pageable source of a copy to a
// device may be changed once the call returns (the fake keeps a copy), even of a synchronous one,
// which waits for the work before it but may return before the copy has ended; a copy from a device
// to pageable memory is complete when the call returns, and copies within a device do not block the
// host.
cudaError_t Copy(Call& call, const CopyArguments& arguments);

}  // namespace fakecuda
