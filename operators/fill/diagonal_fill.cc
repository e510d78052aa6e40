#include "operators/fill/diagonal_fill.h"

#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"

namespace caffe2rt {

void RegisterDiagonalFill() {
  OpSchema& schema = RegisterSchema("DiagonalFill", __FILE__);
  DeclareFillShape(schema);
  DeclareUntyped(schema, kFillValue<float>);
  schema.Arg(kFillType)
      .TensorInferenceFunction([](const OperatorDef& def, const std::vector<TensorShape>& in) {
        return std::vector<TensorShape>{InferFill(def, in, ConstantFillType(ArgumentHelper(def)))};
      })
      .SetDoc("Creates a tensor with one value on its diagonal and 0 elsewhere.");
  RegisterCpuOperator<DiagonalFillOp<CPUContext>>("DiagonalFill", __FILE__);
  // The output does not depend on the input's values.
  RegisterGradient<NoGradient>("DiagonalFill", __FILE__);
}

}  // namespace caffe2rt
