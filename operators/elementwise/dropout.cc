#include "operators/elementwise/dropout.h"

#include <random>

#include "caffe2_core/base/simd.h"
#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/common/inference.h"

namespace caffe2rt {

void DropElements(CPUContext& context, uint64_t*, int64_t n, float ratio, const float* x, float* y,
                  bool* keep) {
  const float scale = 1.0f / (1.0f - ratio);
  std::bernoulli_distribution kept(1.0 - static_cast<double>(ratio));
  auto& generator = context.RandGenerator();
  for (int64_t i = 0; i < n; ++i) {
    keep[i] = kept(generator);
    y[i] = keep[i] ? x[i] * scale : 0.0f;
  }
}

namespace {

struct KeepGradientKernel {
  CAFFE2RT_SIMD_INLINE void operator()(int64_t n, float scale, const float* dy, const bool* keep,
                                       float* dx) const {
    CAFFE2RT_SIMD_LOOP
    for (int64_t i = 0; i < n; ++i) dx[i] = keep[i] ? dy[i] * scale : 0.0f;
  }
};

class GetDropoutGradient final : public GradientMakerBase {
 public:
  using GradientMakerBase::GradientMakerBase;

 protected:
  std::vector<OperatorDef> GetGradientDefs() override {
    std::vector<std::string> inputs{GO(0)};
    if (ArgumentHelper(def_).Read(kDropoutIsTest) == 0) inputs.push_back(O(1));
    return SingleGradientDef("DropoutGrad", "", inputs, std::vector<std::string>{GI(0)});
  }
};

PassesOn PassesOnInTestMode(const OperatorDef& def) {
  return ArgumentHelper(def).Read(kDropoutIsTest) != 0 ? PassesOn::kAlways : PassesOn::kNever;
}

}  // namespace

void KeepGradients(CPUContext&, int64_t n, float ratio, const float* dy, const bool* keep,
                   float* dx) {
  RunSimd(KeepGradientKernel{}, n, 1.0f / (1.0f - ratio), dy, keep, dx);
}

void RegisterDropout() {
  RegisterSchema("Dropout", __FILE__)
      .NumInputs(1)
      .NumOutputs(1, 2)
      .AllowInplace({{0, 0}})
      .Args(kDropoutRatio, kDropoutIsTest)
      .Input(0, "X", "any shape, float")
      .Output(0, "Y", "the shape of X")
      .Output(1, "mask",
              "the shape of X, bool: true where an element was kept; not written in test mode")
      .TensorInferenceFunction([](const OperatorDef& def, const std::vector<TensorShape>& in) {
        if (!AreKnown(in, 1)) return UnknownOutputs(def);
        std::vector<TensorShape> out{in[0]};
        if (def.output_size() == 2) {
          out.push_back(CreateTensorShape(GetDimsVector(in[0]), TensorProto::BOOL));
        }
        return out;
      })
      .CostInferenceFunction(PointwiseCostInference<1>)
      .HasEffect(
          Effect::kRandom,
          [](const OperatorDef& def) { return ArgumentHelper(def).Read(kDropoutIsTest) == 0; })
      .Traits({.family = OperatorFamily::kActivation,
               .same_shape = true,
               .passes_on = PassesOnInTestMode,
               .onednn = {OnednnRole::kAnyLayout, OnednnArguments::kTestMode}})
      .SetDoc("Sets a random fraction of the elements to 0 in training. In test mode Y = X.");
  RegisterCpuOperator<DropoutOp<CPUContext>>("Dropout", __FILE__);

  RegisterSchema("DropoutGrad", __FILE__)
      .NumInputs(1, 2)
      .NumOutputs(1)
      .AllowInplace({{0, 0}})
      .Args(kDropoutRatio, kDropoutGradIsTest)
      .Input(0, "dY", "the gradient of Y, float")
      .Input(1, "mask", "the mask that Dropout wrote; not needed in test mode")
      .Output(0, "dX", "the shape of dY")
      .IdenticalTypeAndShapeOfInput(0)
      .CostInferenceFunction(PointwiseCostInference<1>)
      .SetDoc("The gradient of Dropout.");
  RegisterCpuOperator<DropoutGradOp<CPUContext>>("DropoutGrad", __FILE__);
  RegisterGradient<GetDropoutGradient>("Dropout", __FILE__);
}

}  // namespace caffe2rt
