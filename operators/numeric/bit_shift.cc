// BitShift: Y = X << S or X >> S, bit by bit, with numpy's broadcasting.
//   X and S integers of one type  ->  Y of that type
//
// A right shift of a negative number fills with its sign. A shift by the width of the type or more, or
// by a negative number, gives -1 for a right shift of a negative number and 0 otherwise.

#include <string>
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

constexpr ArgumentSpec<std::string> kBitShiftDirection{
    .name = "direction",
    .doc = "LEFT or RIGHT",
    .check = {[](const std::string& d) { return d == "LEFT" || d == "RIGHT"; }, "LEFT or RIGHT"},
    .required = true};

template <class T>
T ShiftBits(T x, T s, bool left) {
  using U = std::make_unsigned_t<T>;
  if (static_cast<U>(s) >= 8 * sizeof(T)) return !left && x < 0 ? static_cast<T>(-1) : T(0);
  if (!left) return static_cast<T>(x >> s);  // of the sign, too, in C++20
  return static_cast<T>(static_cast<U>(static_cast<uint64_t>(static_cast<U>(x)) << s));
}

class BitShiftOp final : public Operator<CPUContext> {
 public:
  BitShiftOp(const OperatorDef& def, Workspace* ws)
      : Operator<CPUContext>(def, ws), left_(ReadArgument(kBitShiftDirection) == "LEFT") {}

  bool RunOnDevice() override {
    const Tensor &X = Input(0), &S = Input(1);
    return DispatchByType<uint8_t, uint16_t, uint32_t, uint64_t, int8_t, int16_t, int32_t, int64_t>(
        X.dtype(), "input 0 (X)", [&](auto element) {
          using T = decltype(element);
          RequireElements<T>(S);
          plan_.Make(X.sizes(), S.sizes(), BroadcastArguments());
          T* y = OutputData<T>(0, plan_.output_dims());
          if (plan_.output_size() == 0) return true;
          ZipNumbers(plan_.loops(), X.data<T>(), S.data<T>(), y,
                     [left = left_](T x, T s) { return ShiftBits(x, s, left); });
          return true;
        });
  }

 private:
  const bool left_;
  BroadcastPlan plan_;
};

}  // namespace

void RegisterBitShift() {
  RegisterSchema("BitShift", __FILE__)
      .NumInputs(2)
      .NumOutputs(1)
      .Arg(kBitShiftDirection)
      .Input(0, "X", "integers: uint8 to uint64, int8 to int64")
      .Input(1, "S", "the number of bits, of the type of X; broadcast by numpy's rules")
      .Output(0, "Y", "the type of X")
      .TensorInferenceFunction(InferBroadcastOfAll)
      .CostInferenceFunction(PointwiseCostInference<1>)
      .Traits({.family = OperatorFamily::kElementwise})
      .SetDoc("Shifts the bits of X to the left or to the right, as ONNX does.");
  RegisterCpuOperator<BitShiftOp>("BitShift", __FILE__);
  // Integers have no gradient.
  RegisterGradient<ThrowInTheTowelIfGradientIsCalled>("BitShift", __FILE__);
}

}  // namespace caffe2rt
