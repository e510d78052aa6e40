#pragma once
// Counts the heap allocations and the lock acquisitions of the calling thread, to prove that a warm
// run makes neither.
//
//   net->Run();
//   net->Run();
//   AllocationCounter counter;
//   net->Run();
//   EXPECT_EQ(counter.Counts().allocations, 0);
//   EXPECT_EQ(counter.Counts().locks, 0);
//
// The program's malloc, operator new, pthread_mutex_lock and pthread_rwlock functions are replaced
// by counting ones. Calls made by libdnnl and libgomp themselves are counted separately. Builds
// with sanitizers, which replace the same functions, count nothing; check kCounts. Counts are per
// thread.

#include <cstdint>

namespace caffe2rt::test {

struct AllocationCounts {
  int64_t allocations = 0;   // malloc, calloc, realloc, aligned allocation and operator new
  int64_t locks = 0;         // mutexes and readers-writer locks
  int64_t in_libraries = 0;  // both of the above, called by libdnnl or libgomp
};

class AllocationCounter {
 public:
  static const bool kCounts;
  // Starts counting.
  AllocationCounter();
  // The counts of the calling thread since construction.
  AllocationCounts Counts() const;

 private:
  AllocationCounts start_;
};

}  // namespace caffe2rt::test
