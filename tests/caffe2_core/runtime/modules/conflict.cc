// A module that registers again what is built in: an operator, its schema, a gradient, a net type
// and a device. Its static code looks up operators, as another thread might at that time.
#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/module.h"
#include "caffe2_core/runtime/net.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"

namespace {
class ReluAgainOp final : public caffe2rt::Operator<caffe2rt::CPUContext> {
 public:
  using caffe2rt::Operator<caffe2rt::CPUContext>::Operator;
  bool RunOnDevice() override { return false; }
};
REGISTER_CPU_OPERATOR_STR("Relu", ReluAgainOp);
NO_GRADIENT(ConstantFill);
const caffe2rt::internal::NetRegisterer g_net(
    "simple", [](const auto&, auto*) { return std::unique_ptr<caffe2rt::NetBase>(); }, __FILE__);
const caffe2rt::internal::StaticContextRegisterer g_context(
    caffe2rt::CPU, "CPU again", caffe2rt::FindStaticContext(caffe2rt::CPU));
}  // namespace
OPERATOR_SCHEMA(Relu).NumInputs(7);
CAFFE2_MODULE(module_test_conflict, "brings again what is there");

extern "C" {
bool g_module_test_conflict_look_up_threw = [] {
  try {
    caffe2rt::EnsureBuiltinOperators();
    return false;
  } catch (const caffe2rt::EnforceNotMet&) {
    return true;
  }
}();
}
