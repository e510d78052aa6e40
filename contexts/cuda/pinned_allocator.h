#pragma once
// Pinned memory of the host, which devices copy from and to in the background. Cached, because
// pinning and unpinning wait for every device.

#include <utility>

#include "caffe2_core/device/cpu_allocator.h"
#include "contexts/cuda/cuda_upstream.h"
#include "contexts/pool/pool.h"

namespace caffe2rt {

// The process's pool of pinned memory, and its numbers of streams: blocks are for
// CudaUpstream::kHostIndex, since the CPU writes them at once, and name the streams that copy them
// by RecordUse. Thread safe, never destroyed.
Pool& PinnedPool();
// Whether it was ever asked for.
bool PinnedPoolIsUsed();
CudaUpstream& PinnedUpstream();

// Memory for the CPU from the pool. When it is freed it waits, without holding anybody up, for all
// streams that have copied pinned memory since somebody waited for them: a copy of bytes does not
// say which block it reads. Thread safe.
class PinnedCPUAllocator final : public CPUAllocator {
 public:
  std::pair<void*, MemoryDeleter> New(size_t nbytes) override;
  // THROWS: memory of a pool has a deleter of its own.
  MemoryDeleter GetDeleter() override;
};

}  // namespace caffe2rt
