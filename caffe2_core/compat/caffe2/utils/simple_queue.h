#pragma once
// SimpleQueue: an unbounded queue between threads. Thread safe.
#include <condition_variable>
#include <mutex>
#include <queue>

#include "caffe2/core/logging.h"
#include "caffe2_core/base/condition_variable.h"
#include "caffe2_core/base/mutex.h"

namespace caffe2 {

template <class T>
class SimpleQueue {
 public:
  SimpleQueue() = default;
  SimpleQueue(const SimpleQueue&) = delete;
  SimpleQueue& operator=(const SimpleQueue&) = delete;

  // Waits for an element. Returns false if the queue is empty and NoMoreJobs was called.
  bool Pop(T* value) {
    const ::caffe2rt::MutexLock lock(mutex_);
    while (queue_.empty() && !closed_) changed_.Wait(mutex_);
    if (queue_.empty()) return false;
    *value = std::move(queue_.front());
    queue_.pop();
    return true;
  }
  int size() {
    const ::caffe2rt::MutexLock lock(mutex_);
    return static_cast<int>(queue_.size());
  }
  void Push(const T& value) {
    {
      const ::caffe2rt::MutexLock lock(mutex_);
      CAFFE_ENFORCE(!closed_, "cannot push to a closed queue");
      queue_.push(value);
    }
    changed_.NotifyOne();
  }
  void NoMoreJobs() {
    {
      const ::caffe2rt::MutexLock lock(mutex_);
      closed_ = true;
    }
    changed_.NotifyAll();
  }

 private:
  ::caffe2rt::Mutex mutex_;
  ::caffe2rt::ConditionVariable changed_;
  std::queue<T> queue_ ABSL_GUARDED_BY(mutex_);
  bool closed_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace caffe2
