// Int8Add, Int8AddRelu, Int8Sum, Int8SumRelu: the sum of two quantized tensors of one shape. Each
// input and the output has its own scale and zero point.
//
// The arithmetic is that of QNNPACK: both inputs are multiplied by their scales relative to that of
// the output, as integers with the same binary point, and the sum is rounded to nearest, halves
// away from zero.

#include <bit>

#include "caffe2_core/base/simd.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "operators/int8/int8_operator.h"

namespace caffe2rt {

namespace {

// y = ((a - a_zero) * a_multiplier + (b - b_zero) * b_multiplier) / 2^shift + zero_point
struct Int8AddFactors {
  int32_t a_zero = 0, b_zero = 0;
  int32_t a_multiplier = 0, b_multiplier = 0;
  int32_t shift = 0;  // 14 to 31
  int32_t zero_point = 0, low = 0;
};

CAFFE2RT_SIMD void AddInt8Row(const uint8_t* a, const uint8_t* b, int64_t n, int32_t a_zero,
                              int32_t b_zero, int32_t a_multiplier, int32_t b_multiplier,
                              int32_t shift, int32_t zero_point, int32_t low, uint8_t* y) {
  const int32_t mask = static_cast<int32_t>((uint32_t{1} << shift) - 1);
  const int32_t threshold = mask >> 1;
  CAFFE2RT_SIMD_LOOP
  for (int64_t i = 0; i < n; ++i) {
    // At most 2 * 255 * 2^22.
    const int32_t sum = (a[i] - a_zero) * a_multiplier + (b[i] - b_zero) * b_multiplier;
    const int32_t rest = (sum & mask) - (sum < 0 ? 1 : 0);
    int32_t value = (sum >> shift) + (rest > threshold ? 1 : 0) + zero_point;
    value = value < low ? low : value;
    value = value > kInt8Highest ? kInt8Highest : value;
    y[i] = static_cast<uint8_t>(value);
  }
}

float RelativeScale(const QuantizedInput& input, int i, const Quantization& output) {
  constexpr float kLeast = 1.0f / 16384, kEnd = 256;
  const float ratio = input.quantization.scale / output.scale;
  CAFFE_ENFORCE(ratio >= kLeast && ratio < kEnd, "scale ", input.quantization.scale, " of input ",
                i, " divided by argument Y_scale ", output.scale, " is ", ratio, ", want ", kLeast,
                " to less than ", kEnd);
  return ratio;
}

Int8AddFactors FactorsOfSum(const QuantizedInput& a, const QuantizedInput& b,
                            const Quantization& output, bool relu) {
  constexpr int32_t kMantissaBits = 23, kExponentBias = 127;
  constexpr int32_t kProductBits = 21;  // the larger factor is 2^21 to 2^22
  const float a_ratio = RelativeScale(a, 0, output), b_ratio = RelativeScale(b, 1, output);
  const float largest = std::max(a_ratio, b_ratio);
  const int32_t exponent = (std::bit_cast<int32_t>(largest) >> kMantissaBits) - kExponentBias;
  Int8AddFactors factors{.a_zero = a.quantization.zero_point,
                         .b_zero = b.quantization.zero_point,
                         .shift = 31,
                         .zero_point = output.zero_point,
                         .low = LowestInt8(output, relu)};
  const int32_t shift = kProductBits - exponent;
  if (shift > factors.shift) return factors;  // no sum reaches half a step
  factors.shift = shift;
  factors.a_multiplier = static_cast<int32_t>(std::lrint(std::ldexp(a_ratio, shift)));
  factors.b_multiplier = static_cast<int32_t>(std::lrint(std::ldexp(b_ratio, shift)));
  return factors;
}

template <bool kRelu>
class Int8AddOp final : public Int8Operator {
 public:
  using Int8Operator::Int8Operator;

  bool RunOnDevice() override {
    const QuantizedInput a = InputInt8(0, "A"), b = InputInt8(1, "B");
    CAFFE_ENFORCE(a.tensor->dims() == b.tensor->dims(), "input 1 (B) has shape ", b.tensor->sizes(),
                  ", want ", a.tensor->sizes(),
                  ", the shape of input 0 (A): quantized tensors are not broadcast");
    const Int8AddFactors f = FactorsOfSum(a, b, output(), kRelu);
    uint8_t* y = OutputInt8(0, a.tensor->sizes());
    AddInt8Row(a.data(), b.data(), a.tensor->numel(), f.a_zero, f.b_zero, f.a_multiplier,
               f.b_multiplier, f.shift, f.zero_point, f.low, y);
    return true;
  }
};

void RegisterInt8Sum(const char* type, bool relu) {
  RegisterInt8Schema(type, __FILE__)
      .NumInputs(2)
      .NumOutputs(1)
      .AllowInplace({{0, 0}, {1, 0}})
      .Arg(kInt8UnusedOrder)
      .Input(0, "A", "a quantized tensor")
      .Input(1, "B", "a quantized tensor of the shape of A")
      .Output(0, "C", "a quantized tensor of the shape of A")
      .IdenticalTypeAndShapeOfInput(0)
      .SetDoc(relu ? "Adds two quantized tensors; negative sums become 0."
                   : "Adds two quantized tensors.");
  if (relu) {
    RegisterCpuOperator<Int8AddOp<true>>(type, __FILE__);
  } else {
    RegisterCpuOperator<Int8AddOp<false>>(type, __FILE__);
  }
}

}  // namespace

void RegisterInt8Add() {
  RegisterInt8Sum("Int8Add", false);
  RegisterInt8Sum("Int8AddRelu", true);
  RegisterInt8Sum("Int8Sum", false);
  RegisterInt8Sum("Int8SumRelu", true);
}

}  // namespace caffe2rt
