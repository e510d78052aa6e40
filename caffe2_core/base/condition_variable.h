#pragma once
// ConditionVariable: lets threads wait for a change of the members that a Mutex guards.
//
//   const MutexLock lock(mutex_);
//   while (queue_.empty()) changed_.Wait(mutex_);   // a loop: see mutex.h on lambdas
//
//   const MutexLock lock(mutex_);
//   queue_.push_back(value);
//   changed_.NotifyOne();

#include <chrono>
#include <condition_variable>
#include <mutex>

#include "caffe2_core/base/mutex.h"

namespace caffe2rt {

// A std::condition_variable for Mutex. All threads that wait at the same time must use the same
// mutex.
class ConditionVariable {
 public:
  // Releases the mutex, waits for a notification and acquires the mutex again. May also return
  // without a notification, so call it in a loop that tests the condition.
  void Wait(Mutex& mutex) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex) {
    std::unique_lock<std::mutex> held(mutex.mutex_, std::adopt_lock);
    changed_.wait(held);
    held.release();
  }
  // The same, but waits until `deadline` at most. Returns false if the deadline has passed.
  bool WaitUntil(Mutex& mutex, std::chrono::steady_clock::time_point deadline)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex) {
    std::unique_lock<std::mutex> held(mutex.mutex_, std::adopt_lock);
    const std::cv_status status = changed_.wait_until(held, deadline);
    held.release();
    return status == std::cv_status::no_timeout;
  }

  void NotifyOne() { changed_.notify_one(); }
  void NotifyAll() { changed_.notify_all(); }

 private:
  std::condition_variable changed_;
};

}  // namespace caffe2rt
