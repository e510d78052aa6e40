#include "operators/elementwise/finite_checks.h"

#include <cmath>

#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"

namespace caffe2rt {

namespace {

template <class T>
NotFinite FindNotFinite(int64_t n, const T* x) {
  int64_t i = 0;
  while (i < n && std::isfinite(x[i])) ++i;
  return {i, i < n ? static_cast<double>(x[i]) : 0.0};
}

// Checks dY as well.
class GetNanCheckGradient final : public GradientMakerBase {
 public:
  using GradientMakerBase::GradientMakerBase;

 protected:
  std::vector<OperatorDef> GetGradientDefs() override {
    return SingleGradientDef("NanCheck", "", std::vector<std::string>{GO(0)},
                             std::vector<std::string>{GI(0)});
  }
};

}  // namespace

NotFinite FirstNotFinite(CPUContext&, int64_t n, const float* x, Tensor*, Tensor*) {
  return FindNotFinite(n, x);
}
NotFinite FirstNotFinite(CPUContext&, int64_t n, const double* x, Tensor*, Tensor*) {
  return FindNotFinite(n, x);
}

void RegisterFiniteChecks() {
  RegisterSchema("NanCheck", __FILE__)
      .NumInputs(1, INT_MAX)
      .NumOutputs(1)
      .AllowInplace({{0, 0}})
      .Input(0, "X", "any shape, float")
      .Output(0, "Y", "X")
      .IdenticalTypeAndShapeOfInput(0)
      .Traits({.family = OperatorFamily::kElementwise})
      .SetDoc("Y = X. Throws if X contains a NaN or an infinity.");
  RegisterCpuOperator<FiniteCheckOp<CPUContext>>("NanCheck", __FILE__);
  RegisterGradient<GetNanCheckGradient>("NanCheck", __FILE__);

  RegisterSchema("EnforceFinite", __FILE__)
      .NumInputs(1)
      .NumOutputs(0)
      .Input(0, "X", "any shape, float or double")
      .SetDoc("Throws if X contains a NaN or an infinity.");
  RegisterCpuOperator<FiniteCheckOp<CPUContext>>("EnforceFinite", __FILE__);
  // As in Caffe2, asking for its gradient is an error: it has no output.
  RegisterGradient<ThrowInTheTowelIfGradientIsCalled>("EnforceFinite", __FILE__);
}

}  // namespace caffe2rt
