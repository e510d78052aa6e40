#include "caffe2_core/executors/simple_net.h"

#include "caffe2_core/executors/device_uses.h"
#include "caffe2_core/executors/device_waits.h"
#include "caffe2_core/executors/graph_runs.h"
#include "caffe2_core/graph/arguments.h"
#include "caffe2_core/runtime/net_operators.h"
#include "caffe2_core/runtime/running_net.h"

namespace caffe2rt {
namespace {

class SimpleNet final : public NetBase {
 public:
  SimpleNet(const std::shared_ptr<const NetDef>& def, Workspace* ws)
      : NetBase(def, ws), operators_(def, ws) {
    if (operators_.HasAsyncPart()) PlanDevices();
  }

  std::vector<OperatorBase*> GetOperators() const override { return operators_.all(); }

 protected:
  bool DoRun() override {
    const TransientWrites scope;
    size_t running = kNoPosition;  // the operator that an error message names
    const RunningNet running_net(Name(), operators_.all(), running);
    try {
      if (__builtin_expect(has_steps_, 0)) {
        RunSteps(&running);
      } else {
        OperatorBase* const* const operators = operators_.all().data();
        const size_t size = operators_.size();
        for (size_t i = 0; i < size; ++i) {
          running = i;
          StartOperator(operators[i], 0);
        }
      }
      running = kNoPosition;
      FinishDeviceWork(waits_.at_end);
    } catch (...) {
      operators_.Fail(running, [&] {
        return sync_ ? std::string()
                     : WorkUnderWay(operators_.all(), InOrderOfNet(operators_.size()), waits_,
                                    running);
      });
    }
    return true;
  }

 private:
  void PlanDevices() {
    const NetDependencies dependencies = operators_.FindDependencies();
    const ExecutionOrder order = InOrderOfNet(operators_.size());
    uses_ = std::make_unique<DeviceUses>(operators_.all(), dependencies, order);
    if (uses_->empty()) uses_.reset();
    sync_ = GetFlagArgument(debug_def(), "cuda_sync");
    if (!sync_) waits_ = PlanDeviceWaits(operators_.all(), dependencies, order);
    if (!sync_ && GetFlagArgument(debug_def(), "cuda_graph")) {
      graphs_ = std::make_unique<GraphRuns>(Name(), operators_.all(), order, waits_);
      if (graphs_->empty()) graphs_.reset();
    }
    has_steps_ = sync_ || uses_ != nullptr || graphs_ != nullptr || !waits_.before.empty();
  }

  // The loop for nets that need more than starting all operators and one wait at the end.
  void RunSteps(size_t* running) {
    if (uses_ != nullptr) uses_->BeginRun();
    for (size_t i = 0; i < operators_.size();) {
      *running = kNoPosition;
      if (waits_.AreBefore(i)) AwaitDeviceWork(waits_.before[i], operators_.all()[i], 0);
      const size_t first = i;
      if (graphs_ != nullptr) {
        i = graphs_->Start(i, running);
      } else {
        *running = i;
        StartOperator(operators_[i++], 0);
      }
      for (size_t j = first; j < i && uses_ != nullptr; ++j) uses_->Record(j);
      if (sync_ && operators_[first]->HasAsyncPart()) operators_[first]->FinishDevice();
    }
  }

  NetOperators operators_;
  bool has_steps_ = false;  // whether RunSteps is needed
  bool sync_ = false;       // wait after each operator
  DeviceWaits waits_;
  std::unique_ptr<DeviceUses> uses_;   // null if the net uses at most one device besides the CPU
  std::unique_ptr<GraphRuns> graphs_;  // null if no operator can be captured
};

}  // namespace

std::unique_ptr<NetBase> NewSimpleNet(const std::shared_ptr<const NetDef>& def, Workspace* ws) {
  return std::make_unique<SimpleNet>(def, ws);
}

}  // namespace caffe2rt
