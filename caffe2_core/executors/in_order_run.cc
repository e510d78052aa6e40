#include "caffe2_core/executors/in_order_run.h"

#include <algorithm>
#include <utility>

#include "caffe2_core/base/logging.h"
#include "caffe2_core/graph/arguments.h"
#include "caffe2_core/runtime/running_net.h"
#include "caffe2_core/runtime/waiting.h"

namespace caffe2rt {

InOrderRun::InOrderRun(const NetDef& def, NetOperators& operators, std::atomic<bool>& cancelled,
                       ExecutionOrder order)
    : def_(def), operators_(operators), cancelled_(cancelled), order_(std::move(order)) {
  if (operators_.HasAsyncPart()) PlanDevices();
}

void InOrderRun::PlanDevices() {
  const NetDependencies dependencies = operators_.FindDependencies();
  uses_ = std::make_unique<DeviceUses>(operators_.all(), dependencies, order_);
  if (uses_->empty()) uses_.reset();
  sync_ = GetFlagArgument(def_, "cuda_sync");
  replaced_ = std::make_unique<ReplacedMemory>(operators_.all());
  if (replaced_->empty()) replaced_.reset();
  if (!sync_) waits_ = PlanDeviceWaits(operators_.all(), dependencies, order_);
  if (!sync_ && replaced_ != nullptr && GetFlagArgument(def_, "cuda_graph")) {
    LOG(WARNING)
        << "net \"" << def_.name()
        << "\": argument cuda_graph has no effect on a net whose blobs move between the CPU "
           "and a device";
  } else if (!sync_ && GetFlagArgument(def_, "cuda_graph")) {
    graphs_ = std::make_unique<GraphRuns>(def_.name(), operators_.all(), order_, waits_);
    if (graphs_->empty()) graphs_.reset();
  }
  has_steps_ = sync_ || replaced_ != nullptr || uses_ != nullptr || graphs_ != nullptr ||
               !waits_.before.empty() || !order_.streams.empty();
}

// That of kNoPosition is kNoPosition.
size_t InOrderRun::PlaceOf(size_t position) const {
  const auto found = std::find(order_.positions.begin(), order_.positions.end(), position);
  return found == order_.positions.end() ? kNoPosition
                                         : static_cast<size_t>(found - order_.positions.begin());
}

void InOrderRun::Run() {
  const TransientWrites scope;
  const StopScope stop(cancelled_);
  size_t running = kNoPosition;  // the operator that an error message names
  const RunningNet running_net(def_.name(), operators_.all(), running);
  try {
    if (__builtin_expect(has_steps_, 0)) {
      RunSteps(&running);
    } else {
      RunAll(&running, stop.has_outer());
    }
    running = kNoPosition;
    FinishDeviceWork(waits_.at_end);
    if (replaced_ != nullptr) replaced_->Free();
  } catch (...) {
    operators_.Fail(running, [&] {
      return sync_ ? std::string()
                   : WorkUnderWay(operators_.all(), order_, waits_, PlaceOf(running));
    });
  }
}

// With `watch`, the run may also be stopped by a scope around it.
void InOrderRun::RunAll(size_t* running, bool watch) {
  OperatorBase* const* const operators = operators_.all().data();
  const size_t size = operators_.size();
  for (size_t i = 0; i < size; ++i) {
    *running = i;
    if (__builtin_expect(watch, 0)) ThrowIfStoppedBetweenOperators();
    if (__builtin_expect(cancelled_.load(std::memory_order_relaxed), 0)) {
      ThrowStoppedBetweenOperators();
    }
    StartOperator(operators[i], 0);
  }
}

// The loop for nets that need more than starting all operators and one wait at the end.
void InOrderRun::RunSteps(size_t* running) {
  if (uses_ != nullptr) uses_->BeginRun();
  if (replaced_ != nullptr) replaced_->Free();  // of a run that failed
  for (size_t place = 0; place < order_.size();) {
    OperatorBase* const op = operators_[order_.positions[place]];
    *running = order_.positions[place];
    ThrowIfStoppedBetweenOperators();
    *running = kNoPosition;
    if (waits_.AreBefore(place)) AwaitDeviceWork(waits_.before[place], op, order_.stream(place));
    const size_t first = place;
    if (graphs_ != nullptr) {
      place = graphs_->Start(place, running);
    } else {
      *running = order_.positions[place];
      if (replaced_ != nullptr) replaced_->Keep(*running);
      StartOperator(op, order_.stream(place++));
    }
    for (size_t i = first; i < place && uses_ != nullptr; ++i) uses_->Record(order_.positions[i]);
    if (sync_ && op->HasAsyncPart()) op->FinishDevice();
  }
}

}  // namespace caffe2rt
