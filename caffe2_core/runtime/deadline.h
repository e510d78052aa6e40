#pragma once
// Runs with a limit on their time.
//
//   RunWithin(std::chrono::milliseconds(50), [&] { return net->Run(); });
//   RunWithin(std::chrono::seconds(1), [&] { return predictor(inputs, &outputs); });
//
// A run that has not ended after that time is stopped, as NetBase::Cancel does: no operator starts any
// more, and operators that wait or loop end. An operator that computes is awaited.

#include <chrono>
#include <string>

#include "caffe2_core/runtime/waiting.h"

#pragma GCC visibility push(default)
namespace caffe2rt {

// The run was stopped because its time was over.
class DeadlineExceeded : public RunStopped {
 public:
  explicit DeadlineExceeded(const RunStopped& stopped) : RunStopped(stopped) {}
};

// While it exists, the runs of the thread that created it have until then. Scopes may be nested; the
// earliest end counts. Allocates nothing.
class DeadlineScope {
 public:
  using Clock = std::chrono::steady_clock;
  // A limit of 0 or less is over at once.
  explicit DeadlineScope(std::chrono::nanoseconds limit);
  DeadlineScope(const DeadlineScope&) = delete;
  DeadlineScope& operator=(const DeadlineScope&) = delete;

  bool IsOver() const { return Clock::now() >= end_; }
  // THROWS DeadlineExceeded with a frame that states the limit, if it is over; otherwise rethrows the
  // exception. REQUIRES: called in a catch block.
  [[noreturn]] void Rethrow(const RunStopped& stopped) const;

 private:
  const std::chrono::nanoseconds limit_;
  const Clock::time_point end_;
  const StopScope scope_;
};

// Calls `run` and returns its result. THROWS DeadlineExceeded if it was stopped because it did not
// end within `limit`.
template <class Function>
auto RunWithin(std::chrono::nanoseconds limit, const Function& run) {
  const DeadlineScope scope(limit);
  try {
    return run();
  } catch (const RunStopped& stopped) {
    scope.Rethrow(stopped);
  }
}

}  // namespace caffe2rt
#pragma GCC visibility pop
