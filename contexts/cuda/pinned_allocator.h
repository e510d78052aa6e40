#pragma once
// Pinned host memory, which devices copy asynchronously. It is cached, because pinning and
// unpinning wait for every device.

#include <utility>

#include "caffe2_core/device/cpu_allocator.h"
#include "contexts/cuda/cuda_upstream.h"
#include "contexts/pool/pool.h"

#pragma GCC visibility push(default)
namespace caffe2rt {

// The process's pool of pinned memory, and the upstream that numbers its streams. The home of its
// blocks is CudaUpstream::kHostIndex, because the CPU may write them at once; streams that copy a
// block are declared by RecordUse. Thread safe, never destroyed.
Pool& PinnedPool();
// Whether the pool has been created.
bool PinnedPoolIsUsed();
CudaUpstream& PinnedUpstream();

// CPU memory from that pool. A freed block is reused only when all streams that may still copy
// pinned memory have finished their work so far, because a copy does not record which block it
// uses. Freeing does not block. Thread safe.
class PinnedCPUAllocator final : public CPUAllocator {
 public:
  std::pair<void*, MemoryDeleter> New(size_t nbytes) override;
  // Always THROWS: each block of a pool has its own deleter.
  MemoryDeleter GetDeleter() override;
};

}  // namespace caffe2rt
#pragma GCC visibility pop
