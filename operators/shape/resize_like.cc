#include "operators/shape/resize_like.h"

#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "operators/common/inference.h"

namespace caffe2rt {

void RegisterResizeLike() {
  RegisterSchema("ResizeLike", __FILE__)
      .NumInputs(2)
      .NumOutputs(1)
      .Input(0, "data", "any tensor")
      .Input(1, "shape_tensor", "tensor with the same number of elements; only its shape is used")
      .Output(0, "output", "the elements of data in the new shape")
      .TensorInferenceFunction([](const OperatorDef& def, const std::vector<TensorShape>& in) {
        if (!AreKnown(in, 2)) return UnknownOutputs(def);
        return std::vector<TensorShape>{CreateTensorShape(GetDimsVector(in[1]), in[0].data_type())};
      })
      .Traits({.family = OperatorFamily::kShape})
      .SetDoc(
          "Changes the shape of a tensor to that of another one with the same number of elements.");
  RegisterCpuOperator<ResizeLikeOp<CPUContext>>("ResizeLike", __FILE__);
  // Caffe2 has no gradient for this operator.
  RegisterGradient<ThrowInTheTowelIfGradientIsCalled>("ResizeLike", __FILE__);
}

}  // namespace caffe2rt
