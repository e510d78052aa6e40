// A module that brings an operator which is built in.
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"

namespace {
class ReluAgainOp final : public caffe2rt::Operator<caffe2rt::CPUContext> {
 public:
  using caffe2rt::Operator<caffe2rt::CPUContext>::Operator;
  bool RunOnDevice() override { return false; }
};
REGISTER_CPU_OPERATOR_STR("Relu", ReluAgainOp);
}  // namespace
