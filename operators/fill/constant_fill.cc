#include "operators/fill/constant_fill.h"

#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"

namespace caffe2rt {

TensorProto_DataType ConstantFillType(const ArgumentHelper& args) {
  if (args.HasArgument("dtype")) {
    const int type = args.GetSingleArgument<int>("dtype", TensorProto_DataType_FLOAT);
    CAFFE_ENFORCE(TensorProto_DataType_IsValid(type) && type != TensorProto_DataType_UNDEFINED,
                  "Unexpected 'dtype' argument value: ", type,
                  ", want a TensorProto.DataType number");
    return static_cast<TensorProto_DataType>(type);
  }
  if (!args.HasArgument("value") || args.HasSingleArgumentOfType<float>("value")) {
    return TensorProto_DataType_FLOAT;
  }
  CAFFE_ENFORCE(args.HasSingleArgumentOfType<int64_t>("value"),
                "argument value is neither a float nor an integer: name its type with dtype");
  return TensorProto_DataType_INT64;
}

void RegisterConstantFill() {
  OpSchema& schema = RegisterSchema("ConstantFill", __FILE__);
  DeclareFillShape(schema);
  schema.NumInputs(0, 2)
      .Arg("value", "the value of each element, in the field of its type", 0)
      .Arg("dtype", "type of the elements, a TensorProto.DataType number; default: as value",
           "FLOAT")
      .Input(1, "value", "(optional) one element, the value; goes before argument value")
      .TensorInferenceFunction([](const OperatorDef& def, const std::vector<TensorShape>& in) {
        return std::vector<TensorShape>{InferFill(def, in, ConstantFillType(ArgumentHelper(def)))};
      })
      .SetDoc("Makes a tensor whose elements are all one value.");
  RegisterCpuOperator<ConstantFillOp<CPUContext>>("ConstantFill", __FILE__);
  // Constants: the backward pass ends here.
  RegisterGradient<NoGradient>("ConstantFill", __FILE__);
}

}  // namespace caffe2rt
