#pragma once
// PrefetchOperator: a base class for operators that read ahead on their own thread.
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>

#include "caffe2/core/context.h"
#include "caffe2/core/operator.h"
#include "caffe2_core/base/condition_variable.h"
#include "caffe2_core/base/mutex.h"

namespace caffe2 {

// Prefetch runs on the operator's thread, one step ahead; CopyPrefetched runs on the caller's
// thread. A derived class must call Finalize in its destructor, because the thread uses members of
// the derived class. If Prefetch throws, the run that would have used its result rethrows the
// exception.
template <class Context>
class PrefetchOperator : public OperatorBase {
 public:
  PrefetchOperator(const OperatorDef& def, Workspace* ws)
      : OperatorBase(def, ws), context_(def.device_option()) {
    context_.SwitchToDevice(0);
  }
  ~PrefetchOperator() noexcept override { Finalize(); }

  void Finalize() {
    if (prefetch_thread_ == nullptr) return;
    {
      const ::caffe2rt::MutexLock lock(mutex_);
      while (!prefetched_) changed_.Wait(mutex_);
      stop_ = true;
      prefetched_ = false;
    }
    changed_.NotifyAll();
    prefetch_thread_->join();
    prefetch_thread_.reset();
  }

  bool Enqueue(int stream_id) override {
    context_.SwitchToDevice(stream_id);
    const ::caffe2rt::MutexLock lock(mutex_);
    if (prefetch_thread_ == nullptr) {
      prefetched_ = false;
      prefetch_thread_ = std::make_unique<std::thread>([this] { Work(); });
    }
    while (!prefetched_) changed_.Wait(mutex_);
    if (error_ != nullptr) {
      const std::exception_ptr error = std::exchange(error_, nullptr);
      prefetched_ = false;
      changed_.NotifyAll();
      std::rethrow_exception(error);
    }
    const bool success = prefetch_success_ && CopyPrefetched();
    context_.FinishDeviceComputation();
    prefetched_ = false;
    changed_.NotifyAll();
    return success;
  }
  bool Run(int stream_id = 0) override {
    const bool observed = NumObservers() > 0;
    if (observed) StartAllObservers();
    const bool success = Enqueue(stream_id);
    if (observed) StopAllObservers();
    return success;
  }

  virtual bool Prefetch() = 0;
  virtual bool CopyPrefetched() = 0;

 protected:
  Context context_;
  std::unique_ptr<std::thread> prefetch_thread_;  // null before the first run and after Finalize
  std::mutex prefetch_access_mutex_;
  bool prefetched_ ABSL_GUARDED_BY(mutex_) = false;
  bool prefetch_success_ ABSL_GUARDED_BY(mutex_) = true;

 private:
  void Work() {
    context_.SwitchToDevice(0);
    const ::caffe2rt::MutexLock lock(mutex_);
    while (!stop_) {
      try {
        prefetch_success_ = Prefetch();
      } catch (...) {
        error_ = std::current_exception();
      }
      prefetched_ = true;
      changed_.NotifyAll();
      while (prefetched_) changed_.Wait(mutex_);
    }
  }

  ::caffe2rt::Mutex mutex_;
  ::caffe2rt::ConditionVariable changed_;
  bool stop_ ABSL_GUARDED_BY(mutex_) = false;
  std::exception_ptr error_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace caffe2
