// A module whose author forgot OPERATOR_SCHEMA.
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"

namespace {
class ModuleTestNoSchemaOp final : public caffe2rt::Operator<caffe2rt::CPUContext> {
 public:
  using caffe2rt::Operator<caffe2rt::CPUContext>::Operator;
  bool RunOnDevice() override { return true; }
};
REGISTER_CPU_OPERATOR(ModuleTestNoSchema, ModuleTestNoSchemaOp);
}  // namespace
