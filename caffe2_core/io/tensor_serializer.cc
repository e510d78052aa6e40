// TensorSerializer of blob_serialization.h: maps element types to fields of a TensorProto.
#include <google/protobuf/repeated_field.h>

#include <algorithm>
#include <bit>
#include <new>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/memory_budget.h"
#include "caffe2_core/device/context.h"
#include "caffe2_core/io/blob_serialization.h"
#include "caffe2_core/io/proto_file.h"
#include "caffe2_core/io/tensor_segment.h"
#include "caffe2_core/tensor/data_type.h"

namespace caffe2rt {
namespace {

static_assert(std::endian::native == std::endian::little, "the formats are little endian");

using google::protobuf::RepeatedField;

template <class T, class Field>
void PutNumbers(const void* data, const TensorSegment& segment, RepeatedField<Field>* field) {
  const T* from = static_cast<const T*>(data) + segment.begin;
  field->Resize(static_cast<int>(segment.size()), Field());
  std::copy(from, from + segment.size(), field->mutable_data());
}

void PutBytes(const void* data, size_t itemsize, const TensorSegment& segment, TensorProto* proto) {
  const char* from =
      static_cast<const char*>(data) + segment.begin * static_cast<int64_t>(itemsize);
  proto->set_byte_data(from, static_cast<size_t>(segment.size()) * itemsize);
}

// Types of 8 and 16 bits: int32_data, or byte_data if the settings request it.
template <class T>
void PutSmall(const void* data, const TensorSegment& segment, bool as_bytes, TensorProto* proto) {
  if (as_bytes) {
    PutBytes(data, sizeof(T), segment, proto);
  } else {
    PutNumbers<T>(data, segment, proto->mutable_int32_data());
  }
}

void PutObjects(const void* data, TypeMeta meta, const TensorSegment& segment, TensorProto* proto) {
  const char* from = static_cast<const char*>(data);
  for (int64_t i = segment.begin; i < segment.end; ++i) {
    proto->add_string_data(
        SerializeBlob(from + i * static_cast<int64_t>(meta.itemsize()), meta, ""));
  }
}

void PutData(const void* data, TypeMeta meta, const TensorSegment& segment, TensorProto* proto) {
  const SerializationSettings& settings = GlobalSerializationSettings();
  const bool as_bytes = settings.small_integers_as_bytes;
  switch (proto->data_type()) {
    case TensorProto::FLOAT:
      return PutNumbers<float>(data, segment, proto->mutable_float_data());
    case TensorProto::DOUBLE:
      return PutNumbers<double>(data, segment, proto->mutable_double_data());
    case TensorProto::INT32:
      return PutNumbers<int32_t>(data, segment, proto->mutable_int32_data());
    case TensorProto::INT64:
      return PutNumbers<int64_t>(data, segment, proto->mutable_int64_data());
    case TensorProto::BOOL:
      return PutSmall<bool>(data, segment, as_bytes, proto);
    case TensorProto::UINT8:
      return PutSmall<uint8_t>(data, segment, as_bytes, proto);
    case TensorProto::INT8:
      return PutSmall<int8_t>(data, segment, as_bytes, proto);
    case TensorProto::UINT16:
      return PutSmall<uint16_t>(data, segment, as_bytes, proto);
    case TensorProto::INT16:
      return PutSmall<int16_t>(data, segment, as_bytes, proto);
    case TensorProto::UINT32:
      return PutNumbers<uint32_t>(data, segment, proto->mutable_int64_data());
    case TensorProto::UINT64:  // the bits
      return PutNumbers<int64_t>(data, segment, proto->mutable_int64_data());
    case TensorProto::BFLOAT16:  // the bit patterns
      return PutNumbers<uint16_t>(data, segment, proto->mutable_int32_data());
    case TensorProto::FLOAT16:  // the bit patterns
      return PutSmall<uint16_t>(data, segment, settings.fp16_as_bytes, proto);
    case TensorProto::STRING:
      for (int64_t i = segment.begin; i < segment.end; ++i) {
        proto->add_string_data(static_cast<const std::string*>(data)[i]);
      }
      return;
    default:
      return PutObjects(data, meta, segment, proto);
  }
}

// Sets the device on which the data are.
void SetDevice(const Tensor& tensor, DeviceOption* option) {
  option->set_device_type(tensor.GetDeviceType());
  BaseStaticContext* context = FindStaticContext(tensor.GetDeviceType());
  if (context != nullptr && tensor.storage() != nullptr) {
    context->ExtractDeviceOption(option, tensor.storage()->data());
  }
}

// One record of `host`, a copy of `tensor` in CPU memory (or the tensor itself).
void SerializeSegment(const Tensor& tensor, const Tensor& host, const std::string& name,
                      const TensorSegment& segment, TensorProto* proto) {
  proto->Clear();
  for (const int64_t dim : tensor.sizes()) proto->add_dims(dim);
  proto->set_data_type(TypeMetaToDataType(tensor.dtype()));
  proto->set_name(name);
  SetDevice(tensor, proto->mutable_device_detail());
  proto->mutable_segment()->set_begin(segment.begin);
  proto->mutable_segment()->set_end(segment.end);
  PutData(host.raw_data(), host.dtype(), segment, proto);
}

void CheckSerializable(const Tensor& tensor, const std::string& name) {
  CAFFE_ENFORCE(tensor.IsShaped() && tensor.dtype().IsSet(), "cannot serialize tensor \"", name,
                "\": it has no shape or no element type, nothing has been written to it");
}

Tensor OnHost(const Tensor& tensor) {
  return tensor.GetDeviceType() == CPU ? tensor : Tensor(tensor, CPU);
}

}  // namespace

void TensorSerializer::Serialize(const void* object, TypeMeta meta, const std::string& name,
                                 SerializationAcceptor acceptor) {
  SerializeWithChunkSize(object, meta, name, std::move(acceptor), kDefaultChunkSize);
}

void TensorSerializer::SerializeWithChunkSize(const void* object, TypeMeta meta,
                                              const std::string& name,
                                              SerializationAcceptor acceptor, int chunk_size) try {
  CAFFE_ENFORCE(object != nullptr, "argument object of Serialize is null");
  CAFFE_ENFORCE(acceptor != nullptr, "argument acceptor of Serialize is null");
  CAFFE_ENFORCE(meta.Match<Tensor>(), "blob \"", name, "\" has type ", meta.name(),
                ", want a Tensor");
  const Tensor& tensor = *static_cast<const Tensor*>(object);
  CheckSerializable(tensor, name);
  const int64_t size = tensor.numel();
  int64_t step = chunk_size;
  if (chunk_size == kNoChunking) step = size;
  if (chunk_size == kDefaultChunkSize) step = GlobalSerializationSettings().tensor_chunk_size;
  step = std::max<int64_t>(step, 1);
  const Tensor host = OnHost(tensor);
  BlobProto proto;
  proto.set_name(name);
  proto.set_type(kTensorBlobType);
  for (int64_t begin = 0, chunk = 0; begin < std::max<int64_t>(size, 1); begin += step, ++chunk) {
    const TensorSegment segment{begin, begin + std::min(step, size - begin)};
    CAFFE_ENFORCE_LE(segment.size(), INT32_MAX, "elements in one record of tensor \"", name,
                     "\", set a smaller chunk_size");
    SerializeSegment(tensor, host, name, segment, proto.mutable_tensor());
    acceptor(MakeString(name, kChunkIdSeparator, chunk), ProtoToBinary(proto));
  }
} catch (const std::bad_alloc&) {
  ThrowOutOfMemory();
}

void TensorSerializer::Serialize(const Tensor& tensor, const std::string& name, TensorProto* proto,
                                 size_t begin, int32_t chunk_size) try {
  CAFFE_ENFORCE(proto != nullptr, "argument proto of Serialize is null");
  CheckSerializable(tensor, name);
  const int64_t size = tensor.numel();
  CAFFE_ENFORCE(begin <= static_cast<size_t>(size), "chunk of tensor \"", name, "\" begins at ",
                begin, ", want at most its size ", size);
  const int64_t first = static_cast<int64_t>(begin);
  const int64_t count =
      chunk_size <= 0 ? size - first : std::min<int64_t>(chunk_size, size - first);
  CAFFE_ENFORCE_LE(count, INT32_MAX, "elements in one record of tensor \"", name, "\"");
  SerializeSegment(tensor, OnHost(tensor), name, {first, first + count}, proto);
} catch (const std::bad_alloc&) {
  ThrowOutOfMemory();
}

}  // namespace caffe2rt
