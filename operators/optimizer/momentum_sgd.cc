#include "operators/optimizer/momentum_sgd.h"

#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/operator_registry.h"

namespace caffe2rt {

namespace {

OpSchema& MomentumSchema(const char* type, const char* doc) {
  return RegisterSchema(type, __FILE__)
      .NumInputs(4)
      .NumOutputs(3)
      .AllowInplace({{0, 0}, {1, 1}, {3, 2}})
      .Args(kMomentum, kNesterov)
      .Input(0, "grad", "the gradient")
      .Input(1, "moment", "as many elements as grad")
      .Input(2, "lr", "the learning rate: one element")
      .Input(3, "param", "as many elements as grad")
      .Output(0, "step", "what is subtracted from the parameter")
      .Output(1, "moment", "the new moment")
      .SetDoc(doc);
}

std::vector<TensorShape> InferMomentumUpdate(const OperatorDef& def,
                                             const std::vector<TensorShape>& in) {
  std::vector<TensorShape> out = InferLikeInputs({0, 1, 3})(def, in);
  if (def.input(3) != def.output(2))
    out[2] = CreateTensorShape(std::vector<int64_t>{0}, TensorProto::FLOAT);
  return out;
}

}  // namespace

void RegisterMomentumSgd() {
  RegisterSchema("MomentumSGD", __FILE__)
      .NumInputs(3)
      .NumOutputs(2)
      .AllowInplace({{0, 0}, {1, 1}})
      .Args(kMomentum, kNesterov)
      .Input(0, "grad", "the gradient, float")
      .Input(1, "moment", "as many elements as grad")
      .Input(2, "lr", "the learning rate: one element")
      .Output(0, "step", "what to subtract from the parameter")
      .Output(1, "moment", "the new moment")
      .TensorInferenceFunction(InferLikeInputs({0, 1}))
      .SetDoc(
          "Computes the step of gradient descent with momentum: momentum * moment + lr * grad. "
          "MomentumSGDUpdate also updates the parameter.");
  RegisterCpuOperator<MomentumSGDOp<CPUContext>>("MomentumSGD", __FILE__);
  // An optimizer is not part of the function that is differentiated.
  RegisterGradient<ThrowInTheTowelIfGradientIsCalled>("MomentumSGD", __FILE__);

  MomentumSchema("MomentumSGDUpdate", "Updates a parameter by gradient descent with momentum.")
      .Output(2, "param", "the updated parameter; empty unless it is input 3")
      .TensorInferenceFunction(InferMomentumUpdate);
  RegisterCpuOperator<FloatMomentumSGDUpdateOp<CPUContext>>("MomentumSGDUpdate", __FILE__);
  RegisterGradient<ThrowInTheTowelIfGradientIsCalled>("MomentumSGDUpdate", __FILE__);

  MomentumSchema("FP32MomentumSGDUpdate",
                 "Updates a parameter by gradient descent with momentum and weight decay.")
      .Arg(kMomentumWeightDecay)
      .Output(2, "param", "the updated parameter")
      .TensorInferenceFunction(InferLikeInputs({0, 1, 3}));
  RegisterCpuOperator<FP32MomentumSGDUpdateOp<CPUContext>>("FP32MomentumSGDUpdate", __FILE__);
  RegisterGradient<ThrowInTheTowelIfGradientIsCalled>("FP32MomentumSGDUpdate", __FILE__);

  MomentumSchema("FP16MomentumSGDUpdate",
                 "FP32MomentumSGDUpdate for float16 tensors; the learning rate is float.")
      .Args(kMomentumWeightDecay, kMomentumFp32Update)
      .Output(2, "param", "the updated parameter")
      .TensorInferenceFunction(InferLikeInputs({0, 1, 3}));
  RegisterCpuOperator<FP16MomentumSGDUpdateOp<CPUContext>>("FP16MomentumSGDUpdate", __FILE__);
  RegisterGradient<ThrowInTheTowelIfGradientIsCalled>("FP16MomentumSGDUpdate", __FILE__);

  RegisterSchema("SparseMomentumSGDUpdate", __FILE__)
      .NumInputs(5)
      .NumOutputs(3)
      .AllowInplace({{0, 0}})
      .EnforceInplace({{1, 1}, {3, 2}})
      .Args(kMomentum, kNesterov)
      .Input(0, "grad", "the gradient of the rows, float")
      .Input(1, "moment", "as many elements as param")
      .Input(2, "lr", "the learning rate: one element")
      .Input(3, "param", "[rows, row..], float")
      .Input(4, "indices", "the rows to update, int32 or int64")
      .Output(0, "step", "what is subtracted from the rows, the shape of grad")
      .Output(1, "moment", "input 1")
      .Output(2, "param", "input 3")
      .TensorInferenceFunction(InferLikeInputs({0, 1, 3}))
      .SetDoc("Updates rows of a parameter by gradient descent with momentum.");
  RegisterCpuOperator<SparseMomentumSGDUpdateOp<CPUContext>>("SparseMomentumSGDUpdate", __FILE__);
  RegisterGradient<ThrowInTheTowelIfGradientIsCalled>("SparseMomentumSGDUpdate", __FILE__);
}

}  // namespace caffe2rt
