// ONNXPow: Y = A ^ B with numpy's broadcasting; A and B may have different element types.
//   A and B numbers  ->  Y of the type of A
//
// A power of integers wraps around; one with a negative exponent is truncated to an integer (0 ^ -1
// is 0). A float power of an integer is truncated and limited to the integer's range.

#include <cmath>
#include <limits>
#include <type_traits>
#include <vector>

#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/runtime/operator.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/common/broadcast.h"
#include "operators/numeric/number_schema.h"
#include "operators/numeric/numbers.h"

namespace caffe2rt {

namespace {

template <class T>
T IntegerPower(T base, int64_t exponent) {
  if (exponent < 0) {
    if (base == T(1)) return 1;
    if constexpr (std::is_signed_v<T>) {
      if (base == T(-1)) return exponent % 2 == 0 ? T(1) : T(-1);
    }
    return 0;
  }
  uint64_t result = 1, factor = static_cast<uint64_t>(base);
  for (uint64_t rest = static_cast<uint64_t>(exponent); rest != 0; rest >>= 1) {
    if ((rest & 1) != 0) result *= factor;
    factor *= factor;
  }
  return static_cast<T>(result);
}

template <class T>
T ToInteger(double x) {
  if (std::isnan(x)) return 0;
  if (x <= static_cast<double>(std::numeric_limits<T>::min())) return std::numeric_limits<T>::min();
  if (x >= static_cast<double>(std::numeric_limits<T>::max())) return std::numeric_limits<T>::max();
  return static_cast<T>(x);
}

template <class T, class E>
T PowerOfNumbers(T base, E exponent) {
  if constexpr (std::is_floating_point_v<T>) {
    if constexpr (std::is_same_v<T, float>) {
      if (exponent == E(2)) return base * base;
      if constexpr (std::is_same_v<E, double>) {
        // Most exponents were floats: their power is that of floats.
        const float narrow = static_cast<float>(exponent);
        if (static_cast<double>(narrow) == exponent) return std::pow(base, narrow);
      }
    }
    return static_cast<T>(std::pow(static_cast<double>(base), static_cast<double>(exponent)));
  } else if constexpr (std::is_integral_v<E>) {
    return IntegerPower<T>(base, exponent);
  } else {
    return ToInteger<T>(std::pow(static_cast<double>(base), exponent));
  }
}

class OnnxPowOp final : public Operator<CPUContext> {
 public:
  OnnxPowOp(const OperatorDef& def, Workspace* ws) : Operator<CPUContext>(def, ws) {}

  bool RunOnDevice() override {
    const Tensor &A = Input(0), &B = Input(1);
    DispatchNumber(B.dtype(), "input 1 (B)", [](auto) {});
    return DispatchNumber(A.dtype(), "input 0 (A)", [&](auto element) {
      using T = decltype(element);
      plan_.Make(A.sizes(), B.sizes(), BroadcastArguments());
      T* y = OutputData<T>(0, plan_.output_dims());
      if (plan_.output_size() == 0) return true;
      const T* a = A.data<T>();
      // The exponents as numbers of two types, so that there are not eight loops for each T.
      if (B.IsType<float>() || B.IsType<double>()) {
        Widen(B, &floats_);
        ZipNumbers(plan_.loops(), a, floats_.data(), y, PowerOfNumbers<T, double>);
      } else {
        Widen(B, &integers_);
        ZipNumbers(plan_.loops(), a, integers_.data(), y, PowerOfNumbers<T, int64_t>);
      }
      return true;
    });
  }

 private:
  template <class To>
  static void Widen(const Tensor& B, std::vector<To>* wide) {
    wide->resize(static_cast<size_t>(B.numel()));
    DispatchNumber(B.dtype(), "input 1 (B)", [&](auto element) {
      using T = decltype(element);
      const T* b = B.data<T>();
      for (size_t i = 0; i < wide->size(); ++i) (*wide)[i] = static_cast<To>(b[i]);
    });
  }

  BroadcastPlan plan_;
  std::vector<double> floats_;
  std::vector<int64_t> integers_;
};

}  // namespace

void RegisterOnnxPow() {
  RegisterSchema("ONNXPow", __FILE__)
      .NumInputs(2)
      .NumOutputs(1)
      .Input(0, "A", "numbers of any type")
      .Input(1, "B", "the exponents, numbers of any type; broadcast by numpy's rules")
      .Output(0, "Y", "the type of A")
      .TensorInferenceFunction(InferBroadcastOfAll)
      .CostInferenceFunction(PointwiseCostInference<10>)
      .Traits({.family = OperatorFamily::kElementwise})
      .SetDoc("Computes A ^ B, as ONNX's Pow; A and B may have different types.");
  RegisterCpuOperator<OnnxPowOp>("ONNXPow", __FILE__);
  // Pow has a gradient.
  RegisterGradient<ThrowInTheTowelIfGradientIsCalled>("ONNXPow", __FILE__);
}

}  // namespace caffe2rt
