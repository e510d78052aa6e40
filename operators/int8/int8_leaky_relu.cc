// Int8LeakyRelu: x if x >= 0, else alpha * x.

#include "caffe2_core/runtime/operator_registry.h"
#include "operators/int8/int8_table.h"

namespace caffe2rt {

namespace {

constexpr ArgumentSpec<float> kInt8LeakyAlpha{
    "alpha",
    0.01f,
    "slope for x < 0, between 0 and 1",
    {[](float alpha) { return alpha > 0 && alpha < 1; }, "above 0 and below 1"}};

class LeakyReluOfInt8 {
 public:
  LeakyReluOfInt8(const ArgumentHelper& args, const Quantization& output)
      : alpha_(args.Read(kInt8LeakyAlpha)), scale_(output.scale) {}
  float operator()(float scale, float steps) const {
    const float x = scale / scale_ * steps;
    return x < 0 ? x * alpha_ : x;
  }

 private:
  const float alpha_;
  const float scale_;
};

}  // namespace

void RegisterInt8LeakyRelu() {
  RegisterInt8Schema("Int8LeakyRelu", __FILE__)
      .NumInputs(1)
      .NumOutputs(1)
      .AllowInplace({{0, 0}})
      .Args(kInt8LeakyAlpha, kInt8UnusedOrder)
      .Input(0, "X", "a quantized tensor")
      .Output(0, "Y", "a quantized tensor of the shape of X")
      .IdenticalTypeAndShape()
      .SetDoc("Multiplies the negative elements of a quantized tensor by alpha.");
  RegisterCpuOperator<Int8TableOp<LeakyReluOfInt8>>("Int8LeakyRelu", __FILE__);
}

}  // namespace caffe2rt
