// SumRelu: Y = max(0, X0 + X1 + ...), elementwise, without broadcasting.
//   X0, X1, ... float, double or int32 of the same type and shape  ->  Y as X0
// Y may be X0 (in place).
#include <climits>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "caffe2_core/runtime/dispatch.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/common/element_type.h"
#include "operators/common/inference.h"
#include "operators/elementwise/nary_kernels.h"

namespace caffe2rt {
namespace {

// 0 for NaN, as in Caffe2.
struct PositivePart {
  template <class T>
  CAFFE2RT_SIMD_INLINE T operator()(T x) const {
    return x > T(0) ? x : T(0);
  }
};

// Sums of int32 out of range wrap around.
struct WrappingAdd {
  template <class T>
  CAFFE2RT_SIMD_INLINE T operator()(T a, T b) const {
    if constexpr (std::is_integral_v<T>) {
      using Unsigned = std::make_unsigned_t<T>;
      return static_cast<T>(static_cast<Unsigned>(a) + static_cast<Unsigned>(b));
    } else {
      return a + b;
    }
  }
};

class SumReluOp final : public Operator<CPUContext> {
 public:
  SumReluOp(const OperatorDef& def, Workspace* ws)
      : Operator<CPUContext>(def, ws), inputs_(static_cast<size_t>(InputSize())) {}

  bool RunOnDevice() override {
    const Tensor& X = Input(0);
    for (int i = 1; i < InputSize(); ++i) {
      CAFFE_ENFORCE(Input(i).dtype() == X.dtype(), "input ", i, " has elements of type ",
                    Input(i).dtype().name(), ", want ", X.dtype().name(), " as input 0");
      CAFFE_ENFORCE(Input(i).dims() == X.dims(), "input ", i, " has shape ", Input(i).sizes(),
                    ", want ", X.sizes(), " as input 0");
    }
    return DispatchByType<float, double, int32_t>(X.dtype(), "input 0 (X0)", [&](auto element) {
      using T = decltype(element);
      for (int i = 0; i < InputSize(); ++i) inputs_[static_cast<size_t>(i)] = Input(i).data<T>();
      T* const y = OutputData<T>(0, X.sizes());
      const int64_t n = X.numel();
      if (inputs_.size() > 1)
        Combine(context_, inputs_.data(), inputs_.size(), n, y, WrappingAdd{});
      Map(context_, n, inputs_.size() > 1 ? y : static_cast<const T*>(inputs_[0]), y,
          PositivePart{});
      return true;
    });
  }

 private:
  std::vector<const void*> inputs_;
};

}  // namespace

void RegisterSumRelu() {
  RegisterSchema("SumRelu", __FILE__)
      .NumInputs(1, INT_MAX)
      .NumOutputs(1)
      .AllowInplace({{0, 0}})
      .Input(0, "X0, X1, ...", "float, double or int32: tensors of the same shape and type")
      .Output(0, "Y", "the shape of X0")
      .TypesOfInput(0, {.accepted = {TensorProto::FLOAT, TensorProto::DOUBLE, TensorProto::INT32}})
      .IdenticalTypeAndShapeOfInput(0)
      .CostInferenceFunction([](const OperatorDef&, const std::vector<TensorShape>& in) {
        OpSchema::Cost cost;
        if (!AreKnown(in, 1)) return cost;
        cost = MoveCost(in, {in[0]});
        cost.flops = NumElements(in[0]) * in.size();
        return cost;
      })
      .Traits({.family = OperatorFamily::kElementwise, .same_shape = true})
      .SetDoc("Y = max(0, X0 + X1 + ...), without broadcasting.");
  RegisterCpuOperator<SumReluOp>("SumRelu", __FILE__);
  // As in Caffe2, no gradient maker.
}

}  // namespace caffe2rt
