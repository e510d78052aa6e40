#include "operators/shape/size.h"

#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"

namespace caffe2rt {

void RegisterSize() {
  RegisterSchema("Size", __FILE__)
      .NumInputs(1)
      .NumOutputs(1)
      .ScalarType(TensorProto_DataType_INT64)
      .Input(0, "X", "any tensor")
      .Output(0, "size", "int64 scalar")
      .Traits({.family = OperatorFamily::kShape})
      .SetDoc("Computes the number of elements of a tensor.");
  RegisterCpuOperator<SizeOp<CPUContext>>("Size", __FILE__);
  // The output does not depend on values of the input.
  RegisterGradient<NoGradient>("Size", __FILE__);
}

}  // namespace caffe2rt
