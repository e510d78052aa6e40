#pragma once
// CPU memory: the default allocator, the reporter and NUMA placement.
//
// NewCPUMemory is what CPUContext::New gives: memory of GetCPUAllocator(), counted against the
// limit (caffe2_core/base/memory_budget.h), filled as the options say, reported when asked. All
// thread safe; the options are set before memory is taken.

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <unordered_map>
#include <utility>

#include "caffe2_core/base/memory_budget.h"
#include "caffe2_core/device/cpu_allocator.h"
#include "caffe2_core/device/memory.h"

namespace caffe2rt {

inline constexpr size_t kCPUAlignment = 64;

// 64-byte aligned memory of the C library.
class DefaultCPUAllocator final : public CPUAllocator {
 public:
  std::pair<void*, MemoryDeleter> New(size_t nbytes) override;
  MemoryDeleter GetDeleter() override;
};

// Bytes in use by pointer; logs a line per event at verbosity 1.
class MemoryAllocationReporter {
 public:
  void New(void* pointer, size_t nbytes);
  // THROWS when the pointer is not known.
  void Delete(void* pointer);
  size_t allocated() const;
  size_t peak() const;

 private:
  mutable std::mutex mutex_;
  std::unordered_map<void*, size_t> sizes_;
  size_t allocated_ = 0;
  size_t peak_ = 0;
};

// THROWS OutOfMemory beyond the limit and when the system has no memory left, and then counts
// nothing.
std::pair<void*, MemoryDeleter> NewCPUMemory(size_t nbytes);

}  // namespace caffe2rt
