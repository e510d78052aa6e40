// ONNXMod: the remainder of A / B, with numpy's broadcasting. fmod 0: with the sign of B, as numpy's
// mod; fmod 1: with the sign of A, as C's fmod.

#include <cmath>
#include <type_traits>

#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/runtime/operator.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/common/broadcast.h"
#include "operators/common/element_type.h"
#include "operators/numeric/number_schema.h"
#include "operators/numeric/numbers.h"

namespace caffe2rt {

namespace {

constexpr ArgumentSpec<bool> kModFmod{"fmod", false,
                                      "0: the result has the sign of B; 1: the sign of A"};

// REQUIRES: b != 0 for integers.
template <class T>
T Remainder(T a, T b, bool sign_of_a) {
  if constexpr (std::is_floating_point_v<T>) {
    T rest = std::fmod(a, b);
    if (!sign_of_a && rest != 0 && (rest < 0) != (b < 0)) rest += b;
    return rest;
  } else {
    if constexpr (std::is_signed_v<T>) {
      if (b == T(-1)) return 0;  // a / -1 would overflow for the smallest a
    }
    T rest = static_cast<T>(a % b);
    if (!sign_of_a && rest != 0 && (rest < 0) != (b < 0)) rest = static_cast<T>(rest + b);
    return rest;
  }
}

class OnnxModOp final : public Operator<CPUContext> {
 public:
  OnnxModOp(const OperatorDef& def, Workspace* ws)
      : Operator<CPUContext>(def, ws), fmod_(ReadArgument(kModFmod)) {}

  bool RunOnDevice() override {
    const Tensor &A = Input(0), &B = Input(1);
    return DispatchNumber(A.dtype(), "input 0 (A)", [&](auto element) {
      using T = decltype(element);
      RequireElements<T>(B);
      plan_.Make(A.sizes(), B.sizes(), BroadcastArguments());
      T* y = OutputData<T>(0, plan_.output_dims());
      if (plan_.output_size() == 0) return true;
      const T* b = B.data<T>();
      if constexpr (std::is_integral_v<T>) {
        for (int64_t i = 0; i < B.numel(); ++i) {
          CAFFE_ENFORCE(b[i] != 0, "input 1 (B) is 0 at element ", i,
                        ", want other numbers: integers cannot be divided by 0");
        }
      }
      ZipNumbers(plan_.loops(), A.data<T>(), b, y,
                 [fmod = fmod_](T p, T q) { return Remainder(p, q, fmod); });
      return true;
    });
  }

 private:
  const bool fmod_;
  BroadcastPlan plan_;
};

}  // namespace

void RegisterOnnxMod() {
  RegisterSchema("ONNXMod", __FILE__)
      .NumInputs(2)
      .NumOutputs(1)
      .Arg(kModFmod)
      .Input(0, "A", "numbers of any type")
      .Input(1, "B", "the divisors, of the type of A; broadcast by numpy's rules")
      .Output(0, "Y", "the type of A")
      .TensorInferenceFunction(InferBroadcastOfAll)
      .CostInferenceFunction(PointwiseCostInference<4>)
      .Traits({.family = OperatorFamily::kElementwise})
      .SetDoc("Computes the remainder of A / B, as ONNX's Mod.");
  RegisterCpuOperator<OnnxModOp>("ONNXMod", __FILE__);
  // The quotient jumps.
  RegisterGradient<ThrowInTheTowelIfGradientIsCalled>("ONNXMod", __FILE__);
}

}  // namespace caffe2rt
