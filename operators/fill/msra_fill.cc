#include "operators/fill/msra_fill.h"

#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"

namespace caffe2rt {

void RegisterMsraFill() {
  OpSchema& schema = RegisterSchema("MSRAFill", __FILE__);
  DeclareFillShape(schema);
  schema
      .TensorInferenceFunction([](const OperatorDef& def, const std::vector<TensorShape>& in) {
        return std::vector<TensorShape>{InferFill(def, in, TensorProto_DataType_FLOAT)};
      })
      .HasEffect(Effect::kRandom)
      .SetDoc(
          "Draws floats from a normal distribution with mean 0 and standard deviation "
          "sqrt(2 / fan_out), where fan_out = elements / dim 1.");
  RegisterCpuOperator<MSRAFillOp<CPUContext>>("MSRAFill", __FILE__);
  // The output is random.
  RegisterGradient<NoGradient>("MSRAFill", __FILE__);
}

}  // namespace caffe2rt
