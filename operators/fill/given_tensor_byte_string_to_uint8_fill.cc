#include "operators/fill/given_tensor_byte_string_to_uint8_fill.h"

#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"

namespace caffe2rt {

void CheckByteStringType(const ArgumentHelper& args) {
  const int type = args.GetSingleArgument<int>("dtype", TensorProto_DataType_STRING);
  CAFFE_ENFORCE(type == TensorProto_DataType_STRING, "Unexpected 'dtype' argument value: ", type,
                ", want none or STRING (", static_cast<int>(TensorProto_DataType_STRING),
                "), the type of the values");
}

void RegisterGivenTensorByteStringToUint8Fill() {
  OpSchema& schema = RegisterSchema("GivenTensorByteStringToUInt8Fill", __FILE__);
  DeclareFillShape(schema);
  schema.Arg("values", "a list of strings; the first one holds a byte for each element", true)
      .Arg("dtype", "type of the values, no other than STRING", "STRING")
      .TensorInferenceFunction([](const OperatorDef& def, const std::vector<TensorShape>& in) {
        CheckByteStringType(ArgumentHelper(def));
        return std::vector<TensorShape>{InferFill(def, in, TensorProto_DataType_UINT8)};
      })
      .SetDoc("Makes a uint8 tensor of the bytes of a string argument.");
  RegisterCpuOperator<GivenTensorByteStringToUInt8FillOp<CPUContext>>(
      "GivenTensorByteStringToUInt8Fill", __FILE__);
  // Constants: the backward pass ends here.
  RegisterGradient<NoGradient>("GivenTensorByteStringToUInt8Fill", __FILE__);
}

}  // namespace caffe2rt
