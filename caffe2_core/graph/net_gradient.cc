#include "caffe2_core/graph/net_gradient.h"

#include <new>

#include "caffe2_core/base/memory_budget.h"
#include "caffe2_core/graph/builtin_operators.h"

namespace caffe2rt {

namespace {
// The registry, which may not contain the built-in makers yet.
GradientRegistryType* NetGradientMakers() {
  static auto* const registry = new GradientRegistryType("gradient in nets of operator");
  return registry;
}
}  // namespace

GradientRegistryType* NetGradientRegistry() {
  RegisterBuiltinOperatorsOnce();
  return NetGradientMakers();
}

bool RegisterNetGradient(std::string_view op_type, GradientCreator* creator, const char* file) {
  return NetGradientMakers()->Register(std::string(op_type), creator, file);
}

GradientOpsMeta GetGradientInNet(const OperatorDef& def,
                                 const std::vector<GradientWrapper>& g_output) try {
  if (!NetGradientRegistry()->Has(def.type())) return GetGradientForOp(def, g_output);
  return NetGradientRegistry()->Create(def.type(), def, g_output)->Get();
} catch (const std::bad_alloc&) {
  ThrowOutOfMemory();
}

}  // namespace caffe2rt
