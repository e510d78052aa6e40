#pragma once
// A thread pool with a queue of tasks.
#include <algorithm>
#include <condition_variable>
#include <fstream>
#include <functional>
#include <iomanip>
#include <map>
#include <memory>
#include <mutex>
#include <queue>
#include <set>
#include <thread>
#include <vector>

#include "caffe2_core/base/condition_variable.h"
#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/mutex.h"

namespace c10 {

// Tasks start in the order in which they were added, on any worker. waitWorkComplete rethrows an
// exception of a task.
class ThreadPool {
 public:
  explicit ThreadPool(int pool_size, int /*numa_node_id*/ = -1) {
    CAFFE_ENFORCE(pool_size >= 1 && pool_size <= 1024, "thread pool has ", pool_size,
                  " threads, want 1 to 1024");
    for (int i = 0; i < pool_size; ++i)
      threads_.emplace_back([this, i] { Work(static_cast<size_t>(i)); });
  }
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;
  virtual ~ThreadPool() {
    {
      const ::caffe2rt::MutexLock lock(mutex_);
      stop_ = true;
    }
    changed_.NotifyAll();
    for (std::thread& thread : threads_) thread.join();
  }

  size_t size() const { return threads_.size(); }
  size_t numAvailable() const {
    const ::caffe2rt::MutexLock lock(mutex_);
    return threads_.size() - busy_;
  }
  virtual void run(std::function<void()> task) {
    runTaskWithID([task = std::move(task)](size_t) { task(); });
  }
  template <class Task>
  void runTask(Task task) {
    run([task]() mutable { task(); });
  }
  template <class Task>
  void runTaskWithID(Task task) {
    {
      const ::caffe2rt::MutexLock lock(mutex_);
      tasks_.push(std::function<void(size_t)>(std::move(task)));
    }
    changed_.NotifyAll();
  }
  void waitWorkComplete() {
    const ::caffe2rt::MutexLock lock(mutex_);
    while (!tasks_.empty() || busy_ > 0) changed_.Wait(mutex_);
    if (error_ != nullptr) std::rethrow_exception(std::exchange(error_, nullptr));
  }

 private:
  void Work(size_t id) {
    const ::caffe2rt::MutexLock lock(mutex_);
    while (true) {
      while (!stop_ && tasks_.empty()) changed_.Wait(mutex_);
      if (tasks_.empty()) return;
      std::function<void(size_t)> task = std::move(tasks_.front());
      tasks_.pop();
      ++busy_;
      std::exception_ptr error;
      {
        const ::caffe2rt::MutexUnlock unlocked(mutex_);
        try {
          task(id);
        } catch (...) {
          error = std::current_exception();
        }
      }
      --busy_;
      if (error != nullptr && error_ == nullptr) error_ = error;
      changed_.NotifyAll();
    }
  }

  mutable ::caffe2rt::Mutex mutex_;
  ::caffe2rt::ConditionVariable changed_;
  std::queue<std::function<void(size_t)>> tasks_ ABSL_GUARDED_BY(mutex_);
  size_t busy_ ABSL_GUARDED_BY(mutex_) = 0;
  bool stop_ ABSL_GUARDED_BY(mutex_) = false;
  std::exception_ptr error_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::thread> threads_;
};

class TaskThreadPool : public ThreadPool {
 public:
  using ThreadPool::ThreadPool;
};

}  // namespace c10
