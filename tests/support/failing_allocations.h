#pragma once
// Makes allocations fail, to prove that nothing leaks and nothing breaks then.
//
//   {
//     const FailingAllocations failing(n, FailingAllocations::Mode::kOne);
//     Act();                            // its n-th allocation fails
//     if (failing.asked() <= n) ...     // there was none: every one has been tried
//   }
//
// Every operator new of the process fails, and memory of tensors (as an allocator that a test sets
// may ask AllocationFails). In builds without sanitizers also malloc and its kin fail, when the
// library calls them or libpng, libjpeg, zlib or LMDB do. What libdnnl, libgomp and the C and C++
// libraries ask for themselves never fails.
//
// Part of allocation_counter.cc; under ASAN, failing_new.cc, which a test program adds to its
// sources. TSAN lets nobody replace the functions.

#include <cstdint>

namespace caffe2rt::test {

class FailingAllocations {
 public:
  enum class Mode {
    kOne,   // the one numbered `first`, from 0
    kFrom,  // that one and all later ones
  };
  FailingAllocations(int64_t first, Mode mode);
  ~FailingAllocations();
  FailingAllocations(const FailingAllocations&) = delete;
  FailingAllocations& operator=(const FailingAllocations&) = delete;
  // Allocations of all threads since, failed ones included.
  int64_t asked() const;
};

// Whether the allocation that `caller` (an address of code, or null) asks for now is to fail, of
// malloc or of operator new.
bool AllocationFails(const void* caller, bool from_malloc);

}  // namespace caffe2rt::test
