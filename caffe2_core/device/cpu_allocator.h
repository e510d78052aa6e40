#pragma once
// CPUAllocator: the replaceable allocator of CPU memory.

#include <cstddef>
#include <utility>

#include "caffe2_core/device/memory.h"

#pragma GCC visibility push(default)
namespace caffe2rt {

// Implementations must be thread safe. New never returns null for nbytes > 0: it THROWS
// EnforceNotMet that states the requested bytes, the bytes in use, the limit and the peak.
class CPUAllocator {
 public:
  virtual ~CPUAllocator() = default;
  virtual std::pair<void*, MemoryDeleter> New(size_t nbytes) = 0;
  // A deleter without state for memory of this allocator, used for memory whose own deleter is not
  // known.
  virtual MemoryDeleter GetDeleter() = 0;
};

// The CPU allocator of the process. contexts/cpu installs DefaultCPUAllocator on first use.
CPUAllocator* GetCPUAllocator();

// Replaces the CPU allocator and takes ownership of `allocator`. Memory that was allocated earlier
// keeps its deleter; the old allocator is not destroyed.
void SetCPUAllocator(CPUAllocator* allocator);

}  // namespace caffe2rt
#pragma GCC visibility pop
