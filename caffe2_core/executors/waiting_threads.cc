#include "caffe2_core/executors/waiting_threads.h"

#include <unistd.h>

#include <new>
#include <system_error>
#include <utility>

#include "caffe2_core/base/enforce.h"

namespace caffe2rt {

WaitingThreads::WaitingThreads(std::function<void(uint32_t)> run, size_t most)
    : run_(std::move(run)), process_(getpid()) {
  tasks_.reserve(most);
  threads_.reserve(most);
}

WaitingThreads::~WaitingThreads() {
  std::vector<std::thread> threads;
  {
    const MutexLock lock(mutex_);
    ForgetThreadsOfParent();
    stop_ = true;
    threads.swap(threads_);
  }
  changed_.NotifyAll();
  for (std::thread& thread : threads) thread.join();
}

void WaitingThreads::ForgetThreadsOfParent() {
  if (process_ == getpid()) return;
  process_ = getpid();
  new std::vector<std::thread>(std::move(threads_));  // leaked: they cannot be joined
  threads_.clear();
  threads_.reserve(tasks_.capacity());
  idle_ = 0;
  // Here, waits of the parent's threads never end: they would take notifications, and hold up a destructor.
  new (&changed_) ConditionVariable();
}

void WaitingThreads::Start(uint32_t task) {
  const MutexLock lock(mutex_);
  ForgetThreadsOfParent();
  tasks_.push_back(task);
  if (idle_ >= tasks_.size()) {
    changed_.NotifyOne();
    return;
  }
  try {
    threads_.emplace_back([this] { Loop(); });
  } catch (const std::system_error& error) {
    tasks_.pop_back();
    CAFFE_THROW("cannot start a thread for an operator that waits: ", error.what());
  } catch (...) {  // out of memory
    tasks_.pop_back();
    throw;
  }
}

void WaitingThreads::Loop() {
  while (true) {
    uint32_t task = 0;
    {
      const MutexLock lock(mutex_);
      ++idle_;
      while (tasks_.empty() && !stop_) changed_.Wait(mutex_);
      --idle_;
      if (tasks_.empty()) return;
      task = tasks_.back();
      tasks_.pop_back();
    }
    run_(task);
  }
}

}  // namespace caffe2rt
