#include "operators/fill/unique_uniform_fill.h"

#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"

namespace caffe2rt {

namespace {

constexpr ArgumentSpec<int> kUniqueUniformType{
    "dtype",
    TensorProto_DataType_INT32,
    "type of the elements, a TensorProto.DataType number: INT32 (2) or INT64 (10)",
    {[](int type) {
       return type == TensorProto_DataType_INT32 || type == TensorProto_DataType_INT64;
     },
     "INT32 (2) or INT64 (10)"}};

TensorProto_DataType TypeOf(const ArgumentHelper& args) {
  return static_cast<TensorProto_DataType>(args.Read(kUniqueUniformType));
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
  // The schema does not require min and max, although the constructor does. As in Caffe2, the
  // gradient of an operator can therefore be created without them.
  for (const auto& bound : {kUniqueMin<int64_t>, kUniqueMax<int64_t>}) {
    schema.Arg(bound.name, bound.doc);
  }
  schema.NumInputs(0, 2)
      .Arg(kUniqueUniformType)
      .Input(1, "avoid", "(optional) values that are not drawn, all different")
      .TensorInferenceFunction([](const OperatorDef& def, const std::vector<TensorShape>& in) {
        return std::vector<TensorShape>{InferFill(def, in, TypeOf(ArgumentHelper(def)))};
      })
      .HasEffect(Effect::kRandom)
      .SetDoc("Draws different integers from min to max, both included.");
  RegisterOperator(CPU, "UniqueUniformFill", Create, __FILE__);
  // The output is random.
  RegisterGradient<NoGradient>("UniqueUniformFill", __FILE__);
}

}  // namespace caffe2rt
