#pragma once
// Blobs as BlobProto records, and back.
//
//   std::string bytes = SerializeBlob(blob, "conv1_w");          // one record
//   DeserializeBlob(bytes, &blob);
//   blob.Serialize("conv1_w", [&](const std::string& key, const std::string& record) {
//   transaction->Put(key, record); });
//
// A tensor becomes records "NAME#%0", "NAME#%1", ... of at most chunk_size elements; each has the
// full dims and the segment it holds. Other blobs become one record NAME. Which serializer is taken
// goes by the blob's type id, which deserializer by BlobProto.type; users add theirs with the
// macros below.
//
// The record of a DBReader names a database, which is opened under the policy of the innermost
// FileAccessScope (caffe2_core/io/file_access.h); a deserializer that opens files asks it too.
//
// Reading checks the data that are there against dims and segment before anything is allocated.
// Thread safe but for the settings.

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "caffe2_core/base/registry.h"
#include "caffe2_core/tensor/blob.h"
#include "caffe2_core/tensor/tensor.h"
#include "caffe2rt/caffe2.pb.h"

namespace caffe2rt {

inline constexpr const char* kTensorBlobType = "Tensor";
inline constexpr const char* kStringBlobType = "std::string";
// Between the name of a blob and the number of its chunk.
inline constexpr const char* kChunkIdSeparator = "#%";
// For chunk_size: what the settings say; all in one record.
inline constexpr int kDefaultChunkSize = -1;
inline constexpr int kNoChunking = 0;

// How tensors are written; process-wide, set before use. The flags of Caffe2 that fill them stand
// behind.
struct SerializationSettings {
  // Elements in a record, so that one stays far below protobuf's 2 GB. --caffe2_tensor_chunk_size
  int64_t tensor_chunk_size = 1000000;
  // FLOAT16 in byte_data, 2 bytes each, in place of int32_data. --caffe2_serialize_fp16_as_bytes
  bool fp16_as_bytes = false;
  // bool, 8 and 16 bit integers in byte_data in place of int32_data.
  // --caffe2_serialize_using_bytes_as_holder
  bool small_integers_as_bytes = false;
};
SerializationSettings& GlobalSerializationSettings();

// Writes one type of blob.
class BlobSerializerBase {
 public:
  using SerializationAcceptor = Blob::SerializationAcceptor;
  virtual ~BlobSerializerBase() = default;
  // Calls `acceptor` with the key and the bytes of each record. `object` has the type `meta`.
  virtual void Serialize(const void* object, TypeMeta meta, const std::string& name,
                         SerializationAcceptor acceptor) = 0;
  // The default ignores the size.
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
  // Makes the blob's object, or adds this record's chunk to it. THROWS when the record does not
  // fit.
  virtual void Deserialize(const BlobProto& proto, Blob* blob) = 0;
};

class TensorSerializer : public BlobSerializerBase {
 public:
  using BlobSerializerBase::Serialize;
  void Serialize(const void* object, TypeMeta meta, const std::string& name,
                 SerializationAcceptor acceptor) override;
  void SerializeWithChunkSize(const void* object, TypeMeta meta, const std::string& name,
                              SerializationAcceptor acceptor, int chunk_size) override;
  // The elements [begin, begin + chunk_size) or what there is of them.
  void Serialize(const Tensor& tensor, const std::string& name, TensorProto* proto, size_t begin,
                 int32_t chunk_size);
};

class TensorDeserializer : public BlobDeserializerBase {
 public:
  // To the device that the proto names; to the CPU when it names none, and when it names one of
  // Caffe2's own that is not available. THROWS when a user's device type is not here.
  void Deserialize(const BlobProto& proto, Blob* blob) override;
  // Into `tensor`, on the device it has: sets shape and type, fills the segment, keeps the rest of
  // an equal shape.
  void Deserialize(const TensorProto& proto, Tensor* tensor);
  void DeserializeToTensor(const TensorProto& proto, Tensor* tensor) { Deserialize(proto, tensor); }
  Tensor Deserialize(const TensorProto& proto);
};

using BlobSerializerRegistryType = Registry<CaffeTypeId, std::unique_ptr<BlobSerializerBase>>;
using BlobDeserializerRegistryType = Registry<std::string, std::unique_ptr<BlobDeserializerBase>>;
// With tensors, std::string and DBReader in them.
BlobSerializerRegistryType& BlobSerializerRegistry();
BlobDeserializerRegistryType& BlobDeserializerRegistry();

// Null when there is none.
std::unique_ptr<BlobSerializerBase> CreateSerializer(CaffeTypeId id);
std::unique_ptr<BlobDeserializerBase> CreateDeserializer(const std::string& type);

// All records of a blob. THROWS, naming the type, when it has no serializer, or when the blob is
// empty.
void SerializeBlob(const Blob& blob, const std::string& name, Blob::SerializationAcceptor acceptor,
                   int chunk_size = kDefaultChunkSize);
void SerializeBlob(const void* object, TypeMeta meta, const std::string& name,
                   Blob::SerializationAcceptor acceptor, int chunk_size = kDefaultChunkSize);
// One record, without chunking. THROWS when it would have 2 GB or more.
std::string SerializeBlob(const Blob& blob, const std::string& name);
std::string SerializeBlob(const void* object, TypeMeta meta, const std::string& name);

// One record. THROWS for a type that has no deserializer, naming it, and for bytes that are no
// BlobProto.
void DeserializeBlob(const std::string& content, Blob* blob);
void DeserializeBlob(const BlobProto& proto, Blob* blob);

// The blob's name in the key of a record: what stands before kChunkIdSeparator.
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
