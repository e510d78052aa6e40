#pragma once
// WaitingThreads: threads for operators that wait for others, so that they occupy no thread of the
// pool. A thread is reused; there are as many as operators have waited at the same time.

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <thread>
#include <vector>

#include "caffe2_core/base/condition_variable.h"
#include "caffe2_core/base/mutex.h"

namespace caffe2rt {

// Thread safe.
class WaitingThreads {
 public:
  // `run` is called with each task and must not throw. `most` is the number of tasks that can be
  // under way at the same time.
  WaitingThreads(std::function<void(uint32_t)> run, size_t most);
  // Waits for the tasks.
  ~WaitingThreads();
  WaitingThreads(const WaitingThreads&) = delete;
  WaitingThreads& operator=(const WaitingThreads&) = delete;

  // Runs the task on a thread that has nothing to do, or on a new one. Allocates nothing in the
  // first case. THROWS if no thread can be started.
  void Start(uint32_t task);

 private:
  void Loop();
  void ForgetThreadsOfParent() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const std::function<void(uint32_t)> run_;
  Mutex mutex_;
  ConditionVariable changed_;
  std::vector<uint32_t> tasks_ ABSL_GUARDED_BY(mutex_);
  size_t idle_ ABSL_GUARDED_BY(mutex_) = 0;
  bool stop_ ABSL_GUARDED_BY(mutex_) = false;
  std::vector<std::thread> threads_ ABSL_GUARDED_BY(mutex_);
  pid_t process_ ABSL_GUARDED_BY(mutex_);  // after fork(), the threads exist only in the parent
};

}  // namespace caffe2rt
