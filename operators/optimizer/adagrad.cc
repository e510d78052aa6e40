#include "operators/optimizer/adagrad.h"

#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/operator_registry.h"

namespace caffe2rt {

namespace {

OpSchema& SparseAdagradSchema(const char* type, const char* moment, const char* doc) {
  return RegisterSchema(type, __FILE__)
      .NumInputs(5)
      .NumOutputs(2)
      .EnforceInplace({{0, 0}, {1, 1}})
      .Args(kAdagradEpsilon, kAdagradWeightDecay)
      .Input(0, "param", "[rows, row..], float")
      .Input(1, "moment", moment)
      .Input(2, "indices", "the rows to update, int32 or int64")
      .Input(3, "grad", "the gradient of the rows: [dims of indices.., row..]")
      .Input(4, "lr", "the learning rate: one element")
      .Output(0, "param", "input 0")
      .Output(1, "moment", "input 1")
      .TensorInferenceFunction(InferLikeInputs({0, 1}))
      .SetDoc(doc);
}

}  // namespace

void RegisterAdagrad() {
  RegisterSchema("Adagrad", __FILE__)
      .NumInputs(4)
      .NumOutputs(2, 4)
      .AllowInplace({{0, 0}, {1, 1}})
      .Args(kAdagradEpsilon, kAdagradDecay, kAdagradWeightDecay)
      .Input(0, "param", "the parameter, float")
      .Input(1, "moment", "the sum of the squared gradients; as many elements as grad")
      .Input(2, "grad", "as many elements as param")
      .Input(3, "lr", "the learning rate: the first element is used")
      .Output(0, "param", "the updated parameter")
      .Output(1, "moment", "the new moment")
      .Output(2, "effective_lr", "lr / (sqrt(new moment) + epsilon); the shape of grad")
      .Output(3, "update", "what is added to the parameter; the shape of grad")
      .TensorInferenceFunction(InferLikeInputs({0, 1, 2, 2}))
      .SetDoc("Updates a parameter by AdaGrad.");
  RegisterCpuOperator<AdagradOp<CPUContext>>("Adagrad", __FILE__);
  // An optimizer is not part of the function that is differentiated.
  RegisterGradient<ThrowInTheTowelIfGradientIsCalled>("Adagrad", __FILE__);

  SparseAdagradSchema("SparseAdagrad", "as many elements as param",
                      "Updates rows of a parameter by AdaGrad.")
      .Arg(kSparseAdagradDecay);
  RegisterCpuOperator<SparseAdagradOp<CPUContext, false>>("SparseAdagrad", __FILE__);
  RegisterGradient<ThrowInTheTowelIfGradientIsCalled>("SparseAdagrad", __FILE__);

  SparseAdagradSchema(
      "RowWiseSparseAdagrad", "one element for each row",
      "Updates rows of a parameter by AdaGrad with one moment per row, to which the mean "
      "of the squared gradients of the row is added.");
  RegisterCpuOperator<SparseAdagradOp<CPUContext, true>>("RowWiseSparseAdagrad", __FILE__);
  RegisterGradient<ThrowInTheTowelIfGradientIsCalled>("RowWiseSparseAdagrad", __FILE__);
}

}  // namespace caffe2rt
