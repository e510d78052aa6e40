#pragma once
// Observers that count and time runs.
//
//   auto* timer = static_cast<const TimeObserver*>(
//       net->AttachObserver(std::make_unique<TimeObserver>(net)));
//   net->Run();
//   timer->average_time();              // milliseconds per run of the net
//   timer->average_time_children();     // milliseconds per operator
//
// Not thread safe: use an observer only on the thread that runs the net.

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "caffe2_core/base/timer.h"
#include "caffe2_core/runtime/net.h"
#include "caffe2_core/runtime/observer.h"

#pragma GCC visibility push(default)
namespace caffe2rt {

// Measures the run time of a net and of its operators. The constructor attaches an observer to each
// operator; these stay attached when this object is destroyed.
class TimeObserver final : public ObserverBase<NetBase> {
 public:
  explicit TimeObserver(NetBase* net);

  void Start() override { timer_.Start(); }
  void Stop() override;
  std::string debugInfo() override;
  // The mean time of a run in milliseconds, or 0 before the first run.
  float average_time() const { return times_.Average(); }
  // The mean of the operators' mean times, in milliseconds.
  float average_time_children() const;

  // The runs that one observer has measured.
  struct Times {
    float total_ms = 0;
    int runs = 0;
    float Average() const { return runs == 0 ? 0 : total_ms / static_cast<float>(runs); }
  };

 private:
  Timer timer_;
  Times times_;
  // Shared with the operators' observers, because either side may be destroyed first.
  std::vector<std::shared_ptr<Times>> operators_;
};

// Counts runs of a net and of its operators, including those of the step nets of RecurrentNetwork.
class RunCountNetObserver final : public ObserverBase<NetBase> {
 public:
  explicit RunCountNetObserver(NetBase* net);
  void Start() override { ++runs_; }
  std::string debugInfo() override;
  int runs() const { return runs_; }
  int operator_runs() const { return *operator_runs_; }

 private:
  int runs_ = 0;
  // Shared with the observers of the operators, which may live longer.
  std::shared_ptr<std::atomic<int>> operator_runs_;
};

}  // namespace caffe2rt
#pragma GCC visibility pop
