#include "operators/norm/softmax.h"

#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "operators/common/inference.h"

namespace caffe2rt {

namespace {

class GetSoftmaxGradient final : public GradientMakerBase {
 public:
  using GradientMakerBase::GradientMakerBase;

 protected:
  std::vector<OperatorDef> GetGradientDefs() override {
    return SingleGradientDef("SoftmaxGradient", "", std::vector<std::string>{O(0), GO(0)},
                             std::vector<std::string>{GI(0)});
  }
};

std::vector<TensorShape> InferSoftmax(const OperatorDef& def, const std::vector<TensorShape>& in) {
  if (!AreKnown(in, 1)) return UnknownOutputs(def);
  (void)canonical_axis_index_(ArgumentHelper(def).Read(kSoftmaxAxis), in[0].dims_size());  // THROWS
  return {in[0]};
}

}  // namespace

void RegisterSoftmax() {
  RegisterSchema("Softmax", __FILE__)
      .NumInputs(1)
      .NumOutputs(1)
      .Arg(kSoftmaxAxis)
      .Input(0, "X", "[M.., N..], where N.. begins at axis")
      .Output(0, "Y", "the shape of X; each row N.. adds up to 1")
      .TensorInferenceFunction(InferSoftmax)
      .CostInferenceFunction(PointwiseCostInference<10>)
      .InheritOnnxSchema("Softmax")
      .FloatInputs(1)
      .Traits({.family = OperatorFamily::kActivation, .same_shape = true, .writes_float = true})
      .SetDoc(
          "Softmax: exp(x) / sum of exp(x), where the sum is over all dimensions from axis on.");
  RegisterCpuOperator<SoftmaxOp<CPUContext>>("Softmax", __FILE__);

  RegisterSchema("SoftmaxGradient", __FILE__)
      .NumInputs(2)
      .NumOutputs(1)
      .Arg(kSoftmaxAxis)
      .Input(0, "Y", "output of Softmax")
      .Input(1, "dY", "gradient of Y")
      .Output(0, "dX", "gradient of X, the shape of Y")
      .IdenticalTypeAndShapeOfInput(0)
      .CostInferenceFunction(PointwiseCostInference<4>)
      .SetDoc("Computes the gradient of Softmax: (dY - sum of Y * dY over the row) * Y.");
  RegisterCpuOperator<SoftmaxGradientOp<CPUContext>>("SoftmaxGradient", __FILE__);
  RegisterGradient<GetSoftmaxGradient>("Softmax", __FILE__);
}

}  // namespace caffe2rt
