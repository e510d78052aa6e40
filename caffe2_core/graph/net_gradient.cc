#include "caffe2_core/graph/net_gradient.h"

#include <new>

#include "caffe2_core/base/memory_budget.h"
#include "caffe2_core/graph/builtin_operators.h"

namespace caffe2rt {

namespace internal {
GradientRegistryType* NetGradientMakers() {
  static auto* const registry = new GradientRegistryType("gradient in nets of operator");
  return registry;
}
}  // namespace internal

GradientRegistryType* NetGradientRegistry() {
  RegisterBuiltinOperatorsOnce();
  return internal::NetGradientMakers();
}

GradientOpsMeta GetGradientInNet(const OperatorDef& def,
                                 const std::vector<GradientWrapper>& g_output) try {
  if (!NetGradientRegistry()->Has(def.type())) return GetGradientForOp(def, g_output);
  return NetGradientRegistry()->Create(def.type(), def, g_output)->Get();
} catch (const std::bad_alloc&) {
  ThrowOutOfMemory();
}

}  // namespace caffe2rt
