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

}  // namespace

void RegisterSumElements() {
  SumSchema("SumElements", "Computes the sum of all elements.").Arg(kSumAverage);
  RegisterCpuOperator<SumElementsOp<CPUContext, SumOf, MeanOf, float>>("SumElements", __FILE__);

  SumSchema("SumElementsInt",
            "Computes the sum of all elements, which are int32. The sum wraps around on overflow.");
  RegisterCpuOperator<SumElementsOp<CPUContext, SumOf, SumOf, int32_t>>("SumElementsInt", __FILE__);

  SumSchema("SumSqrElements", "Computes the sum of the squares of all elements.").Arg(kSumAverage);
  RegisterCpuOperator<SumElementsOp<CPUContext, SumOfSquares, MeanOfSquares, float, double>>(
      "SumSqrElements", __FILE__);
  // Integers have no gradient.
  RegisterGradient<ThrowInTheTowelIfGradientIsCalled>("SumElementsInt", __FILE__);
}

}  // namespace caffe2rt
