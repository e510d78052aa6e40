#include "operators/select/is_empty.h"

#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/select/register.h"

namespace caffe2rt {

void RegisterIsEmpty() {
  RegisterSchema("IsEmpty", __FILE__)
      .NumInputs(1)
      .NumOutputs(1)
      .ScalarType(TensorProto_DataType_BOOL)
      .Input(0, "tensor", "any tensor")
      .Output(0, "is_empty", "bool scalar")
      .NoGradientBecause("it counts elements")
      .SetDoc("Says whether a tensor has no element.");
  RegisterCpuOperator<IsEmptyOp<CPUContext>>("IsEmpty", __FILE__);
}

}  // namespace caffe2rt
