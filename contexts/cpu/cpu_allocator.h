#pragma once
// CPU memory: the default allocator and the reporter.
//
// CPUContext::New calls NewCPUMemory: memory of GetCPUAllocator(), counted against the limit
// (caffe2_core/base/memory_budget.h), and filled, bound to a NUMA node and reported as the options
// require. All functions are thread safe. Set the options before memory is allocated.

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <utility>

#include "caffe2_core/base/memory_budget.h"
#include "caffe2_core/base/mutex.h"
#include "caffe2_core/device/cpu_allocator.h"
#include "caffe2_core/device/memory.h"

#pragma GCC visibility push(default)
namespace caffe2rt {

inline constexpr size_t kCPUAlignment = 64;

// Allocates 64-byte aligned memory from the C library.
class DefaultCPUAllocator final : public CPUAllocator {
 public:
  std::pair<void*, MemoryDeleter> New(size_t nbytes) override;
  MemoryDeleter GetDeleter() override;
};

// Tracks the size of each allocation by its pointer, and logs each event at verbosity 1. Thread
// safe.
class MemoryAllocationReporter {
 public:
  void New(void* pointer, size_t nbytes);
  // THROWS if the pointer was not reported by New.
  void Delete(void* pointer);
  size_t allocated() const;
  size_t peak() const;

 private:
  mutable Mutex mutex_;
  std::unordered_map<void*, size_t> sizes_ ABSL_GUARDED_BY(mutex_);
  size_t allocated_ ABSL_GUARDED_BY(mutex_) = 0;
  size_t peak_ ABSL_GUARDED_BY(mutex_) = 0;
};

// Allocates memory as described above. THROWS OutOfMemory if the limit is reached or the system is
// out of memory; the counters are then unchanged.
std::pair<void*, MemoryDeleter> NewCPUMemory(size_t nbytes);

}  // namespace caffe2rt
#pragma GCC visibility pop
