#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "operators/optimizer/update_checks.h"
#include "operators/optimizer/update_loops.h"

namespace caffe2rt {

namespace {

constexpr ArgumentSpec<float> kClipThreshold{
    "threshold",
    0.0f,
    "the greatest value that does not scale; above 0, required",
    {[](float threshold) { return threshold > 0; }, "above 0"},
    true};

// tensor, value [1], optional factor of the threshold [1]  ->  tensor, scaled by threshold / value
// if value is greater than the threshold (may be in place)
class ClipTensorByScalingOp final : public Operator<CPUContext> {
 public:
  ClipTensorByScalingOp(const OperatorDef& def, Workspace* ws)
      : Operator<CPUContext>(def, ws), threshold_(ReadArgument(kClipThreshold)) {}

  bool RunOnDevice() override {
    const Tensor& X = Input(0);
    CAFFE_ENFORCE_GT(X.numel(), 0, "elements of input 0 (input_tensor)");
    const float value = *OneNumber({Input(1), "input 1 (val)"});
    const float threshold =
        InputSize() > 2 ? threshold_ * *OneNumber({Input(2), "input 2 (additional_threshold)"})
                        : threshold_;
    const float* const x = X.data<float>();
    float* const y = OutputData<float>(0, X.sizes());
    if (value > threshold || x != y) {
      const float scale = value > threshold ? threshold / value : 1.0f;
      UpdateAll(context_, X.numel(), ScaleRule{x, y, scale});
    }
    return true;
  }

 private:
  const float threshold_;
};

}  // namespace

void RegisterClipTensorByScaling() {
  RegisterSchema("ClipTensorByScaling", __FILE__)
      .NumInputs(2, 3)
      .NumOutputs(1)
      .AllowInplace({{0, 0}})
      .Arg(kClipThreshold)
      .Input(0, "input_tensor", "float, not empty")
      .Input(1, "val", "one number, often the norm of the tensor")
      .Input(2, "additional_threshold", "one number by which the threshold is multiplied; optional")
      .Output(0, "clipped", "the shape of input_tensor")
      .TensorInferenceFunction(InferLikeInputs({0}))
      .SetDoc(
          "Multiplies a tensor by threshold / val if val is greater than the threshold; for "
          "clipping "
          "gradients by their norm.");
  RegisterCpuOperator<ClipTensorByScalingOp>("ClipTensorByScaling", __FILE__);
  // Clipping belongs to the optimizer, not to the function that is differentiated.
  RegisterGradient<ThrowInTheTowelIfGradientIsCalled>("ClipTensorByScaling", __FILE__);
}

}  // namespace caffe2rt
