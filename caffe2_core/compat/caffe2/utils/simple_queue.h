#pragma once
// SimpleQueue: an unbounded queue between threads. Thread safe.
#include <condition_variable>
#include <mutex>
#include <queue>

#include "caffe2/core/logging.h"

namespace caffe2 {

template <class T>
class SimpleQueue {
 public:
  SimpleQueue() = default;
  SimpleQueue(const SimpleQueue&) = delete;
  SimpleQueue& operator=(const SimpleQueue&) = delete;

  // Waits for an element. Returns false if the queue is empty and NoMoreJobs was called.
  bool Pop(T* value) {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [this] { return !queue_.empty() || closed_; });
    if (queue_.empty()) return false;
    *value = std::move(queue_.front());
    queue_.pop();
    return true;
  }
  int size() {
    std::lock_guard<std::mutex> lock(mutex_);
    return static_cast<int>(queue_.size());
  }
  void Push(const T& value) {
    {
      std::lock_guard<std::mutex> lock(mutex_);
      CAFFE_ENFORCE(!closed_, "cannot push to a closed queue");
      queue_.push(value);
    }
    changed_.notify_one();
  }
  void NoMoreJobs() {
    {
      std::lock_guard<std::mutex> lock(mutex_);
      closed_ = true;
    }
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::queue<T> queue_;
  bool closed_ = false;
};

}  // namespace caffe2
