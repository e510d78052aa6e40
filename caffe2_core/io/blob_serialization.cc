#include "caffe2_core/io/blob_serialization.h"

#include <absl/strings/str_join.h>

#include <new>

#include "caffe2_core/base/byte_size.h"
#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/memory_budget.h"
#include "caffe2_core/base/thread_state.h"
#include "caffe2_core/io/db.h"
#include "caffe2_core/io/file_access.h"
#include "caffe2_core/io/int8_serializer.h"
#include "caffe2_core/io/proto_file.h"
#include "caffe2_core/tensor/int8_tensor.h"

namespace caffe2rt {
namespace {

constexpr const char* kDBReaderBlobType = "DBReader";

class StringSerializer : public BlobSerializerBase {
 public:
  void Serialize(const void* object, TypeMeta, const std::string& name,
                 SerializationAcceptor acceptor) override {
    BlobProto proto;
    proto.set_name(name);
    proto.set_type(kStringBlobType);
    proto.set_content(*static_cast<const std::string*>(object));
    acceptor(name, ProtoToBinary(proto));
  }
};

class StringDeserializer : public BlobDeserializerBase {
 public:
  void Deserialize(const BlobProto& proto, Blob* blob) override {
    *blob->GetMutable<std::string>() = proto.content();
  }
};

// A reader is serialized as its database and position, and reopened there if the current policy
// allows it.
class DBReaderSerializer : public BlobSerializerBase {
 public:
  void Serialize(const void* object, TypeMeta, const std::string& name,
                 SerializationAcceptor acceptor) override {
    BlobProto proto;
    proto.set_name(name);
    proto.set_type(kDBReaderBlobType);
    proto.set_content(ProtoToBinary(static_cast<const db::DBReader*>(object)->ToProto(name)));
    acceptor(name, ProtoToBinary(proto));
  }
};

class DBReaderDeserializer : public BlobDeserializerBase {
 public:
  void Deserialize(const BlobProto& proto, Blob* blob) override {
    DBReaderProto reader;
    CAFFE_ENFORCE(ParseProtoFromLargeString(proto.content(), &reader),
                  "Cannot parse content into a DBReaderProto: blob \"", proto.name(), "\"");
    reader.set_source(FileAccessScope::Current().CheckRead(reader.source()));
    blob->Reset(new db::DBReader(reader));
  }
};

// A record may contain records (a tensor whose elements are objects). A file must not nest them
// without limit.
class NestingGuard {
 public:
  NestingGuard() {
    CAFFE_ENFORCE_LT(t_thread_state.nested_records, kMaxDepth, "blobs within blobs in a record");
    ++t_thread_state.nested_records;
  }
  ~NestingGuard() { --t_thread_state.nested_records; }
  NestingGuard(const NestingGuard&) = delete;
  NestingGuard& operator=(const NestingGuard&) = delete;

