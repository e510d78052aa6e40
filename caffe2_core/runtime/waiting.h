#pragma once
// For operators that wait for other threads, such as the operators of queues. A thread that waits
// must end when its run is stopped: when the process receives SIGINT, or when a concurrent step of
// the plan has failed. While it waits, the reporters of the plan (plan_reporters.h) may run. A loop
// that may have any number of iterations calls ThrowIfStopped in each of them.
//
//   while (true) {
//     {
//       const MutexLock lock(mutex_);
//       if (TryTake()) return true;
//     }
//     const WaitingThread waiting;          // holds no lock here
//     WaitForChange(kLongestWait);          // returns after that time at the latest
//     ThrowIfStopped();
//   }

#include <chrono>
#include <functional>

#include "caffe2_core/base/enforce.h"

#pragma GCC visibility push(default)
namespace caffe2rt {

// A thread must call ThrowIfStopped this often while it waits.
inline constexpr std::chrono::milliseconds kLongestWait{20};

// Thrown by operators that were waiting or looping when their run was stopped.
class RunStopped : public EnforceNotMet {
 public:
  using EnforceNotMet::EnforceNotMet;
};

// While it exists, the thread that created it belongs to a run that `is_stopped` describes, and to
// the run of `outer`. Objects of a thread are destroyed in reverse order of construction.
class StopScope {
 public:
  // `is_stopped` must be thread safe. `outer` is the innermost scope of the calling thread, or that
  // of the thread that started it; it must outlive this object, and may be null.
  explicit StopScope(std::function<bool()> is_stopped, const StopScope* outer = Innermost());
  ~StopScope();
  StopScope(const StopScope&) = delete;
  StopScope& operator=(const StopScope&) = delete;

  // The innermost scope of the calling thread, or null.
  static const StopScope* Innermost();

 private:
  friend void ThrowIfStopped();

  const std::function<bool()> is_stopped_;
  const StopScope* const outer_;
  const StopScope* const before_;  // the innermost scope of the thread before this one
};

// THROWS RunStopped if the run of a scope of the calling thread, or of a scope around it, is
// stopped.
void ThrowIfStopped();

// Unlocks the locks that the calling thread holds against reporters (plan_reporters.h), if any, and
// locks them again in the destructor. In between, the thread must not access blobs. Defined in
// plan_reporters.cc.
class WaitingThread {
 public:
  WaitingThread();
  ~WaitingThread();
  WaitingThread(const WaitingThread&) = delete;
  WaitingThread& operator=(const WaitingThread&) = delete;
};

}  // namespace caffe2rt
#pragma GCC visibility pop
