#pragma once
// SharedTurn: the turn (runtime/waiting.h) of a net whose chains run on several threads. It is given
// back while all chains that have started wait, and taken again before one of them goes on.

#include "caffe2_core/base/mutex.h"
#include "caffe2_core/runtime/waiting.h"

namespace caffe2rt {

// The turn of the thread that creates it, which holds it. Create it on the stack. Thread safe.
class SharedTurn final : public Turn {
 public:
  // A chain starts and ends.
  void Begin() {
    const MutexLock lock(mutex_);
    Resume();
    ++started_;
  }
  void End() {
    const MutexLock lock(mutex_);
    --started_;
    PauseIfAllWait();
  }

  void GiveBack() override {
    const MutexLock lock(mutex_);
    ++waiting_;
    PauseIfAllWait();
  }
  void TakeAgain() override {
    const MutexLock lock(mutex_);
    Resume();
    --waiting_;
  }

 private:
  void PauseIfAllWait() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    if (paused_ || waiting_ == 0 || waiting_ < started_) return;
    if (before() != nullptr) before()->GiveBack();
    paused_ = true;
  }
  void Resume() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    if (!paused_) return;
    if (before() != nullptr) before()->TakeAgain();
    paused_ = false;
  }

  Mutex mutex_;
  int started_ ABSL_GUARDED_BY(mutex_) = 0;
  int waiting_ ABSL_GUARDED_BY(mutex_) = 0;  // of those that have started
  bool paused_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace caffe2rt
