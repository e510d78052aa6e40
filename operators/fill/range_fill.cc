#include "operators/fill/range_fill.h"

#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"

namespace caffe2rt {

void RegisterRangeFill() {
  OpSchema& schema = RegisterSchema("RangeFill", __FILE__);
  DeclareFillShape(schema);
  schema
      .TensorInferenceFunction([](const OperatorDef& def, const std::vector<TensorShape>& in) {
        return std::vector<TensorShape>{InferFill(def, in, TensorProto_DataType_FLOAT)};
      })
      .SetDoc("Creates the floats 0, 1, 2, ... in row-major order.");
  RegisterCpuOperator<RangeFillOp<CPUContext>>("RangeFill", __FILE__);
  // The output does not depend on the input's values.
  RegisterGradient<NoGradient>("RangeFill", __FILE__);
}

}  // namespace caffe2rt
