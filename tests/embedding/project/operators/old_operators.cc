#include "old_operators.h"

namespace caffe2 {
namespace {

REGISTER_CPU_OPERATOR(OldScale, OldScaleOp<float, CPUContext>);
REGISTER_CPU_OPERATOR(OldClamp, OldClampOp<CPUContext>);
REGISTER_CPU_OPERATOR(OldWindowSum, OldWindowSumOp<float, CPUContext>);
REGISTER_CPU_OPERATOR(OldRamp, OldRampOp<float, CPUContext>);
REGISTER_CPU_OPERATOR(OldCount, OldCountOp<CPUContext>);
REGISTER_CPU_OPERATOR(OldShape, OldShapeOp<CPUContext>);
REGISTER_CPU_OPERATOR(OldAdd, OldAddOp<float, CPUContext>);
REGISTER_CPU_OPERATOR(OldRowSum, OldRowSumOp<float, CPUContext>);
REGISTER_CPU_OPERATOR(OldJoin, OldJoinOp<float, CPUContext>);
REGISTER_CPU_OPERATOR(OldHistory, OldHistoryOp<CPUContext>);
REGISTER_CPU_OPERATOR_WITH_ENGINE(OldHistory, FAST, OldHistoryOp<CPUContext>);

OPERATOR_SCHEMA(OldScale)
    .NumInputs(1)
    .NumOutputs(1)
    .AllowInplace({{0, 0}})
    .IdenticalTypeAndShape()
    .SetDoc(R"DOC(
Multiplies by a number.
)DOC")
    .Arg("scale", "the factor")
    .Input(0, "X", "a tensor")
    .Output(0, "Y", "a tensor of the same shape");
OPERATOR_SCHEMA(OldClamp).NumInputs(1).NumOutputs(1).Arg("max", "the greatest value");
OPERATOR_SCHEMA(OldWindowSum)
    .NumInputs(1)
    .NumOutputs(1)
    .Arg("kernel", "the size of the window")
    .Arg("stride", "the step")
    .Arg("pad", "the padding");
OPERATOR_SCHEMA(OldRamp)
    .NumInputs(0, 1)
    .NumOutputs(1)
    .Arg("shape", "the shape")
    .Arg("first", "the first element")
    .TensorInferenceFunction(FillerTensorInference<>);
OPERATOR_SCHEMA(OldCount).NumInputs(0).NumOutputs(1);
OPERATOR_SCHEMA(OldShape).NumInputs(1).NumOutputs(1).Arg("reverse",
                                                         "whether the order is reversed");
OPERATOR_SCHEMA(OldAdd).NumInputs(2).NumOutputs(1).AllowInplace({{0, 0}, {1, 0}});
OPERATOR_SCHEMA(OldRowSum).NumInputs(1).NumOutputs(1).TensorInferenceFunction(
    [](const OperatorDef& /*def*/, const vector<TensorShape>& in) {
      vector<TensorShape> out(1);
      out[0].set_data_type(in[0].data_type());
      out[0].add_dims(in[0].dims(0));
      return out;
    });
OPERATOR_SCHEMA(OldJoin).NumInputs(1, INT_MAX).NumOutputs(1);
OPERATOR_SCHEMA(OldHistory).NumInputs(1).NumOutputs(2).Arg("extra", "further entries");

class GetOldScaleGradient : public GradientMakerBase {
  using GradientMakerBase::GradientMakerBase;
  vector<OperatorDef> GetGradientDefs() override {
    return SingleGradientDef("OldScale", "", vector<string>{GO(0)}, vector<string>{GI(0)});
  }
};
REGISTER_GRADIENT(OldScale, GetOldScaleGradient);
NO_GRADIENT(OldShape);
SHOULD_NOT_DO_GRADIENT(OldCount);

}  // namespace
}  // namespace caffe2
