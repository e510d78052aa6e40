#include "caffe2_core/runtime/simple_net.h"

#include <algorithm>

#include "caffe2_core/graph/arguments.h"
#include "caffe2_core/runtime/device_uses.h"
#include "caffe2_core/runtime/device_waits.h"
#include "caffe2_core/runtime/graph_runs.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "caffe2_core/runtime/workspace.h"

namespace caffe2rt {
namespace {

class SimpleNet final : public NetBase {
 public:
  SimpleNet(const std::shared_ptr<const NetDef>& def, Workspace* ws) : NetBase(def, ws), ws_(ws) {
    operators_.reserve(static_cast<size_t>(def->op_size()));
    for (int i = 0; i < def->op_size(); ++i) AddOperator(def->op(i), i);
    uses_ = std::make_unique<DeviceUses>(GetOperators());
    if (uses_->empty()) uses_.reset();
    sync_ = GetFlagArgument(*def, "cuda_sync");
    if (sync_) {
      waits_.resize(operators_.size() + 1);
      return;
    }
    waits_ = PlanDeviceWaits(GetOperators());
    if (GetFlagArgument(*def, "cuda_graph")) {
      graphs_ = std::make_unique<GraphRuns>(Name(), GetOperators(), waits_);
      if (graphs_->empty()) graphs_.reset();
    }
    has_waits_ = std::any_of(waits_.begin(), waits_.end(),
                             [](const auto& before) { return !before.empty(); });
  }

  std::vector<OperatorBase*> GetOperators() const override {
    std::vector<OperatorBase*> operators;
    for (const auto& op : operators_) operators.push_back(op.get());
    return operators;
  }

 protected:
  bool DoRun() override {
    const TransientWrites scope;
    const size_t none = operators_.size();
    size_t running = none;  // the operator to blame
    try {
      if (__builtin_expect(uses_ != nullptr, 0)) uses_->BeginRun();
      for (size_t i = 0; i < operators_.size();) {
        if (__builtin_expect(has_waits_, 0)) {
          running = none;
          FinishDeviceWork(waits_[i]);
        }
        if (__builtin_expect(graphs_ != nullptr, 0)) {
          const size_t first = i;
          i = graphs_->Start(i, &running);
          for (size_t j = first; j < i && uses_ != nullptr; ++j) uses_->Record(j);
          continue;
        }
        running = i;
        OperatorBase* const op = operators_[i++].get();
        const bool success =
            __builtin_expect(op->NumObservers() == 0, 1) ? op->Enqueue(0) : op->Run(0);
        if (__builtin_expect(!success, 0)) {
          CAFFE_THROW("the operator reports a failure (RunOnDevice returned false)");
        }
        if (__builtin_expect(uses_ != nullptr, 0)) uses_->Record(running);
        if (__builtin_expect(sync_, 0) && op->HasAsyncPart()) op->FinishDevice();
      }
      running = none;
      FinishDeviceWork(waits_.back());
    } catch (EnforceNotMet& error) {
      if (!FinishAfterFailure()) AddWorkUnderWay(running, &error);
      error.AppendMessage(FrameOf(running));
      throw;
    } catch (...) {
      FinishAfterFailure();
      RethrowWithFrame(FrameOf(running));
    }
    return true;
  }

 private:
  void AddOperator(const OperatorDef& def, int position) {
    try {
      if (debug_def().has_device_option()) {
        // The net's option is the base; fields set on the operator override it.
        OperatorDef merged = def;
        *merged.mutable_device_option() =
            MergeDeviceOption(debug_def().device_option(), def.device_option());
        operators_.push_back(CreateOperator(merged, ws_, position));
      } else {
        operators_.push_back(CreateOperator(def, ws_, position));
      }
    } catch (...) {
      RethrowWithFrame(MakeString("net \"", Name(), "\", operator ", position, " (", def.type(),
                                  def.output_size() > 0 ? ", output \"" + def.output(0) + "\"" : "",
                                  ")"));
    }
  }

  // Whether no device has failed.
  bool FinishAfterFailure() noexcept {
    bool good = true;
    for (const auto& op : operators_) {
      try {
        if (op->HasAsyncPart()) op->FinishDevice();
      } catch (...) {  // the first failure is the one to report
        good = false;
      }
    }
    return good;
  }

  // A device that has failed refuses the next operator, which is not to blame then: names the ones
  // that it was at work on.
  void AddWorkUnderWay(size_t position, EnforceNotMet* error) const {
    if (sync_ || position >= operators_.size() || !operators_[position]->HasAsyncPart()) return;
    const DeviceOption& device = operators_[position]->device_option();
    size_t first = position;
    for (size_t i = position; i > 0 && waits_[i].empty(); --i) {
      const OperatorBase& before = *operators_[i - 1];
      if (before.HasAsyncPart() && IsSameDevice(before.device_option(), device)) first = i - 1;
    }
    if (first == position) return;
    error->AppendMessage(MakeString("work of operators ", first, " to ", position - 1, " on ",
                                    DeviceTypeName(device.device_type()),
                                    " was under way and has failed, which may be the cause"));
  }

  std::string FrameOf(size_t position) {
    std::string frame = MakeString("net \"", Name(), "\"");
    if (position < operators_.size()) {
      ws_->last_failed_op_net_position = static_cast<int>(position);
      frame += MakeString(", operator ", position, " (", operators_[position]->Describe(), ")");
    }
    return frame;
  }

  Workspace* const ws_;
  std::vector<std::unique_ptr<OperatorBase>> operators_;
  std::vector<std::vector<DeviceWork>> waits_;  // before each operator, and at the end
  bool has_waits_ = false;                      // nets of the CPU have none
  std::unique_ptr<DeviceUses> uses_;            // null: one device at most besides the CPU
  bool sync_ = false;                           // wait after each operator
  std::unique_ptr<GraphRuns> graphs_;           // null: no operator is ever recorded
};

}  // namespace

std::unique_ptr<NetBase> NewSimpleNet(const std::shared_ptr<const NetDef>& def, Workspace* ws) {
  return std::make_unique<SimpleNet>(def, ws);
}

}  // namespace caffe2rt
