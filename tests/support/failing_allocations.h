#pragma once
// Makes allocations fail, to prove that a failure leaks nothing and corrupts nothing.
//
//   {
//     const FailingAllocations failing(n, FailingAllocations::Mode::kOne);
//     Act();                         // its n-th allocation fails
//     if (failing.asked() <= n) ...  // fewer than n + 1 allocations: all have been tried
//   }
//
// Any operator new of the process may fail, and so may tensor memory if the test sets a CPU
// allocator that calls AllocationFails (allocation_sweep.h). In builds without sanitizers malloc,
// calloc, realloc and the aligned functions fail too, whether the library, libpng, libjpeg, zlib or
// LMDB calls them. Allocations of libdnnl and libgomp never fail, nor do calls of malloc by the C
// and C++ libraries.
//
// The replaced functions are in allocation_counter.cc; under ASAN they are in failing_new.cc, which
// a test program adds to its sources. Under TSAN they cannot be replaced.

#include <cstdint>

namespace caffe2rt::test {

class FailingAllocations {
 public:
  enum class Mode {
    kOne,   // allocation number `first` fails, counted from 0
    kFrom,  // allocation number `first` and all later ones fail
  };
  FailingAllocations(int64_t first, Mode mode);
  ~FailingAllocations();
  FailingAllocations(const FailingAllocations&) = delete;
  FailingAllocations& operator=(const FailingAllocations&) = delete;
  // The number of allocations of all threads since construction, including failed ones.
  int64_t asked() const;
};

// Counts an allocation and returns whether it must fail. `caller` is the address of the calling
// code, or null. `from_malloc` is true for malloc and similar functions, false for operator new.
bool AllocationFails(const void* caller, bool from_malloc);

}  // namespace caffe2rt::test
