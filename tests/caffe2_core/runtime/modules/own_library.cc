// An operator in a module that is linked with the library itself, not with the target `module`.
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"

namespace {
class ModuleTestOwnLibraryOp final : public caffe2rt::Operator<caffe2rt::CPUContext> {
 public:
  using caffe2rt::Operator<caffe2rt::CPUContext>::Operator;
  bool RunOnDevice() override {
    *Output(0, {}, caffe2rt::TypeMeta::Make<int>())->mutable_data<int>() = 7;
    return true;
  }
};
REGISTER_CPU_OPERATOR(ModuleTestOwnLibrary, ModuleTestOwnLibraryOp);
}  // namespace
OPERATOR_SCHEMA(ModuleTestOwnLibrary).NumInputs(0).NumOutputs(1);
