#include "operators/fill/unique_uniform_fill.h"

#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"

namespace caffe2rt {

namespace {

TensorProto_DataType TypeOf(const ArgumentHelper& args) {
  const int type = args.GetSingleArgument<int>("dtype", TensorProto_DataType_INT32);
  CAFFE_ENFORCE(type == TensorProto_DataType_INT32 || type == TensorProto_DataType_INT64,
                "Unexpected 'dtype' argument value: ", type, ", want INT32 or INT64");
  return static_cast<TensorProto_DataType>(type);
}

std::unique_ptr<OperatorBase> Create(const OperatorDef& def, Workspace* ws) {
  if (TypeOf(ArgumentHelper(def)) == TensorProto_DataType_INT64) {
    return std::make_unique<UniqueUniformFillOp<int64_t, CPUContext>>(def, ws);
  }
  return std::make_unique<UniqueUniformFillOp<int32_t, CPUContext>>(def, ws);
}

}  // namespace

void RegisterUniqueUniformFill() {
  OpSchema& schema = RegisterSchema("UniqueUniformFill", __FILE__);
  DeclareFillShape(schema);
  schema.NumInputs(0, 2)
      .Arg("min", "least value; must be given")
      .Arg("max", "greatest value, above min; must be given")
      .Arg("dtype", "INT32 or INT64, a TensorProto.DataType number", "INT32")
      .Input(1, "avoid", "(optional) different values that are not drawn")
      .TensorInferenceFunction([](const OperatorDef& def, const std::vector<TensorShape>& in) {
        return std::vector<TensorShape>{InferFill(def, in, TypeOf(ArgumentHelper(def)))};
      })
      .SetDoc("Draws different integers from min to max, both included.");
  OperatorRegistryOf(CPU)->Register(OpRegistryKey("UniqueUniformFill"), Create, __FILE__);
  // Constants: the backward pass ends here.
  RegisterGradient<NoGradient>("UniqueUniformFill", __FILE__);
}

}  // namespace caffe2rt
