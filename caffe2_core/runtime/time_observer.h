#pragma once
// Observers that count and time runs.
//
//   auto* timer = static_cast<const
//   TimeObserver*>(net->AttachObserver(std::make_unique<TimeObserver>(net))); net->Run();
//   timer->average_time();              // ms a run of the net
//   timer->average_time_children();     // ms an operator
//
// Each is used by the thread that runs the net.

#include <memory>
#include <string>
#include <vector>

#include "caffe2_core/base/timer.h"
#include "caffe2_core/runtime/net.h"
#include "caffe2_core/runtime/observer.h"

namespace caffe2rt {

// Times a net, and by an observer of its own each of its operators. Those stay with their
// operators.
class TimeObserver final : public ObserverBase<NetBase> {
 public:
  explicit TimeObserver(NetBase* net);

  void Start() override { timer_.Start(); }
  void Stop() override;
  std::string debugInfo() override;
  // Milliseconds a run; 0 before the first one. Of the operators: the mean of their averages.
  float average_time() const { return times_.Average(); }
  float average_time_children() const;

  // What one observer has seen.
  struct Times {
    float total_ms = 0;
    int runs = 0;
    float Average() const { return runs == 0 ? 0 : total_ms / static_cast<float>(runs); }
  };

 private:
  Timer timer_;
  Times times_;
  std::vector<std::shared_ptr<Times>>
      operators_;  // shared with the operators' observers: either side may go first
};

// Counts runs of a net and of its operators.
class RunCountNetObserver final : public ObserverBase<NetBase> {
 public:
  explicit RunCountNetObserver(NetBase* net);
  void Start() override { ++runs_; }
  std::string debugInfo() override;
  int runs() const { return runs_; }
  int operator_runs() const { return *operator_runs_; }

 private:
  int runs_ = 0;
  std::shared_ptr<int>
      operator_runs_;  // shared with the observers of the operators, which may live longer
};

}  // namespace caffe2rt
