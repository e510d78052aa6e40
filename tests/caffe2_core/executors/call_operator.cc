#include "tests/caffe2_core/executors/call_operator.h"

#include <climits>

#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"

namespace caffe2rt::test {
namespace {

class CallOp final : public Operator<CPUContext> {
 public:
  using Operator<CPUContext>::Operator;
  bool RunOnDevice() override {
    const auto found = Calls().find(debug_def().name());
    if (found != Calls().end()) found->second(this);
    return true;
  }
};
REGISTER_CPU_OPERATOR(ExecutorTestCall, CallOp);
OPERATOR_SCHEMA(ExecutorTestCall)
    .NumInputs(0, INT_MAX)
    .NumOutputs(0, INT_MAX)
    .AllowInplace([](int, int) { return true; });
REGISTER_CPU_OPERATOR(ExecutorTestWait, CallOp);
OPERATOR_SCHEMA(ExecutorTestWait)
    .NumInputs(0, INT_MAX)
    .NumOutputs(0, INT_MAX)
    .Traits({.waits = true});

}  // namespace

std::map<std::string, std::function<void(OperatorBase*)>>& Calls() {
  static std::map<std::string, std::function<void(OperatorBase*)>> calls;
  return calls;
}

}  // namespace caffe2rt::test