 private:
  static constexpr int kMaxDepth = 8;
};

}  // namespace

SerializationSettings& GlobalSerializationSettings() {
  static SerializationSettings settings;
  return settings;
}

void BlobSerializerBase::SerializeWithChunkSize(const void* object, TypeMeta meta,
                                                const std::string& name,
                                                SerializationAcceptor acceptor, int) {
  Serialize(object, meta, name, std::move(acceptor));
}

BlobSerializerRegistryType& BlobSerializerRegistry() {
  static BlobSerializerRegistryType& registry = [&]() -> BlobSerializerRegistryType& {
    auto& built = *new BlobSerializerRegistryType("serializer of type id");
    built.Register(
        TypeMeta::Id<Tensor>(), [] { return std::make_unique<TensorSerializer>(); }, __FILE__);
    built.Register(
        TypeMeta::Id<std::string>(), [] { return std::make_unique<StringSerializer>(); }, __FILE__);
    built.Register(
        TypeMeta::Id<db::DBReader>(), [] { return std::make_unique<DBReaderSerializer>(); },
        __FILE__);
    built.Register(
        TypeMeta::Id<Int8TensorCPU>(), [] { return std::make_unique<Int8TensorSerializer>(); },
        __FILE__);
    return built;
  }();
  return registry;
}

BlobDeserializerRegistryType& BlobDeserializerRegistry() {
  static BlobDeserializerRegistryType& registry = [&]() -> BlobDeserializerRegistryType& {
    auto& built = *new BlobDeserializerRegistryType("deserializer");
    // Older writers include the device in the type name; device_detail names it in any case.
    for (const char* type : {kTensorBlobType, "TensorCPU", "TensorCUDA"}) {
      built.Register(
          type, [] { return std::make_unique<TensorDeserializer>(); }, __FILE__);
    }
    built.Register(
        kStringBlobType, [] { return std::make_unique<StringDeserializer>(); }, __FILE__);
    built.Register(
        kDBReaderBlobType, [] { return std::make_unique<DBReaderDeserializer>(); }, __FILE__);
    built.Register(
        kInt8TensorBlobType, [] { return std::make_unique<Int8TensorDeserializer>(); }, __FILE__);
    return built;
  }();
  return registry;
}

std::unique_ptr<BlobSerializerBase> CreateSerializer(CaffeTypeId id) {
  return BlobSerializerRegistry().Create(id);
}

std::unique_ptr<BlobDeserializerBase> CreateDeserializer(const std::string& type) {
  return BlobDeserializerRegistry().Create(type);
}

void SerializeBlob(const void* object, TypeMeta meta, const std::string& name,
                   Blob::SerializationAcceptor acceptor, int chunk_size) try {
  CAFFE_ENFORCE(object != nullptr, "cannot serialize blob \"", name, "\": it is empty");
  CAFFE_ENFORCE(acceptor != nullptr, "argument acceptor of SerializeBlob is null");
  const std::unique_ptr<BlobSerializerBase> serializer = CreateSerializer(meta.id());
  CAFFE_ENFORCE(serializer != nullptr, "No known serializer for ", meta.name(), ": blob \"", name,
                "\" cannot be written");
  serializer->SerializeWithChunkSize(object, meta, name, std::move(acceptor), chunk_size);
} catch (const std::bad_alloc&) {
  ThrowOutOfMemory();
}

void SerializeBlob(const Blob& blob, const std::string& name, Blob::SerializationAcceptor acceptor,
                   int chunk_size) try {
  SerializeBlob(blob.GetRaw(), blob.meta(), name, std::move(acceptor), chunk_size);
} catch (const std::bad_alloc&) {
  ThrowOutOfMemory();
}

std::string SerializeBlob(const void* object, TypeMeta meta, const std::string& name) try {
  std::string record;
  SerializeBlob(
      object, meta, name,
      [&](const std::string&, const std::string& bytes) {
        CAFFE_ENFORCE(record.empty(), "blob \"", name, "\" has more than one record, want one");
        record = bytes;
      },
      kNoChunking);
  return record;
} catch (const std::bad_alloc&) {
  ThrowOutOfMemory();
}

std::string SerializeBlob(const Blob& blob, const std::string& name) try {
  return SerializeBlob(blob.GetRaw(), blob.meta(), name);
} catch (const std::bad_alloc&) {
  ThrowOutOfMemory();
}

void DeserializeBlob(const std::string& content, Blob* blob) try {
  BlobProto proto;
  CAFFE_ENFORCE(ParseProtoFromLargeString(content, &proto),
                "Cannot parse content into a BlobProto: ", ByteSizeText(content.size()));
  DeserializeBlob(proto, blob);
} catch (const std::bad_alloc&) {
  ThrowOutOfMemory();
}

void DeserializeBlob(const BlobProto& proto, Blob* blob) try {
  CAFFE_ENFORCE(blob != nullptr, "argument blob of DeserializeBlob is null");
  const NestingGuard guard;
  const std::unique_ptr<BlobDeserializerBase> deserializer = CreateDeserializer(proto.type());
  CAFFE_ENFORCE(deserializer != nullptr, "No registered deserializer for type \"", proto.type(),
                "\": blob \"", proto.name(), "\" cannot be read; known types: ",
                absl::StrJoin(BlobDeserializerRegistry().Keys(), ", "));
  deserializer->Deserialize(proto, blob);
} catch (const std::bad_alloc&) {
  ThrowOutOfMemory();
}

std::string BlobNameFromKey(const std::string& key) try {
  return key.substr(0, key.find(kChunkIdSeparator));
} catch (const std::bad_alloc&) {
  ThrowOutOfMemory();
}

std::string Blob::Serialize(const std::string& name) const { return SerializeBlob(*this, name); }

void Blob::Serialize(const std::string& name, SerializationAcceptor acceptor,
                     int chunk_size) const {
  SerializeBlob(*this, name, std::move(acceptor), chunk_size);
}

void Blob::Deserialize(const std::string& content) { DeserializeBlob(content, this); }

void Blob::Deserialize(const BlobProto& proto) { DeserializeBlob(proto, this); }

}  // namespace caffe2rt
