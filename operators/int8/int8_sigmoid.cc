// Int8Sigmoid: 1 / (1 + exp(-x)).

#include <cmath>

#include "caffe2_core/runtime/operator_registry.h"
#include "operators/int8/int8_probability.h"
#include "operators/int8/int8_table.h"

namespace caffe2rt {

namespace {

class SigmoidOfInt8 {
 public:
  SigmoidOfInt8(const ArgumentHelper&, const Quantization& output) {
    CheckProbabilityQuantization(output);
  }
  float operator()(float scale, float steps) const {
    return kProbabilitySteps / (1 + std::exp(-scale * steps));
  }
};

}  // namespace

void RegisterInt8Sigmoid() {
  RegisterInt8Schema("Int8Sigmoid", __FILE__)
      .NumInputs(1)
      .NumOutputs(1)
      .Arg(kInt8UnusedOrder)
      .Input(0, "X", "a quantized tensor")
      .Output(0, "Y", "a quantized tensor of the shape of X, with scale 1/256 and zero point 0")
      .IdenticalTypeAndShape()
      .SetDoc(
          "Computes the logistic function of a quantized tensor. Y_scale must be 1/256 and "
          "Y_zero_point 0.");
  RegisterCpuOperator<Int8TableOp<SigmoidOfInt8>>("Int8Sigmoid", __FILE__);
}

}  // namespace caffe2rt
