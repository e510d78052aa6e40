#pragma once
// Internal to blob_serialization: the records of quantized tensors. As in Caffe2, the BlobProto has
// type "Int8TensorCPU" and its field `qtensor` holds the tensor:
//
//   dims        the shape
//   precision   8
//   scale       the scale
//   bias        the zero point
//   is_signed   false
//   data        the stored elements
//   data_type   UINT8, or INT32 for biases
//   name        the name of the blob
//
// A quantized tensor is always written as one record.

#include <string>

#include "caffe2_core/io/blob_serialization.h"

namespace caffe2rt {

inline constexpr const char* kInt8TensorBlobType = "Int8TensorCPU";

class Int8TensorSerializer final : public BlobSerializerBase {
 public:
  void Serialize(const void* object, TypeMeta meta, const std::string& name,
                 SerializationAcceptor acceptor) override;
};

// THROWS if the fields do not describe a quantized tensor, before memory is allocated.
class Int8TensorDeserializer final : public BlobDeserializerBase {
 public:
  void Deserialize(const BlobProto& proto, Blob* blob) override;
};

}  // namespace caffe2rt
