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

#pragma GCC visibility push(default)
namespace caffe2rt {

// A std::condition_variable for Mutex. All threads that wait at the same time must use the same
// mutex.
class ConditionVariable {
 public:
  // Releases the mutex, waits for a notification and acquires the mutex again. May also return
  // without a notification, so call it in a loop that tests the condition.
  void Wait(Mutex& mutex) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex) {
    Held held(mutex.mutex_);
    changed_.wait(held.lock);
  }
  // The same, but waits until `deadline` at most. Returns false if the deadline has passed.
  bool WaitUntil(Mutex& mutex, std::chrono::steady_clock::time_point deadline)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex) {
    Held held(mutex.mutex_);
    return changed_.wait_until(held.lock, deadline) == std::cv_status::no_timeout;
  }

  void NotifyOne() { changed_.notify_one(); }
  void NotifyAll() { changed_.notify_all(); }

 private:
  // A lock of a mutex that the caller holds before and after.
  struct Held {
    explicit Held(std::mutex& mutex) : lock(mutex, std::adopt_lock) {}
    ~Held() { lock.release(); }
    Held(const Held&) = delete;
    Held& operator=(const Held&) = delete;
    std::unique_lock<std::mutex> lock;
  };

  std::condition_variable changed_;
};

}  // namespace caffe2rt
#pragma GCC visibility pop
