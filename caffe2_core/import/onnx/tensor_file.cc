// Files with one TensorProto, as ONNX's tests have for inputs and outputs.

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/import/onnx/onnx_file.h"
#include "caffe2_core/import/onnx/onnx_import.h"
#include "caffe2_core/import/onnx/onnx_values.h"
#include "caffe2_core/io/atomic_file.h"
#include "caffe2_core/io/proto_binary.h"
#include "caffe2_core/io/proto_file.h"
#include "caffe2_core/tensor/data_type.h"

namespace caffe2rt {

Tensor ReadOnnxTensor(const std::string& path) {
  onnx::TensorProto proto;
  const FileInput input(path);
  std::string bytes(static_cast<size_t>(input.size()), '\0');
  input.Read(0, bytes.data(), bytes.size());
  std::string reason;
  CAFFE_ENFORCE(ParseBinary(bytes, &proto, &reason), "cannot read \"", path,
                "\" as a TensorProto of ONNX: ", reason);
  return OnnxTensorOf(proto);
}

namespace {

// The elements of a tensor whose numbers are those of the format.
template <class T>
std::string PackedElements(const Tensor& tensor, NarrowFormat format) {
  const int bits = NarrowBits(format), in_byte = 8 / bits;
  const int64_t count = tensor.numel();
  std::string bytes(static_cast<size_t>((count + in_byte - 1) / in_byte), '\0');
  const T* values = tensor.data<T>();
  for (int64_t i = 0; i < count; ++i) {
    const uint8_t number = FloatToNarrow(format, static_cast<float>(values[i]),
                                         /*saturate=*/false, NarrowRounding::kDown);
    char& byte = bytes[static_cast<size_t>(i / in_byte)];
    byte = static_cast<char>(byte | number << (i % in_byte * bits));
  }
  return bytes;
}

std::string PackedElementsOf(const Tensor& tensor, NarrowFormat format) {
  if (tensor.IsType<int8_t>()) return PackedElements<int8_t>(tensor, format);
  if (tensor.IsType<uint8_t>()) return PackedElements<uint8_t>(tensor, format);
  return PackedElements<float>(tensor, format);
}

}  // namespace

void WriteNarrowOnnxTensor(const std::string& path, const std::string& name, const Tensor& tensor,
                           NarrowFormat format) {
  onnx::TensorProto proto;
  proto.set_name(name);
  for (const int64_t dim : tensor.dims()) proto.add_dims(dim);
  proto.set_data_type(OnnxTypeOfFormat(format));
  proto.set_raw_data(PackedElementsOf(tensor, format));
  WriteFileAtomically(path, ProtoToBinary(proto));
}

void WriteOnnxTensor(const std::string& path, const std::string& name, const Tensor& tensor) {
  onnx::TensorProto proto;
  proto.set_name(name);
  for (const int64_t dim : tensor.dims()) proto.add_dims(dim);
  const TensorProto::DataType type = TypeMetaToDataType(tensor.meta());
  proto.set_data_type(type == TensorProto::FLOAT16    ? onnx::TensorProto::FLOAT16
                      : type == TensorProto::BFLOAT16 ? onnx::TensorProto::BFLOAT16
                                                      : OnnxTypeOf(type));
  CAFFE_ENFORCE(proto.data_type() != 0, "cannot write \"", path, "\": ONNX has no tensors of ",
                DataTypeName(tensor.meta()));
  if (type == TensorProto::STRING) {
    const auto* texts = tensor.data<std::string>();
    for (int64_t i = 0; i < tensor.numel(); ++i) proto.add_string_data(texts[i]);
  } else {
    proto.set_raw_data(tensor.raw_data(), tensor.nbytes());
  }
  WriteFileAtomically(path, ProtoToBinary(proto));
}

}  // namespace caffe2rt
