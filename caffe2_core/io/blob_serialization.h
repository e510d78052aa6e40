#pragma once
// Converts blobs to BlobProto records and back.
//
//   std::string bytes = SerializeBlob(blob, "conv1_w");  // one record
//   DeserializeBlob(bytes, &blob);
//   blob.Serialize("conv1_w", [&](const std::string& key, const std::string& record) {
//     transaction->Put(key, record);
//   });
//
// A tensor is written as records "NAME#%0", "NAME#%1", ... of at most chunk_size elements each;
// every record has the full dims and the segment of elements it holds. Any other blob is written as
// one record with key NAME. The serializer is selected by the blob's type id, the deserializer by
// BlobProto.type. Users register their own with the macros below.
//
// The record of a DBReader names a database. The deserializer opens it under the policy of the
// innermost FileAccessScope (caffe2_core/io/file_access.h); any other deserializer that opens files
// must consult that policy too.
//
// Reading checks that the data present match dims and segment before memory is allocated. Thread
// safe, except for the settings.

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "caffe2_core/base/registry.h"
#include "caffe2_core/tensor/blob.h"
#include "caffe2_core/tensor/tensor.h"
#include "caffe2rt/caffe2.pb.h"

#pragma GCC visibility push(default)
namespace caffe2rt {

inline constexpr const char* kTensorBlobType = "Tensor";
inline constexpr const char* kStringBlobType = "std::string";
// Separates the name of a blob from the number of its chunk.
inline constexpr const char* kChunkIdSeparator = "#%";
// Special values of chunk_size: the size in the settings, and the whole tensor in one record.
inline constexpr int kDefaultChunkSize = -1;
inline constexpr int kNoChunking = 0;

// How tensors are written. Process-wide; set the fields before the first use. Each comment names
// the Caffe2 flag that fills the field.
struct SerializationSettings {
  // Elements in a record, which keeps a record far below protobuf's limit of 2 GB.
  // --caffe2_tensor_chunk_size
  int64_t tensor_chunk_size = 1000000;
  // Store FLOAT16 in byte_data, 2 bytes each, instead of int32_data.
  // --caffe2_serialize_fp16_as_bytes
  bool fp16_as_bytes = false;
  // Store bool and 8- and 16-bit integers in byte_data instead of int32_data.
  // --caffe2_serialize_using_bytes_as_holder
  bool small_integers_as_bytes = false;
};
SerializationSettings& GlobalSerializationSettings();

// Writes one type of blob.
class BlobSerializerBase {
 public:
  using SerializationAcceptor = Blob::SerializationAcceptor;
  virtual ~BlobSerializerBase() = default;
  // Calls `acceptor` with the key and the bytes of each record. `object` has type `meta`.
  virtual void Serialize(const void* object, TypeMeta meta, const std::string& name,
                         SerializationAcceptor acceptor) = 0;
  // The default implementation ignores the chunk size.
  virtual void SerializeWithChunkSize(const void* object, TypeMeta meta, const std::string& name,
                                      SerializationAcceptor acceptor, int chunk_size);
  void Serialize(const Blob& blob, const std::string& name, SerializationAcceptor acceptor) {
    Serialize(blob.GetRaw(), blob.meta(), name, std::move(acceptor));
  }
};

// Reads one type of blob.
class BlobDeserializerBase {
 public:
  virtual ~BlobDeserializerBase() = default;
  // Creates the blob's object, or adds this record's chunk to it. THROWS if the record does not
  // match the object.
  virtual void Deserialize(const BlobProto& proto, Blob* blob) = 0;
};

class TensorSerializer : public BlobSerializerBase {
 public:
  using BlobSerializerBase::Serialize;
  void Serialize(const void* object, TypeMeta meta, const std::string& name,
                 SerializationAcceptor acceptor) override;
  void SerializeWithChunkSize(const void* object, TypeMeta meta, const std::string& name,
                              SerializationAcceptor acceptor, int chunk_size) override;
  // Writes the elements [begin, begin + chunk_size), or all from `begin` if chunk_size <= 0. The
  // range is cut at the end of the tensor. THROWS if `begin` is beyond the end.
  void Serialize(const Tensor& tensor, const std::string& name, TensorProto* proto, size_t begin,
                 int32_t chunk_size);
};

class TensorDeserializer : public BlobDeserializerBase {
 public:
  // Creates the tensor on the device that the proto names. Uses the CPU if it names none, or if it
  // names a built-in Caffe2 device type that is not available. THROWS if a user-defined device type
  // is not available.
  void Deserialize(const BlobProto& proto, Blob* blob) override;
  // Reads into `tensor`, on its own device: sets shape and type and fills the segment. Elements
  // outside the segment keep their values if the shape is unchanged.
  void Deserialize(const TensorProto& proto, Tensor* tensor);
  void DeserializeToTensor(const TensorProto& proto, Tensor* tensor) { Deserialize(proto, tensor); }
  Tensor Deserialize(const TensorProto& proto);
};

using BlobSerializerRegistryType = Registry<CaffeTypeId, std::unique_ptr<BlobSerializerBase>>;
using BlobDeserializerRegistryType = Registry<std::string, std::unique_ptr<BlobDeserializerBase>>;
// Both contain entries for tensors, quantized tensors, std::string and DBReader.
BlobSerializerRegistryType& BlobSerializerRegistry();
BlobDeserializerRegistryType& BlobDeserializerRegistry();

// Return null if none is registered.
std::unique_ptr<BlobSerializerBase> CreateSerializer(CaffeTypeId id);
std::unique_ptr<BlobDeserializerBase> CreateDeserializer(const std::string& type);

// Passes all records of a blob to `acceptor`. THROWS if the blob is empty, or if its type has no
// serializer; the error names the type.
void SerializeBlob(const Blob& blob, const std::string& name, Blob::SerializationAcceptor acceptor,
                   int chunk_size = kDefaultChunkSize);
void SerializeBlob(const void* object, TypeMeta meta, const std::string& name,
                   Blob::SerializationAcceptor acceptor, int chunk_size = kDefaultChunkSize);
// Return the blob as one record, without chunking. THROW if the record would reach 2 GB.
std::string SerializeBlob(const Blob& blob, const std::string& name);
std::string SerializeBlob(const void* object, TypeMeta meta, const std::string& name);

// Read one record. THROW if the bytes are not a BlobProto, or if its type has no deserializer; the
// error names the type.
void DeserializeBlob(const std::string& content, Blob* blob);
void DeserializeBlob(const BlobProto& proto, Blob* blob);

// The name of the blob in the key of a record: the part before kChunkIdSeparator.
std::string BlobNameFromKey(const std::string& key);

#define CAFFE2RT_SERIALIZATION_CONCAT_(a, b) a##b
#define CAFFE2RT_SERIALIZATION_CONCAT(a, b) CAFFE2RT_SERIALIZATION_CONCAT_(a, b)
// REGISTER_BLOB_SERIALIZER((TypeMeta::Id<MyType>()), MySerializer) at namespace scope, for users.
#define REGISTER_BLOB_SERIALIZER(id, ...)                                              \
  static const bool CAFFE2RT_SERIALIZATION_CONCAT(caffe2rt_serializer_, __COUNTER__) = \
      ::caffe2rt::BlobSerializerRegistry().Register(                                   \
          id, [] { return std::make_unique<__VA_ARGS__>(); }, __FILE__)
// REGISTER_BLOB_DESERIALIZER(MyType, MyDeserializer)
#define REGISTER_BLOB_DESERIALIZER(name, ...)                                            \
  static const bool CAFFE2RT_SERIALIZATION_CONCAT(caffe2rt_deserializer_, __COUNTER__) = \
      ::caffe2rt::BlobDeserializerRegistry().Register(                                   \
          #name, [] { return std::make_unique<__VA_ARGS__>(); }, __FILE__)

}  // namespace caffe2rt
#pragma GCC visibility pop
