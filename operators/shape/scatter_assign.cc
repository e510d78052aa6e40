#include "operators/shape/scatter_assign.h"

#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/runtime/operator_registry.h"

namespace caffe2rt {

void RegisterScatterAssign() {
  RegisterSchema("ScatterAssign", __FILE__)
      .NumInputs(3)
      .NumOutputs(1)
      .EnforceInplace({{0, 0}})
      .Input(0, "DATA", "[N, ..] float, float16, double, uint8, int32 or int64")
      .Input(1, "INDICES", "K indices of slices of DATA, int32 or int64")
      .Input(2, "SLICES", "[K, ..] the slices to copy, of the type of DATA")
      .Output(0, "DATA", "input 0, in place")
      .IdenticalTypeAndShapeOfInput(0)
      .Traits({.family = OperatorFamily::kShape})
      .SetDoc(
          "Copies slices to those slices of DATA that INDICES name, in place. Of equal indices, "
          "the "
          "last one counts.");
  RegisterCpuOperator<ScatterAssignOp<CPUContext>>("ScatterAssign", __FILE__);
  // The operator overwrites its input.
  RegisterGradient<ThrowInTheTowelIfGradientIsCalled>("ScatterAssign", __FILE__);
}

}  // namespace caffe2rt
