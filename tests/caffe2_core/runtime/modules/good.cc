// A module with one operator.
#include "caffe2_core/runtime/module.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"

namespace {
class ModuleTestAnswerOp final : public caffe2rt::Operator<caffe2rt::CPUContext> {
 public:
  using caffe2rt::Operator<caffe2rt::CPUContext>::Operator;
  bool RunOnDevice() override {
    *Output(0, {}, caffe2rt::TypeMeta::Make<int>())->mutable_data<int>() = 42;
    return true;
  }
};
REGISTER_CPU_OPERATOR(ModuleTestAnswer, ModuleTestAnswerOp);
}  // namespace
OPERATOR_SCHEMA(ModuleTestAnswer).NumInputs(0).NumOutputs(1);
CAFFE2_MODULE(module_test_good, "answers");
