#include "operators/fill/given_tensor_byte_string_to_uint8_fill.h"

#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/fill/register.h"

namespace caffe2rt {

void RegisterGivenTensorByteStringToUInt8Fill() {
  OpSchema& schema = RegisterSchema("GivenTensorByteStringToUInt8Fill", __FILE__);
  DeclareFillShape(schema);
  schema.Arg("values", "a list of strings; the first one holds a byte for each element", true)
      .Arg("dtype", "ignored: the elements are UINT8", 0)
      .TensorInferenceFunction([](const OperatorDef& def, const std::vector<TensorShape>& in) {
        return std::vector<TensorShape>{InferFill(def, in, TensorProto_DataType_UINT8)};
      })
      .SetDoc("Makes a uint8 tensor of the bytes of a string argument.");
  RegisterCpuOperator<GivenTensorByteStringToUInt8FillOp<CPUContext>>(
      "GivenTensorByteStringToUInt8Fill", __FILE__);
}

}  // namespace caffe2rt
