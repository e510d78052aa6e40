#pragma once

// What all copies share.

#include "cudart/world.h"

namespace fakecuda {

struct Rect {
  size_t width = 0;  // bytes of a row
  size_t rows = 0;
};

// One end of a copy. Valid while the world's mutex is held; later only `ptr`, `pitch`, `device`.
struct Side {
  char* ptr = nullptr;
  size_t pitch = 0;
  const Block* block = nullptr;  // null: pageable host memory
  size_t offset = 0;             // of `ptr` in the block
  bool dead = false;             // an address of a device that no allocation holds
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

// Checks and enqueues. As CUDA documents it: the source of a pageable copy to a device may be
// changed when the call returns (the fake keeps a copy); a copy to pageable memory is over when the
// call returns; copies within a device do not make the host wait.
cudaError_t Copy(Call& call, const CopyArguments& arguments);

}  // namespace fakecuda
