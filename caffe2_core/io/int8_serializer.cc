#include "caffe2_core/io/int8_serializer.h"

#include <algorithm>
#include <climits>
#include <cmath>
#include <vector>

#include "caffe2_core/base/checked_math.h"
#include "caffe2_core/base/enforce.h"
#include "caffe2_core/io/proto_file.h"
#include "caffe2_core/tensor/data_type.h"
#include "caffe2_core/tensor/int8_tensor.h"

namespace caffe2rt {

namespace {

constexpr int kInt8Precision = 8;

template <class T>
void PutElements(const Tensor& tensor, QTensorProto* proto) {
  const T* values = tensor.data<T>();
  proto->mutable_data()->Add(values, values + tensor.numel());
}

void CheckQTensor(const QTensorProto& proto) {
  const std::string& name = proto.name();
  CAFFE_ENFORCE_EQ(proto.precision(), kInt8Precision, "precision of quantized tensor \"", name,
                   "\"");
  CAFFE_ENFORCE(!proto.is_signed() && !proto.is_multiparam(), "quantized tensor \"", name,
                "\" is signed or has several scales, want unsigned elements and one scale");
  CAFFE_ENFORCE(std::isfinite(proto.scale()), "scale of quantized tensor \"", name, "\" is ",
                proto.scale(), ", want a finite number");
  // The comparison is false for NaN.
  CAFFE_ENFORCE(proto.bias() >= INT_MIN && proto.bias() <= INT_MAX &&
                    proto.bias() == std::floor(proto.bias()),
                "bias (zero point) of quantized tensor \"", name, "\" is ", proto.bias(),
                ", want an integer of 32 bits");
  const int64_t size = CheckedProduct(proto.dims());
  CAFFE_ENFORCE_EQ(size, proto.data_size(), "elements of the shape of quantized tensor \"", name,
                   "\", want as many as in its field data");
}

template <class T>
void TakeElements(const QTensorProto& proto, Tensor* tensor) {
  std::copy(proto.data().begin(), proto.data().end(), tensor->mutable_data<T>());
}

}  // namespace

void Int8TensorSerializer::Serialize(const void* object, TypeMeta, const std::string& name,
                                     SerializationAcceptor acceptor) {
  const auto& value = *static_cast<const Int8TensorCPU*>(object);
  CAFFE_ENFORCE(value.t.IsShaped() && value.t.dtype().IsSet(), "cannot serialize tensor \"", name,
                "\": it has no shape or no element type, nothing has been written to it");
  CAFFE_ENFORCE_LE(value.t.numel(), INT_MAX, "elements in one record of tensor \"", name, "\"");
  BlobProto proto;
  proto.set_name(name);
  proto.set_type(kInt8TensorBlobType);
  QTensorProto& qtensor = *proto.mutable_qtensor();
  for (const int64_t dim : value.t.sizes()) qtensor.add_dims(dim);
  qtensor.set_precision(kInt8Precision);
  qtensor.set_scale(value.scale);
  qtensor.set_bias(value.zero_point);
  qtensor.set_is_signed(false);
  qtensor.set_name(name);
  const TensorProto::DataType type = TypeMetaToDataType(value.t.dtype());
  qtensor.set_data_type(type);
  if (type == TensorProto::UINT8) {
    PutElements<uint8_t>(value.t, &qtensor);
  } else {
    CAFFE_ENFORCE(type == TensorProto::INT32, "quantized tensor \"", name,
                  "\" has elements of type ", value.t.dtype().name(), ", want uint8 or int32");
    PutElements<int32_t>(value.t, &qtensor);
  }
  acceptor(name, ProtoToBinary(proto));
}

void Int8TensorDeserializer::Deserialize(const BlobProto& proto, Blob* blob) {
  CAFFE_ENFORCE(proto.has_qtensor(), "blob \"", proto.name(), "\" of type ", kInt8TensorBlobType,
                " has no field qtensor");
  const QTensorProto& qtensor = proto.qtensor();
  CheckQTensor(qtensor);
  const bool is_bytes = qtensor.data_type() == TensorProto::UINT8;
  CAFFE_ENFORCE(is_bytes || qtensor.data_type() == TensorProto::INT32, "quantized tensor \"",
                qtensor.name(), "\" has elements of type ",
                TensorProto::DataType_Name(qtensor.data_type()), ", want UINT8 or INT32");
  if (is_bytes) {
    CAFFE_ENFORCE(std::all_of(qtensor.data().begin(), qtensor.data().end(),
                              [](int32_t value) { return value >= 0 && value <= UCHAR_MAX; }),
                  "quantized tensor \"", qtensor.name(),
                  "\" of type UINT8 has elements outside 0 to 255");
  }
  auto* value = blob->GetMutable<Int8TensorCPU>();
  value->scale = static_cast<float>(qtensor.scale());
  value->zero_point = static_cast<int32_t>(qtensor.bias());
  value->t.Resize(std::vector<int64_t>(qtensor.dims().begin(), qtensor.dims().end()));
  if (is_bytes) {
    TakeElements<uint8_t>(qtensor, &value->t);
  } else {
    TakeElements<int32_t>(qtensor, &value->t);
  }
}

}  // namespace caffe2rt
