// Registers the operator of good.cc again, under the name of a source that many modules have.
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"

namespace {
class ModuleTestAgainOp final : public caffe2rt::Operator<caffe2rt::CPUContext> {
 public:
  using caffe2rt::Operator<caffe2rt::CPUContext>::Operator;
  bool RunOnDevice() override { return true; }
};
}  // namespace
#line 1 "op.cc"
REGISTER_CPU_OPERATOR(ModuleTestAnswer, ModuleTestAgainOp);
OPERATOR_SCHEMA(ModuleTestAnswer).NumInputs(0).NumOutputs(1);
