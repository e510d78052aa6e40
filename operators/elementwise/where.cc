#include "operators/elementwise/where.h"

#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"

namespace caffe2rt {

void RegisterWhere() {
  RegisterSchema("Where", __FILE__)
      .NumInputs(3)
      .NumOutputs(1)
      .Arg(kWhereBroadcastOnRows)
      .Input(0, "C", "bool: true for the elements that come from X")
      .Input(1, "X", "any shape; float, double, int32, int64, bool or strings")
      .Input(2, "Z", "shape and type of X")
      .Output(0, "Y", "shape and type of X")
      .IdenticalTypeAndShapeOfInput(1)
      .CostInferenceFunction(PointwiseCostInference<1>)
      .Traits({.family = OperatorFamily::kElementwise})
      .SetDoc("Y = X where C is true, Z elsewhere.");
  RegisterCpuOperator<WhereOp<CPUContext>>("Where", __FILE__);
  // As in Caffe2, asking for its gradient is an error.
  RegisterGradient<ThrowInTheTowelIfGradientIsCalled>("Where", __FILE__);
}

}  // namespace caffe2rt
