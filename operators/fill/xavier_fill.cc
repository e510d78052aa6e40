#include "operators/fill/xavier_fill.h"

#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"

namespace caffe2rt {

void RegisterXavierFill() {
  OpSchema& schema = RegisterSchema("XavierFill", __FILE__);
  DeclareFillShape(schema);
  schema
      .TensorInferenceFunction([](const OperatorDef& def, const std::vector<TensorShape>& in) {
        return std::vector<TensorShape>{InferFill(def, in, TensorProto_DataType_FLOAT)};
      })
      .HasEffect(Effect::kRandom)
      .SetDoc(
          "Draws floats uniformly between -sqrt(3 / fan_in) and sqrt(3 / fan_in), where fan_in = "
          "elements / dim 0.");
  RegisterCpuOperator<XavierFillOp<CPUContext>>("XavierFill", __FILE__);
  // The output is random.
  RegisterGradient<NoGradient>("XavierFill", __FILE__);
}

}  // namespace caffe2rt
