#include "operators/fill/given_tensor_fill.h"

#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"

namespace caffe2rt {

TensorProto_DataType GivenTensorType(const ArgumentHelper& args) {
  const int type = args.GetSingleArgument<int>("dtype", TensorProto_DataType_FLOAT);
  switch (type) {
    case TensorProto_DataType_FLOAT:
    case TensorProto_DataType_DOUBLE:
    case TensorProto_DataType_BOOL:
    case TensorProto_DataType_INT16:
    case TensorProto_DataType_INT32:
    case TensorProto_DataType_INT64:
    case TensorProto_DataType_STRING:
      return static_cast<TensorProto_DataType>(type);
    default:
      CAFFE_THROW("Unexpected 'dtype' argument value: ", type,
                  ", want FLOAT, DOUBLE, BOOL, INT16, INT32, INT64 or STRING");
  }
}

namespace {

OpSchema& DeclareGivenTensor(const std::string& type) {
  OpSchema& schema = RegisterSchema(type, __FILE__);
  DeclareFillShape(schema);
  return schema.Arg("values", "the elements in row-major order, as many as the shape has", true)
      .SetDoc("Makes a tensor of the elements that an argument lists.");
}

template <TensorProto_DataType kType>
void RegisterTyped(const std::string& type) {
  DeclareGivenTensor(type)
      .Arg("dtype", "ignored: the operator's name says the type", 0)
      .TensorInferenceFunction([](const OperatorDef& def, const std::vector<TensorShape>& in) {
        return std::vector<TensorShape>{InferFill(def, in, kType)};
      });
  RegisterCpuOperator<GivenTypedTensorFillOp<CPUContext, kType>>(type, __FILE__);
}

}  // namespace

void RegisterGivenTensorFill() {
  DeclareGivenTensor("GivenTensorFill")
      .Arg("dtype", "type of the elements, a TensorProto.DataType number", "FLOAT")
      .TensorInferenceFunction([](const OperatorDef& def, const std::vector<TensorShape>& in) {
        return std::vector<TensorShape>{InferFill(def, in, GivenTensorType(ArgumentHelper(def)))};
      });
  RegisterCpuOperator<GivenTensorFillOp<CPUContext>>("GivenTensorFill", __FILE__);

  RegisterTyped<TensorProto_DataType_BOOL>("GivenTensorBoolFill");
  RegisterTyped<TensorProto_DataType_DOUBLE>("GivenTensorDoubleFill");
  RegisterTyped<TensorProto_DataType_INT16>("GivenTensorInt16Fill");
  RegisterTyped<TensorProto_DataType_INT64>("GivenTensorInt64Fill");
  RegisterTyped<TensorProto_DataType_INT32>("GivenTensorIntFill");
  RegisterTyped<TensorProto_DataType_STRING>("GivenTensorStringFill");
  // Constants: the backward pass ends here.
  for (const char* type :
       {"GivenTensorFill", "GivenTensorBoolFill", "GivenTensorDoubleFill", "GivenTensorInt16Fill",
        "GivenTensorInt64Fill", "GivenTensorIntFill", "GivenTensorStringFill"}) {
    RegisterGradient<NoGradient>(type, __FILE__);
  }
}

}  // namespace caffe2rt
