#pragma once
// The budget of CPU memory: how much may be in use at once, and what happens beyond.
//
//   GlobalCPUMemoryOptions().limit_bytes = size_t{1} << 30;
//   const CPUMemoryReservation scratch(bytes_of_a_c_library);   // THROWS OutOfMemory beyond it
//
// What counts in every program: the memory of CPU tensors (contexts/cpu/cpu_allocator.h) and what
// was reserved. In programs that link counted_new.cc (`caffe2`, the fuzzer, the oracle) every
// operator new counts too, with the block's real size: strings, protos, nets, plans, containers,
// and those of libstdc++, protobuf and LevelDB. In other programs the characters of strings, parsed
// protos and nets do not count; link the object library caffe2rt::counted_new to count them.
// What never counts: mapped files (LMDB), stacks of threads, code, and what C libraries and oneDNN
// take from malloc, unless a reservation stands for it.
//
// All functions are thread safe. A charge costs one atomic operation on one cache line.

#include <cstddef>

#include "caffe2_core/base/enforce.h"

namespace caffe2rt {

enum class CPUMemoryFill {
  kZero,  // models rely on it, and nothing old leaks to a hostile net
  kJunk,  // a pattern of signalling NaNs, to find reads of memory nobody wrote
  kNone,
};

struct CPUMemoryOptions {
  // What new memory of tensors holds. `caffe2_cpu_allocator_do_zero_fill`.
  CPUMemoryFill fill = CPUMemoryFill::kZero;
  // Bytes in use at once beyond which memory is refused; 0: half of the machine's memory.
  size_t limit_bytes = 0;
  // Log each allocation and release of tensors with the running total at verbosity 1.
  // `caffe2_report_cpu_memory_usage`.
  bool report_usage = false;
  // Bind new memory of tensors to the thread's NUMA node. `caffe2_cpu_numa_enabled`.
  bool numa_enabled = false;
};
// Read when memory is taken; set them before other threads start.
CPUMemoryOptions& GlobalCPUMemoryOptions();

struct CPUMemoryUsage {
  size_t in_use_bytes = 0;
  size_t peak_bytes = 0;
  size_t limit_bytes = 0;
};
CPUMemoryUsage GetCPUMemoryUsage();
void ResetCPUMemoryPeak();

// Counts `nbytes` against the limit without taking memory. THROWS OutOfMemory beyond it, and then
// counts nothing.
void ReserveCPUBytes(size_t nbytes);
void ReleaseCPUBytes(size_t nbytes) noexcept;
// The same; false in place of the error. Up to `headroom_bytes` more than the limit may be in use.
[[nodiscard]] bool TryReserveCPUBytes(size_t nbytes, size_t headroom_bytes = 0) noexcept;
// THROWS OutOfMemory when `nbytes` more would be beyond the limit. Counts nothing: for memory that
// is taken, and counted, right afterwards.
void CheckCPUBytes(size_t nbytes);

// Bytes reserved while it lives: for the memory of a C library.
class CPUMemoryReservation {
 public:
  explicit CPUMemoryReservation(size_t nbytes) : nbytes_(nbytes) { ReserveCPUBytes(nbytes); }
  ~CPUMemoryReservation() { ReleaseCPUBytes(nbytes_); }
  CPUMemoryReservation(const CPUMemoryReservation&) = delete;
  CPUMemoryReservation& operator=(const CPUMemoryReservation&) = delete;

 private:
  const size_t nbytes_;
};

// The error for a std::bad_alloc, with use, limit and peak. Can be made and thrown when no memory
// is left; the text is short then.
OutOfMemory OutOfMemoryNow() noexcept;

// For the function-try-blocks of public functions, which throw EnforceNotMet alone:
//
//   void LoadProto(...) try {
//     ...
//   } catch (const std::bad_alloc&) {
//     ThrowOutOfMemory();
//   }
[[noreturn]] void ThrowOutOfMemory();

}  // namespace caffe2rt
