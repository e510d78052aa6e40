// Accumulate: adds its input to its output, which it decays before.
//   X float, any shape  ->  Y = X + gamma * Y, in the shape of X
// The first run, and one for another number of elements, starts with Y = 0.
#include <algorithm>

#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"

namespace caffe2rt {
namespace {

constexpr ArgumentSpec<float> kAccumulateGamma{"gamma", 1.0f, "factor of the former output"};

class AccumulateOp final : public Operator<CPUContext> {
 public:
  AccumulateOp(const OperatorDef& def, Workspace* ws)
      : Operator<CPUContext>(def, ws), gamma_(ReadArgument(kAccumulateGamma)) {}

  bool RunOnDevice() override {
    const Tensor& X = Input(0);
    const float* const x = X.data<float>();
    Tensor* const Y = Output(0);
    const bool starts = gamma_ == 0 || !Y->IsType<float>() || Y->numel() != X.numel();
    float* const y = OutputData<float>(0, X.sizes());
    if (starts) {
      std::copy_n(x, X.numel(), y);
    } else {
      for (int64_t i = 0; i < X.numel(); ++i) y[i] = x[i] + gamma_ * y[i];
    }
    return true;
  }

 private:
  const float gamma_;
};

}  // namespace

void RegisterAccumulate() {
  RegisterSchema("Accumulate", __FILE__)
      .NumInputs(1)
      .NumOutputs(1)
      .Arg(kAccumulateGamma)
      .Input(0, "input", "float, any shape")
      .Output(0, "output", "input + gamma * output, in the shape of input")
      .TypesOfInput(0, {.accepted = {TensorProto::FLOAT}})
      .IdenticalTypeAndShape()
      .CostInferenceFunction(PointwiseCostInference<2>)
      .Memory({.keeps_memory = true})
      .SetDoc(
          "Adds the input to the output of the runs before, times gamma. It starts with zeros if "
          "the output has another number of elements.");
  RegisterCpuOperator<AccumulateOp>("Accumulate", __FILE__);
  RegisterGradient<ThrowInTheTowelIfGradientIsCalled>("Accumulate", __FILE__);  // as in Caffe2
}

}  // namespace caffe2rt
