#include "operators/elementwise/prelu.h"

#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/common/onednn_argument.h"
#include "operators/elementwise/map.h"

namespace caffe2rt {

void PRelu(CPUContext&, int64_t outer, int64_t channels, int64_t inner, const float* x,
           const float* slopes, float* y) {
  if (outer == 0 || channels == 0 || inner == 0) return;
  using Loop = BroadcastLoop;
  const internal::BroadcastKernel<PReluFunction> kernel{};
  if (inner == 1) {
    RunSimd(kernel, Loop{channels, 1, 1}, Loop{outer, channels, 0}, x, slopes, y);
    return;
  }
  const int64_t image = channels * inner;
  for (int64_t i = 0; i < outer; ++i) {
    RunSimd(kernel, Loop{inner, 1, 0}, Loop{channels, inner, 1}, x + i * image, slopes,
            y + i * image);
  }
}

void PReluGradient(CPUContext& context, int64_t outer, int64_t channels, int64_t inner,
                   const float* x, const float* slopes, const float* dy, float* dx,
                   float* dslopes) {
  const BroadcastLoops loops = PReluLoops(outer, channels, inner);
  OperandGradient<Operand::kA>(context, loops, x, slopes, dy, dy, dx, PReluFunction{});
  OperandGradient<Operand::kB>(context, loops, x, slopes, dy, dy, dslopes, PReluFunction{});
}

namespace {

class GetPReluGradient final : public GradientMakerBase {
 public:
  using GradientMakerBase::GradientMakerBase;

 protected:
  std::vector<OperatorDef> GetGradientDefs() override {
    return SingleGradientDef("PReluGradient", "", std::vector<std::string>{O(0), GO(0), I(0), I(1)},
                             std::vector<std::string>{GI(0), GI(1)});
  }
};

}  // namespace

void RegisterPrelu() {
  RegisterSchema("PRelu", __FILE__)
      .NumInputs(2)
      .NumOutputs(1)
      .AllowInplace({{0, 0}})
      .Arg(kStorageOrder)
      .Input(0, "X", "[N, C, *] or [*, C], float")
      .Input(1, "W", "C slopes, or 1 for all channels")
      .Output(0, "Y", "the shape of X")
      .IdenticalTypeAndShapeOfInput(0)
      .DeviceInferenceFunction(OnednnWeightsOnCpu({1}))
      .CostInferenceFunction(PointwiseCostInference<2>)
      .FloatInputs(2)
      .Traits({.family = OperatorFamily::kActivation,
               .same_shape = true,
               .onednn = {OnednnRole::kAnyLayout, OnednnArguments::kNchw},
               .has_weights = true})
      .SetDoc("Y = X for X > 0, slope * X otherwise.");
  RegisterCpuOperator<PReluOp<CPUContext>>("PRelu", __FILE__);

  RegisterSchema("PReluGradient", __FILE__)
      .NumInputs(4)
      .NumOutputs(2)
      .Arg(kStorageOrder)
      .Input(0, "Y", "the output of PRelu; not used")
      .Input(1, "dY", "the gradient of Y")
      .Input(2, "X", "as in PRelu")
      .Input(3, "W", "as in PRelu")
      .Output(0, "dX", "the gradient of X")
      .Output(1, "dW", "the gradient of W")
      .IdenticalTypeAndShapeOfMultipleInputs({2, 3})
      .CostInferenceFunction(PointwiseCostInference<4>)
      .SetDoc("The gradients of the inputs of PRelu.");
  RegisterCpuOperator<PReluGradientOp<CPUContext>>("PReluGradient", __FILE__);
  RegisterGradient<GetPReluGradient>("PRelu", __FILE__);
}

}  // namespace caffe2rt
