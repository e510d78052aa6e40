#include "operators/select/is_empty.h"

#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"

namespace caffe2rt {

void RegisterIsEmpty() {
  RegisterSchema("IsEmpty", __FILE__)
      .NumInputs(1)
      .NumOutputs(1)
      .ScalarType(TensorProto_DataType_BOOL)
      .Input(0, "tensor", "any tensor")
      .Output(0, "is_empty", "bool scalar")
      .SetDoc("Checks whether a tensor has no elements.");
  RegisterCpuOperator<IsEmptyOp<CPUContext>>("IsEmpty", __FILE__);
  // The output depends only on the number of elements.
  RegisterGradient<ThrowInTheTowelIfGradientIsCalled>("IsEmpty", __FILE__);
}

}  // namespace caffe2rt
