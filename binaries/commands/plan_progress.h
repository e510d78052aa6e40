#pragma once
// Follows a plan: shows where it stands on a terminal, and states it when the plan was interrupted.

#include <string>
#include <thread>
#include <vector>

#include "caffe2_core/base/condition_variable.h"
#include "caffe2_core/base/mutex.h"
#include "caffe2_core/base/timer.h"
#include "caffe2_core/plan/plan_executor.h"

namespace caffe2rt {

// Thread safe. On a terminal, a thread prints a line to the standard error once the plan has run
// for two seconds, and replaces it five times per second: the position, and the seconds since the
// start. The destructor removes the line.
class PlanProgress {
 public:
  PlanProgress();
  ~PlanProgress();
  PlanProgress(const PlanProgress&) = delete;
  PlanProgress& operator=(const PlanProgress&) = delete;

  // For PlanOptions::on_iteration. Of concurrent steps, the last one counts.
  void Enter(const PlanPosition& position);
  // The last position (PlanPositionText), or "" before the first one.
  std::string PositionText() const;

 private:
  void Show();

  const Timer timer_;
  mutable Mutex mutex_;
  ConditionVariable ended_;
  // From the step itself outwards; each points to the next one.
  std::vector<PlanPosition> position_ ABSL_GUARDED_BY(mutex_);
  bool end_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;  // not joinable if there is no terminal
};

}  // namespace caffe2rt
