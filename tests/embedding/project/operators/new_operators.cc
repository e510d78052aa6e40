#include "new_operators.h"

namespace caffe2 {
namespace {

REGISTER_CPU_OPERATOR(NewScale, NewScaleOp<float, CPUContext>);
REGISTER_CPU_OPERATOR(NewClamp, NewClampOp<CPUContext>);
REGISTER_CPU_OPERATOR(NewWindowMax, NewWindowMaxOp<float, CPUContext>);
REGISTER_CPU_OPERATOR(NewRamp, NewRampOp<float, CPUContext>);
REGISTER_CPU_OPERATOR(NewCount, NewCountOp<CPUContext>);
REGISTER_CPU_OPERATOR(NewShape, NewShapeOp<CPUContext>);
REGISTER_CPU_OPERATOR(NewAdd, NewAddOp<float, CPUContext>);
REGISTER_CPU_OPERATOR(NewRowSum, NewRowSumOp);
REGISTER_CPU_OPERATOR(NewJoin, NewJoinOp<CPUContext>);
REGISTER_CPU_OPERATOR(NewHistory, NewHistoryOp<CPUContext>);
REGISTER_CPU_OPERATOR_WITH_ENGINE(NewHistory, FAST, NewHistoryOp<CPUContext>);

OPERATOR_SCHEMA(NewScale)
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
OPERATOR_SCHEMA(NewClamp).NumInputs(1).NumOutputs(1).Arg("max", "the greatest value");
OPERATOR_SCHEMA(NewWindowMax)
    .NumInputs(1)
    .NumOutputs(1)
    .Arg("kernel", "the size of the window")
    .Arg("stride", "the step");
OPERATOR_SCHEMA(NewRamp)
    .NumInputs(0, 1)
    .NumOutputs(1)
    .Arg("shape", "the shape")
    .Arg("first", "the first element")
    .TensorInferenceFunction(FillerTensorInference<TensorProto_DataType_FLOAT>);
OPERATOR_SCHEMA(NewCount).NumInputs(0).NumOutputs(1);
OPERATOR_SCHEMA(NewShape).NumInputs(1).NumOutputs(1);
OPERATOR_SCHEMA(NewAdd).NumInputs(2).NumOutputs(1).AllowInplace({{0, 0}, {1, 0}});
OPERATOR_SCHEMA(NewRowSum).NumInputs(1).NumOutputs(1).TensorInferenceFunction(
    [](const OperatorDef& /*def*/, const vector<TensorShape>& in) {
      vector<TensorShape> out(1);
      out[0].set_data_type(in[0].data_type());
      out[0].add_dims(in[0].dims(0));
      return out;
    });
OPERATOR_SCHEMA(NewJoin).NumInputs(1, INT_MAX).NumOutputs(1);
OPERATOR_SCHEMA(NewHistory).NumInputs(1).NumOutputs(2).Arg("extra", "further entries");

class GetNewScaleGradient : public GradientMakerBase {
  using GradientMakerBase::GradientMakerBase;
  vector<OperatorDef> GetGradientDefs() override {
    return SingleGradientDef("NewScale", "", vector<string>{GO(0)}, vector<string>{GI(0)});
  }
};
REGISTER_GRADIENT(NewScale, GetNewScaleGradient);
NO_GRADIENT(NewShape);
SHOULD_NOT_DO_GRADIENT(NewCount);

}  // namespace
}  // namespace caffe2
