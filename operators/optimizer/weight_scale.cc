#include "operators/optimizer/weight_scale.h"

#include "caffe2_core/graph/device_inference.h"
#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/operator_registry.h"

namespace caffe2rt {

void RegisterWeightScale() {
  RegisterSchema("WeightScale", __FILE__)
      .NumInputs(2)
      .NumOutputs(1)
      .AllowInplace({{0, 0}})
      .Args(kWeightScaleStep, kWeightScaleBound, kWeightScaleFactor)
      .Input(0, "w", "the parameter, float")
      .Input(1, "iter", "the iteration, int64, on the CPU")
      .Output(0, "nw", "the shape of w")
      .TensorInferenceFunction(InferLikeInputs({0}))
      .DeviceInferenceFunction(OnCPU({1}, {}))
      .SetDoc(
          "Multiplies a parameter by a constant if iter + 1 is a multiple of stepsize and less "
          "than "
          "upper_bound_iter.");
  RegisterCpuOperator<WeightScaleOp<CPUContext>>("WeightScale", __FILE__);
  // An optimizer is not part of the function that is differentiated.
  RegisterGradient<ThrowInTheTowelIfGradientIsCalled>("WeightScale", __FILE__);
}

}  // namespace caffe2rt
