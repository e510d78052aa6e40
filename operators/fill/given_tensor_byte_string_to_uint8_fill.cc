#include "operators/fill/given_tensor_byte_string_to_uint8_fill.h"

#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"

namespace caffe2rt {

void RegisterGivenTensorByteStringToUint8Fill() {
  OpSchema& schema = RegisterSchema("GivenTensorByteStringToUInt8Fill", __FILE__);
  DeclareFillShape(schema);
  schema.Args(kByteStrings, kByteStringType)
      .TensorInferenceFunction([](const OperatorDef& def, const std::vector<TensorShape>& in) {
        (void)ArgumentHelper(def).Read(kByteStringType);
        return std::vector<TensorShape>{InferFill(def, in, TensorProto_DataType_UINT8)};
      })
      .Traits({.fill = FillForm::kGiven})
      .SetDoc("Creates a uint8 tensor from the bytes of a string argument.");
  RegisterCpuOperator<GivenTensorByteStringToUInt8FillOp<CPUContext>>(
      "GivenTensorByteStringToUInt8Fill", __FILE__);
  // The output does not depend on the input's values.
  RegisterGradient<NoGradient>("GivenTensorByteStringToUInt8Fill", __FILE__);
}

}  // namespace caffe2rt
