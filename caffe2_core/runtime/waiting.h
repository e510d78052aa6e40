#pragma once
// For operators that wait for other threads, such as the operators of queues. A thread that waits
// must end when its run is stopped: when the process receives SIGINT, when a concurrent step of the
// plan or a concurrent operator of the net has failed, or when the net is cancelled. Executors ask
// before each operator. While it waits, the reporters of the plan (plan_reporters.h) may run. A loop
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

#include <atomic>
#include <chrono>
#include <functional>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/thread_state.h"

#pragma GCC visibility push(default)
namespace caffe2rt {

// A thread must call ThrowIfStopped this often while it waits.
inline constexpr std::chrono::milliseconds kLongestWait{20};

// Thrown by operators that were waiting or looping when their run was stopped, and by executors that
// had operators left.
class RunStopped : public EnforceNotMet {
 public:
  using EnforceNotMet::EnforceNotMet;
};

// While it exists, the thread that created it belongs to a run that may be stopped, and to the run of
// `outer`. Objects of a thread are destroyed in reverse order of construction.
class StopScope {
 public:
  // What the stop of a run ends.
  enum class Ends {
    kOperators,  // those that wait or loop, and executors start no others
    // Those that wait or loop. Executors do not ask this scope, nor those around it: a reporter of a
    // plan runs to its end.
    kWaits,
  };

  // `is_stopped` must be thread safe. `outer` is the innermost scope of the calling thread, or that
  // of the thread that started it; it must outlive this object, and may be null.
  explicit StopScope(std::function<bool()> is_stopped, const StopScope* outer = Innermost(),
                     Ends ends = Ends::kOperators);
  // Stopped while the flag is true.
  explicit StopScope(const std::atomic<bool>& stopped);
  ~StopScope() { t_thread_state.stop_scope = before_; }
  StopScope(const StopScope&) = delete;
  StopScope& operator=(const StopScope&) = delete;

  // The innermost scope of the calling thread, or null.
  static const StopScope* Innermost() { return t_thread_state.stop_scope; }
  // Whether there is a scope around this one.
  bool has_outer() const { return outer_ != nullptr; }

 private:
  friend void ThrowIfStopped();
  friend void ThrowIfStoppedBetweenOperators();
  bool IsStopped() const {
    return flag_ != nullptr ? flag_->load(std::memory_order_relaxed) : is_stopped_ && is_stopped_();
  }

  const std::atomic<bool>* const flag_ = nullptr;  // null: is_stopped_ tells
  const std::function<bool()> is_stopped_;
  const Ends ends_ = Ends::kOperators;
  const StopScope* const outer_;
  const StopScope* const before_;  // the innermost scope of the thread before this one
};

// THROWS RunStopped if the run of a scope of the calling thread, or of a scope around it, is
// stopped.
void ThrowIfStopped();
// For executors, before each operator: the same, up to the first scope that ends only waits.
void ThrowIfStoppedBetweenOperators();
[[noreturn]] void ThrowStoppedBetweenOperators();

// What a thread holds against others while it runs nets, such as the locks against the reporters of
// a plan (plan_reporters.h). Objects of a thread are destroyed in reverse order of construction.
class Turn {
 public:
  // Let the others run, and wait until the thread may go on. Called in turns.
  virtual void GiveBack() = 0;
  virtual void TakeAgain() = 0;

 protected:
  Turn() : before_(t_thread_state.turn) { t_thread_state.turn = this; }
  ~Turn() { t_thread_state.turn = before_; }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;
  // The innermost object of the thread before this one, or null.
  Turn* before() const { return before_; }

 private:
  Turn* const before_;
};

// Gives the innermost turn of the calling thread back, if there is one, and takes it again in the
// destructor. In between, the thread must not access blobs.
class WaitingThread {
 public:
  WaitingThread();
  ~WaitingThread();
  WaitingThread(const WaitingThread&) = delete;
  WaitingThread& operator=(const WaitingThread&) = delete;
};

}  // namespace caffe2rt
#pragma GCC visibility pop
