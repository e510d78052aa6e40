#pragma once
// The budget of CPU memory: a limit on the bytes in use at once.
//
//   GlobalCPUMemoryOptions().limit_bytes = size_t{1} << 30;
//   const CPUMemoryReservation scratch(bytes_of_a_c_library);   // THROWS OutOfMemory
//
// In every program, the memory of CPU tensors (contexts/cpu/cpu_allocator.h) and reservations count
// against the limit.
//
// In programs that link counted_new.cc (`caffe2`, the fuzzer, the oracle), every operator new
// counts too, with the real size of the block: strings, protos, nets, plans and containers,
// including those of libstdc++, protobuf and LevelDB. In other programs the contents of strings,
// parsed protos and nets do not count; link the object library caffe2rt::counted_new to count them.
//
// Mapped files (LMDB), thread stacks and code never count. Memory that C libraries and oneDNN
// allocate with malloc counts only if a reservation represents it.
//
// All functions are thread safe. Counting an allocation costs one atomic operation on one cache
// line.

#include <cstddef>

#include "caffe2_core/base/enforce.h"

#pragma GCC visibility push(default)
namespace caffe2rt {

enum class CPUMemoryFill {
  kZero,  // models rely on it, and a hostile net cannot read old data
  kJunk,  // a pattern of signaling NaNs, to find reads of uninitialized memory
  kNone,
};

struct CPUMemoryOptions {
  // The initial contents of new tensor memory. Flag `caffe2_cpu_allocator_do_zero_fill`.
  CPUMemoryFill fill = CPUMemoryFill::kZero;
  // The maximum number of bytes in use at once; an allocation that would exceed it fails. 0: half
  // of the machine's memory.
  size_t limit_bytes = 0;
  // Log each allocation and release of tensor memory at verbosity 1, with the bytes in use. Flag
  // `caffe2_report_cpu_memory_usage`.
  bool report_usage = false;
  // Bind new tensor memory to the thread's NUMA node. Flag `caffe2_cpu_numa_enabled`.
  bool numa_enabled = false;
};
// The options are read at each allocation. Set them before other threads start.
CPUMemoryOptions& GlobalCPUMemoryOptions();

struct CPUMemoryUsage {
  size_t in_use_bytes = 0;
  size_t peak_bytes = 0;
  size_t limit_bytes = 0;
};
CPUMemoryUsage GetCPUMemoryUsage();
// Sets the peak to the bytes in use now.
void ResetCPUMemoryPeak();

// Counts `nbytes` against the limit without allocating memory. THROWS OutOfMemory, and counts
// nothing, if the limit would be exceeded.
void ReserveCPUBytes(size_t nbytes);
void ReleaseCPUBytes(size_t nbytes) noexcept;
// The same, but returns false instead of throwing. The limit may be exceeded by `headroom_bytes`.
[[nodiscard]] bool TryReserveCPUBytes(size_t nbytes, size_t headroom_bytes = 0) noexcept;
// THROWS OutOfMemory if `nbytes` more would exceed the limit. Counts nothing; use it before memory
// is allocated that is then counted.
void CheckCPUBytes(size_t nbytes);

// Reserves bytes during its lifetime, on behalf of memory that a C library allocates.
class CPUMemoryReservation {
 public:
  explicit CPUMemoryReservation(size_t nbytes) : nbytes_(nbytes) { ReserveCPUBytes(nbytes); }
  ~CPUMemoryReservation() { ReleaseCPUBytes(nbytes_); }
  CPUMemoryReservation(const CPUMemoryReservation&) = delete;
  CPUMemoryReservation& operator=(const CPUMemoryReservation&) = delete;

 private:
  const size_t nbytes_;
};

// The error to throw for a std::bad_alloc. It states the bytes in use, the limit and the peak. It
// can be created and thrown even if no memory is left; its message is then shortened.
OutOfMemory OutOfMemoryNow() noexcept;

// THROWS OutOfMemoryNow(). Use it in the function-try-blocks of public functions, which may throw
// only EnforceNotMet:
//
//   void LoadProto(...) try {
//     ...
//   } catch (const std::bad_alloc&) {
//     ThrowOutOfMemory();
//   }
[[noreturn]] void ThrowOutOfMemory();

}  // namespace caffe2rt
#pragma GCC visibility pop
