// Int8Relu: max(x, 0).

#include "caffe2_core/base/simd.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "operators/int8/int8_operator.h"

namespace caffe2rt {

namespace {

CAFFE2RT_SIMD void ReluInt8Row(const uint8_t* x, int64_t n, uint8_t zero_point, uint8_t* y) {
  CAFFE2RT_SIMD_LOOP
  for (int64_t i = 0; i < n; ++i) y[i] = x[i] < zero_point ? zero_point : x[i];
}

class Int8ReluOp final : public Int8Operator {
 public:
  using Int8Operator::Int8Operator;

  bool RunOnDevice() override {
    const QuantizedInput x = InputInt8(0, "X");
    CheckKeepsQuantization(x);
    uint8_t* y = OutputInt8(0, x.tensor->sizes());
    ReluInt8Row(x.data(), x.tensor->numel(), static_cast<uint8_t>(output().zero_point), y);
    return true;
  }
};

}  // namespace

void RegisterInt8Relu() {
  RegisterInt8Schema("Int8Relu", __FILE__)
      .NumInputs(1)
      .NumOutputs(1)
      .AllowInplace({{0, 0}})
      .Arg(kInt8UnusedOrder)
      .Input(0, "X", "a quantized tensor")
      .Output(0, "Y", "a quantized tensor with the shape, scale and zero point of X")
      .IdenticalTypeAndShape()
      .SetDoc("Replaces the negative elements of a quantized tensor by 0.");
  RegisterCpuOperator<Int8ReluOp>("Int8Relu", __FILE__);
}

}  // namespace caffe2rt
