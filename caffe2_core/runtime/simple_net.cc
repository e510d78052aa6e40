#include "caffe2_core/runtime/simple_net.h"

#include "caffe2_core/runtime/operator_registry.h"
#include "caffe2_core/runtime/workspace.h"

namespace caffe2rt {
namespace {

class SimpleNet final : public NetBase {
 public:
  SimpleNet(const std::shared_ptr<const NetDef>& def, Workspace* ws) : NetBase(def, ws), ws_(ws) {
    operators_.reserve(static_cast<size_t>(def->op_size()));
    for (int i = 0; i < def->op_size(); ++i) AddOperator(def->op(i), i);
  }

  std::vector<OperatorBase*> GetOperators() const override {
    std::vector<OperatorBase*> operators;
    for (const auto& op : operators_) operators.push_back(op.get());
    return operators;
  }

 protected:
  bool DoRun() override {
    const TransientWrites scope;
    size_t i = 0;
    try {
      for (; i < operators_.size(); ++i) {
        OperatorBase* const op = operators_[i].get();
        const bool success =
            __builtin_expect(op->NumObservers() == 0, 1) ? op->Enqueue(0) : op->Run(0);
        if (__builtin_expect(!success, 0)) {
          CAFFE_THROW("the operator reports a failure (RunOnDevice returned false)");
        }
      }
      for (OperatorBase* op : waits_) op->FinishDevice();
    } catch (...) {
      FinishAfterFailure();
      RethrowWithFrame(FrameOf(i));
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
    // Only operators whose work may outlast Enqueue are waited for.
    OperatorBase* const op = operators_.back().get();
    if (op->HasAsyncPart()) waits_.push_back(op);
  }

  void FinishAfterFailure() noexcept {
    for (OperatorBase* op : waits_) {
      try {
        op->FinishDevice();
      } catch (...) {  // the first failure is the one to report
      }
    }
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
  std::vector<OperatorBase*> waits_;
};

}  // namespace

std::unique_ptr<NetBase> NewSimpleNet(const std::shared_ptr<const NetDef>& def, Workspace* ws) {
  return std::make_unique<SimpleNet>(def, ws);
}

}  // namespace caffe2rt
