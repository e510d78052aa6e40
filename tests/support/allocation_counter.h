#pragma once
// Counts what the calling thread takes from the heap and which locks it takes, to prove that a warm
// run takes none.
//
//   net->Run(); net->Run();
//   AllocationCounter counter;
//   net->Run();
//   EXPECT_EQ(counter.Counts().allocations, 0);
//   EXPECT_EQ(counter.Counts().locks, 0);
//
// The program's malloc, operator new, pthread_mutex_lock and pthread_rwlock functions are replaced
// by counting ones; what libdnnl and libgomp call themselves is counted apart. Builds with
// sanitizers, which replace the same functions, count nothing: ask kCounts. Each thread sees its
// own numbers.

#include <cstdint>

namespace caffe2rt::test {

struct AllocationCounts {
  int64_t allocations = 0;   // malloc, calloc, realloc, aligned forms and operator new
  int64_t locks = 0;         // mutexes and readers-writer locks
  int64_t in_libraries = 0;  // the same two, called by libdnnl or libgomp
};

class AllocationCounter {
 public:
#ifdef CAFFE2RT_SANITIZED
  static constexpr bool kCounts = false;
#else
  static constexpr bool kCounts = true;
#endif
  // Starts now.
  AllocationCounter();
  // Since then, on the calling thread.
  AllocationCounts Counts() const;

 private:
  AllocationCounts start_;
};

}  // namespace caffe2rt::test
