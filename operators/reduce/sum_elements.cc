#include "operators/reduce/sum_elements.h"

#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "operators/common/inference.h"

namespace caffe2rt {

namespace {

OpSchema& SumSchema(const char* type, const char* doc) {
  return RegisterSchema(type, __FILE__)
      .NumInputs(1)
      .NumOutputs(1)
      .Input(0, "X", "input, of any shape")
      .Output(0, "sum", "scalar: a tensor of rank 0")
      .TensorInferenceFunction([](const OperatorDef& def, const std::vector<TensorShape>& in) {
        if (!AreKnown(in, 1)) return UnknownOutputs(def);
        return std::vector<TensorShape>{
            CreateTensorShape(std::vector<int64_t>{}, in[0].data_type())};
      })
      .CostInferenceFunction(PointwiseCostInference<1>)
      .SetDoc(doc);
}

class GetSumElementsGradient final : public GradientMakerBase {
 public:
  using GradientMakerBase::GradientMakerBase;

 protected:
  std::vector<OperatorDef> GetGradientDefs() override {
    return SingleGradientDef("SumElementsGradient", "", {I(0), GO(0)}, {GI(0)});
  }
};

}  // namespace

void RegisterSumElements() {
  SumSchema("SumElements", "Computes the sum of all elements.").Arg(kSumAverage);
  RegisterCpuOperator<SumElementsOp<CPUContext, SumOf, MeanOf, float>>("SumElements", __FILE__);
  RegisterGradient<GetSumElementsGradient>("SumElements", __FILE__);

  RegisterSchema("SumElementsGradient", __FILE__)
      .NumInputs(2)
      .NumOutputs(1)
      .Arg(kSumAverage)
      .Input(0, "X", "the input of SumElements, for its shape")
      .Input(1, "dY", "the gradient of the sum: float, one element")
      .Output(0, "dX", "the gradient of X")
      .TensorInferenceFunction(InferShapeAndType(0, 1))
      .SetDoc("Computes the gradient of SumElements.");
  RegisterCpuOperator<SumElementsGradientOp<CPUContext>>("SumElementsGradient", __FILE__);

  SumSchema("SumElementsInt",
            "Computes the sum of all elements, which are int32. The sum wraps around on overflow.");
  RegisterCpuOperator<SumElementsOp<CPUContext, SumOf, SumOf, int32_t>>("SumElementsInt", __FILE__);

  // Caffe2 registers no gradient for SumSqrElements.
  SumSchema("SumSqrElements", "Computes the sum of the squares of all elements.").Arg(kSumAverage);
  RegisterCpuOperator<SumElementsOp<CPUContext, SumOfSquares, MeanOfSquares, float, double>>(
      "SumSqrElements", __FILE__);
  // Integers have no gradient.
  RegisterGradient<ThrowInTheTowelIfGradientIsCalled>("SumElementsInt", __FILE__);
}

}  // namespace caffe2rt
