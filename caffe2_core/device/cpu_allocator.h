#pragma once
// The replaceable source of CPU memory.

#include <cstddef>
#include <utility>

#include "caffe2_core/device/memory.h"

namespace caffe2rt {

// Thread safe. New never returns null for nbytes > 0: it THROWS EnforceNotMet naming asked, in use,
// limit and peak.
class CPUAllocator {
 public:
  virtual ~CPUAllocator() = default;
  virtual std::pair<void*, MemoryDeleter> New(size_t nbytes) = 0;
  // The plain deleter of this allocator's memory, for memory taken over without its own deleter.
  virtual MemoryDeleter GetDeleter() = 0;
};

// The process's CPU allocator; contexts/cpu installs DefaultCPUAllocator on first use.
CPUAllocator* GetCPUAllocator();

// Replaces it and takes ownership. Memory given before keeps its own deleter, and the replaced
// allocator is kept alive.
void SetCPUAllocator(CPUAllocator* allocator);

}  // namespace caffe2rt
