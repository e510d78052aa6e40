// Int8Quantize: a float tensor in steps of a scale.

#include <algorithm>
#include <cmath>

#include "caffe2_core/base/simd.h"
#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "operators/int8/int8_operator.h"
#include "operators/primitives/wrapping.h"

namespace caffe2rt {

namespace {

// Rounds x / scale to nearest, halves to even, and adds the zero point. In Caffe2 the sum is a
// 32-bit integer: quotients of `end` or more, and NaN, become 0.
CAFFE2RT_SIMD void QuantizeToInt8(const float* x, int64_t n, float scale, int32_t zero_point,
                                  float end, uint8_t* y) {
  constexpr float kFar = 1024;          // beyond every stored element
  constexpr float kRounder = 12582912;  // 1.5 * 2^23: adding it leaves no bits for fractions
  const auto zero = static_cast<float>(zero_point);
  for (int64_t i = 0; i < n; ++i) {
    const float steps = x[i] / scale;
    float near = steps < kFar ? steps : kFar;
    near = near > -kFar ? near : -kFar;
    float stored = near + kRounder - kRounder + zero;
    stored = stored > 0 ? stored : 0;
    stored = stored < kInt8Highest ? stored : kInt8Highest;
    stored = steps < end ? stored : 0;
    y[i] = static_cast<uint8_t>(static_cast<int32_t>(stored));
  }
}

// The same for any zero point. As in Caffe2, the integer sum wraps around, and a quotient that does
// not fit 32 bits, or NaN, becomes the least integer.
void QuantizeWithAnyZeroPoint(const float* x, int64_t n, float scale, int32_t zero_point,
                              uint8_t* y) {
  constexpr float kTwoTo31 = 2147483648.0f;
  for (int64_t i = 0; i < n; ++i) {
    const float steps = std::nearbyint(x[i] / scale);
    const bool fits = steps >= -kTwoTo31 && steps < kTwoTo31;
    const int32_t whole = fits ? static_cast<int32_t>(steps) : INT32_MIN;
    y[i] = static_cast<uint8_t>(
        std::clamp(math::WrappingAdd(whole, zero_point), int32_t{0}, kInt8Highest));
  }
}

class Int8QuantizeOp final : public Int8Operator {
 public:
  Int8QuantizeOp(const OperatorDef& def, Workspace* ws) : Int8Operator(def, ws, Int8Range::kAny) {
    CAFFE_ENFORCE(output().scale != 0 && std::isfinite(output().scale), "argument \"",
                  kInt8OutputScale.name, "\" is ", output().scale,
                  ", want a finite number other than 0");
  }

  bool RunOnDevice() override {
    // The greatest float below 2^31 is 2^31 - 128.
    constexpr float kTwoTo31 = 2147483648.0f;
    constexpr int32_t kGap = 128;
    const Tensor& x = Input(0);
    const float* elements = x.data<float>();
    uint8_t* y = OutputInt8(0, x.sizes());
    if (output().zero_point < 0 || output().zero_point > kInt8Highest) {
      QuantizeWithAnyZeroPoint(elements, x.numel(), output().scale, output().zero_point, y);
      return true;
    }
    const float end = output().zero_point >= kGap ? kTwoTo31 - kGap : kTwoTo31;
    QuantizeToInt8(elements, x.numel(), output().scale, output().zero_point, end, y);
    return true;
  }
};

std::vector<TensorShape> InferInt8Quantize(const OperatorDef&, const std::vector<TensorShape>& in) {
  if (in.empty() || in[0].unknown_shape()) return {UnknownShape()};
  TensorShape shape = in[0];
  shape.set_data_type(TensorProto_DataType_UINT8);
  return {shape};
}

}  // namespace

void RegisterInt8Quantize() {
  RegisterInt8Schema("Int8Quantize", __FILE__)
      .NumInputs(1, 2)
      .NumOutputs(1)
      .Arg(kInt8UnusedOrder)
      .Input(0, "X", "float")
      .Input(1, "Qparam", "(optional) has no effect; Y_scale and Y_zero_point apply")
      .Output(0, "Y", "a quantized tensor of the shape of X")
      .TensorInferenceFunction(InferInt8Quantize)
      .SetDoc(
          "Quantizes a tensor: divides by Y_scale, rounds, adds Y_zero_point and clips to 0..255.");
  RegisterCpuOperator<Int8QuantizeOp>("Int8Quantize", __FILE__);
}

}  // namespace caffe2rt
