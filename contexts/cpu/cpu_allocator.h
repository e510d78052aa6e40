#pragma once
// CPU memory: the default allocator, the limit, the reporter and NUMA placement.
//
// NewCPUMemory is what CPUContext::New gives: memory of GetCPUAllocator(), counted against the
// limit, filled as the options say, reported when asked. All thread safe; the options are set
// before memory is taken.

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <unordered_map>
#include <utility>

#include "caffe2_core/device/cpu_allocator.h"
#include "caffe2_core/device/memory.h"

namespace caffe2rt {

inline constexpr size_t kCPUAlignment = 64;

enum class CPUMemoryFill {
  kZero,  // models rely on it, and nothing old leaks to a hostile net
  kJunk,  // a pattern of signalling NaNs, to find reads of memory nobody wrote
  kNone,
};

struct CPUMemoryOptions {
  // What new memory holds. `caffe2_cpu_allocator_do_zero_fill`.
  CPUMemoryFill fill = CPUMemoryFill::kZero;
  // Bytes in use at once beyond which New fails; 0: half of the machine's memory.
  size_t limit_bytes = 0;
  // Log each allocation and release with the running total at verbosity 1.
  // `caffe2_report_cpu_memory_usage`.
  bool report_usage = false;
  // Bind new memory to the thread's NUMA node. `caffe2_cpu_numa_enabled`.
  bool numa_enabled = false;
};
// Read when memory is taken; memory keeps the way to free it that it was given.
CPUMemoryOptions& GlobalCPUMemoryOptions();

struct CPUMemoryUsage {
  size_t in_use_bytes = 0;
  size_t peak_bytes = 0;
  size_t limit_bytes = 0;
};
CPUMemoryUsage GetCPUMemoryUsage();
void ResetCPUMemoryPeak();

// Counts `nbytes` against the limit without taking memory (for memory held by libraries on our
// behalf). THROWS beyond it.
void ReserveCPUBytes(size_t nbytes);
void ReleaseCPUBytes(size_t nbytes);

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

std::pair<void*, MemoryDeleter> NewCPUMemory(size_t nbytes);

}  // namespace caffe2rt
