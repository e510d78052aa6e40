#include "operators/elementwise/pow.h"

#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/elementwise/map.h"
#include "operators/elementwise/pow_functions.h"

namespace caffe2rt {

void PowerOf(CPUContext& context, int64_t n, const float* x, float exponent, float* y) {
  WithPower(exponent, [&](const auto& function) { Map(context, n, x, y, function); });
}

void PowersOf(CPUContext& context, int64_t n, const float* a, const float* b, float* y) {
  Zip(context, n, a, b, y, PowerFunction{});
}

void PowersOf(CPUContext& context, const BroadcastLoops& loops, const float* a, const float* b,
              float* y) {
  ZipBroadcast(context, loops, a, b, y, PowerFunction{});
}

void RegisterPow() {
  OpSchema& schema = RegisterSchema("Pow", __FILE__);
  schema.NumInputs(1, 2)
      .NumOutputs(1)
      .AllowInplace({{0, 0}, {1, 0}})
      .Arg(kPowExponent)
      .Input(0, "A", "any shape, float")
      .Input(1, "B", "the exponents: the shape of A, or one that broadcasts to it")
      .Output(0, "Y", "the shape of A")
      .IdenticalTypeAndShapeOfInput(0)
      .CostInferenceFunction(PointwiseCostInference<2>)
      .SetDoc("Y = A ^ exponent, or A ^ B for two inputs.");
  DeclareBroadcastArguments(schema);
  RegisterCpuOperator<PowOp<CPUContext>>("Pow", __FILE__);
}

}  // namespace caffe2rt
