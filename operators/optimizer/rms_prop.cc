#include "operators/optimizer/rms_prop.h"

#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/operator_registry.h"

namespace caffe2rt {

void RegisterRmsProp() {
  RegisterSchema("RmsProp", __FILE__)
      .NumInputs(4)
      .NumOutputs(3)
      .AllowInplace({{0, 0}, {1, 1}, {2, 2}})
      .Args(kRmsPropDecay, kRmsPropMomentum, kRmsPropEpsilon)
      .Input(0, "grad", "the gradient, float")
      .Input(1, "mean_squares", "the running mean of grad^2; as many elements as grad")
      .Input(2, "moment", "as many elements as grad")
      .Input(3, "lr", "the learning rate: one element")
      .Output(0, "step", "what to add to the parameter")
      .Output(1, "mean_squares", "the new mean of squares")
      .Output(2, "moment", "the new moment")
      .TensorInferenceFunction(InferLikeInputs({0, 1, 2}))
      .SetDoc("Computes the step of RMSProp with momentum. The parameter is not updated.");
  RegisterCpuOperator<RmsPropOp<CPUContext>>("RmsProp", __FILE__);
  // An optimizer is not part of the function that is differentiated.
  RegisterGradient<ThrowInTheTowelIfGradientIsCalled>("RmsProp", __FILE__);
}

}  // namespace caffe2rt
