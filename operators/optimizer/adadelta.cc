#include "operators/optimizer/adadelta.h"

#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/operator_registry.h"

namespace caffe2rt {

void RegisterAdadelta() {
  RegisterSchema("Adadelta", __FILE__)
      .NumInputs(5)
      .NumOutputs(3)
      .AllowInplace({{0, 0}, {1, 1}, {2, 2}})
      .Args(kAdadeltaEpsilon, kAdadeltaDecay)
      .Input(0, "param", "the parameter, float")
      .Input(1, "moment", "the running mean of grad^2; as many elements as param")
      .Input(2, "moment_delta", "the running mean of the squared steps")
      .Input(3, "grad", "as many elements as param")
      .Input(4, "lr", "the learning rate: the first element is used")
      .Output(0, "param", "the updated parameter")
      .Output(1, "moment", "the new moment")
      .Output(2, "moment_delta", "the new mean of the squared steps")
      .TensorInferenceFunction(InferLikeInputs({0, 1, 2}))
      .SetDoc("Updates a parameter by Adadelta.");
  RegisterCpuOperator<AdadeltaOp<CPUContext, false>>("Adadelta", __FILE__);
  // An optimizer is not part of the function that is differentiated.
  RegisterGradient<ThrowInTheTowelIfGradientIsCalled>("Adadelta", __FILE__);

  RegisterSchema("SparseAdadelta", __FILE__)
      .NumInputs(6)
      .NumOutputs(3)
      .EnforceInplace({{0, 0}, {1, 1}, {2, 2}})
      .Args(kAdadeltaEpsilon, kAdadeltaDecay)
      .Input(0, "param", "[rows, row..], float")
      .Input(1, "moment", "as many elements as param")
      .Input(2, "moment_delta", "as many elements as param")
      .Input(3, "indices", "the rows to update, int32 or int64")
      .Input(4, "grad", "the gradient of the rows: [dims of indices.., row..]")
      .Input(5, "lr", "the learning rate: one element")
      .Output(0, "param", "input 0")
      .Output(1, "moment", "input 1")
      .Output(2, "moment_delta", "input 2")
      .TensorInferenceFunction(InferLikeInputs({0, 1, 2}))
      .SetDoc("Updates rows of a parameter by Adadelta.");
  RegisterCpuOperator<AdadeltaOp<CPUContext, true>>("SparseAdadelta", __FILE__);
  RegisterGradient<ThrowInTheTowelIfGradientIsCalled>("SparseAdadelta", __FILE__);
}

}  // namespace caffe2rt
