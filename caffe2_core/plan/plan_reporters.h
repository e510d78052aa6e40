#pragma once
// Reporters of plans. A reporter is a thread that runs a net or substep periodically while its step
// runs. Its nets take turns with the nets of the step, so that they never run at the same time.

#include <chrono>
#include <cstdint>
#include <functional>
#include <thread>

#include "caffe2_core/base/condition_variable.h"
#include "caffe2_core/base/mutex.h"
#include "caffe2_core/runtime/waiting.h"

namespace caffe2rt {

struct StepUses;

// A fair shared lock: any number of nets can hold it, or a single report. It is granted in the order
// of arrival: a report waits for the nets that already run, and later nets wait for the report.
// Thread safe.
class ReportLock {
 public:
  void BeginNet() { Begin(false); }
  void BeginReport() { Begin(true); }
  void EndNet();
  void EndReport();

 private:
  void Begin(bool report);

  Mutex mutex_;
  ConditionVariable changed_;
  uint64_t next_ticket_ ABSL_GUARDED_BY(mutex_) = 0;
  uint64_t admitted_ ABSL_GUARDED_BY(mutex_) = 0;  // number of tickets admitted so far
  int nets_ ABSL_GUARDED_BY(mutex_) = 0;           // number of nets that hold the lock
  bool reporting_ ABSL_GUARDED_BY(mutex_) = false;
};

// The locks that a net must hold: one for each enclosing step that has reporters. They are locked
// from the outermost step inwards, which prevents deadlocks.
struct ReportLocks {
  ReportLock* lock = nullptr;
  bool reports = false;                // whether the net belongs to a reporter of that step
  const ReportLocks* outer = nullptr;  // null if there is none
  // What the reporters of that step use (plan_uses.h).
  const StepUses* reporters = nullptr;
};

// Locks all of them in the constructor and unlocks them in the destructor. `locks` may be null.
class ReportLocksHeld final : public Turn {
 public:
  explicit ReportLocksHeld(const ReportLocks* locks);
  ~ReportLocksHeld();

  void GiveBack() override { Unlock(locks_); }
  void TakeAgain() override { Lock(locks_); }

 private:
  static void Lock(const ReportLocks* locks);
  static void Unlock(const ReportLocks* locks);

  const ReportLocks* const locks_;
};

// Calls `report` once every period, in its own thread, and once more on destruction. Failures are
// logged. A report that waits (waiting.h) is stopped when the reporter or the step ends.
class Reporter {
 public:
  // THROWS if the thread cannot be started.
  Reporter(std::chrono::milliseconds period, std::function<void()> report);
  ~Reporter();
  Reporter(const Reporter&) = delete;
  Reporter& operator=(const Reporter&) = delete;

 private:
  void Run(std::chrono::milliseconds period);
  // Returns whether the reporter must stop; waits for that until `deadline` at most.
  bool WaitForStop(std::chrono::steady_clock::time_point deadline);
  bool MustStop();
  void Report() const;

  const std::function<void()> report_;
  const StopScope* const scope_;  // of the thread of the step
  Mutex mutex_;
  ConditionVariable stopped_;
  bool stop_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;  // the last member, because the thread uses those above
};

}  // namespace caffe2rt
