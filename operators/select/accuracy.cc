#include "operators/select/accuracy.h"

#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"

namespace caffe2rt {

void RegisterAccuracy() {
  RegisterSchema("Accuracy", __FILE__)
      .NumInputs(2)
      .NumOutputs(1)
      .ScalarType(TensorProto_DataType_FLOAT)
      .Arg(kAccuracyTopK)
      .Input(0, "predictions", "score of each class, [N, D] float")
      .Input(1, "labels", "class of each row, [N] int32")
      .Output(0, "accuracy", "fraction of correct rows, float scalar from 0 to 1")
      .SetDoc("Computes the fraction of rows whose label is among the top_k largest predictions.");
  RegisterCpuOperator<AccuracyOp<CPUContext>>("Accuracy", __FILE__);
  // The operator counts rows, and a count is constant under small changes of the input.
  RegisterGradient<ThrowInTheTowelIfGradientIsCalled>("Accuracy", __FILE__);
}

}  // namespace caffe2rt
