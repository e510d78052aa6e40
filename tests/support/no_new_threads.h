#pragma once
// Lets the system refuse new threads, in this process and while the object lives.

#include <gtest/gtest.h>
#include <pthread.h>

#include <cstddef>

namespace caffe2rt::test {

// Threads get stacks of a size that no address space has: std::thread throws std::system_error. Threads
// that run go on.
class NoNewThreads {
 public:
  NoNewThreads() {
    EXPECT_EQ(pthread_getattr_default_np(&before_), 0);
    pthread_attr_t large = before_;
    EXPECT_EQ(pthread_attr_setstacksize(&large, size_t{1} << 60), 0);
    EXPECT_EQ(pthread_setattr_default_np(&large), 0);
  }
  ~NoNewThreads() {
    EXPECT_EQ(pthread_setattr_default_np(&before_), 0);
    pthread_attr_destroy(&before_);
  }
  NoNewThreads(const NoNewThreads&) = delete;
  NoNewThreads& operator=(const NoNewThreads&) = delete;

 private:
  pthread_attr_t before_;
};

}  // namespace caffe2rt::test
