#include "operators/fill/constant_fill.h"

#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"

namespace caffe2rt {

TensorProto_DataType ConstantFillType(const ArgumentHelper& args) {
  if (args.HasArgument(kFillType)) return static_cast<TensorProto_DataType>(args.Read(kFillType));
  constexpr const char* kValue = kFillValue<float>.name;
  if (!args.HasArgument(kValue) || args.HasSingleArgumentOfType<float>(kValue)) {
    return static_cast<TensorProto_DataType>(kFillType.default_value);
  }
  CAFFE_ENFORCE(args.HasSingleArgumentOfType<int64_t>(kValue),
                "argument value is neither a float nor an integer: set its type with dtype");
  return TensorProto_DataType_INT64;
}

void RegisterConstantFill() {
  OpSchema& schema = RegisterSchema("ConstantFill", __FILE__);
  DeclareFillShape(schema);
  DeclareUntyped(schema, kFillValue<float>);
  schema.NumInputs(0, 2)
      .Arg(kFillType)
      .Input(1, "value", "(optional) one element, the value; overrides argument value")
      .TensorInferenceFunction([](const OperatorDef& def, const std::vector<TensorShape>& in) {
        return std::vector<TensorShape>{InferFill(def, in, ConstantFillType(ArgumentHelper(def)))};
      })
      .Traits({.fill = FillForm::kConstant})
      .SetDoc("Creates a tensor whose elements all have the same value.");
  RegisterCpuOperator<ConstantFillOp<CPUContext>>("ConstantFill", __FILE__);
  // The output does not depend on the input's values.
  RegisterGradient<NoGradient>("ConstantFill", __FILE__);
}

}  // namespace caffe2rt
