// TensorDeserializer of blob_serialization.h: reads every representation of the elements in a
// TensorProto.
#include <google/protobuf/repeated_field.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <new>
#include <optional>

#include "caffe2_core/base/checked_math.h"
#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/logging.h"
#include "caffe2_core/base/memory_budget.h"
#include "caffe2_core/device/context.h"
#include "caffe2_core/io/blob_serialization.h"
#include "caffe2_core/io/file_access.h"
#include "caffe2_core/io/proto_file.h"
#include "caffe2_core/io/tensor_segment.h"
#include "caffe2_core/tensor/data_type.h"

namespace caffe2rt {
namespace {

static_assert(std::endian::native == std::endian::little, "the formats are little endian");

using google::protobuf::RepeatedField;

std::vector<int64_t> CheckedDims(const TensorProto& proto) {
  CAFFE_ENFORCE_LE(proto.dims_size(), Tensor::kMaxRank, "rank of tensor \"", proto.name(), "\"");
  std::vector<int64_t> dims(proto.dims().begin(), proto.dims().end());
  (void)CheckedProduct(dims);
  return dims;
}

TensorSegment CheckedSegment(const TensorProto& proto, int64_t size) {
  TensorSegment segment{0, size};
  if (proto.has_segment()) segment = {proto.segment().begin(), proto.segment().end()};
  CAFFE_ENFORCE(0 <= segment.begin && segment.begin <= segment.end && segment.end <= size,
                "Invalid chunk ", segment.begin, ' ', segment.end, " with total tensor size ", size,
                " of tensor \"", proto.name(), "\"");
  return segment;
}

void CheckCount(const TensorProto& proto, int64_t got, int64_t want, const char* unit) {
  CAFFE_ENFORCE(got == want, "Incorrect proto field size. Tensor \"", proto.name(), "\" of type ",
                DataTypeName(proto.data_type()), " has ", got, ' ', unit, ", want ", want);
}

template <class T, class Field>
void GetNumbers(const RepeatedField<Field>& field, void* to) {
  T* out = static_cast<T*>(to);
  for (const Field value : field) *out++ = static_cast<T>(value);
}

// The field that stores plain elements as bytes: raw_data, or byte_data for small types. Null if a
// typed field stores them.
const std::string* ByteHolder(const TensorProto& proto) {
  if (proto.storage_type() == TensorProto::RAW || proto.has_raw_data()) return &proto.raw_data();
  switch (proto.data_type()) {
    case TensorProto::BYTE:
      return &proto.byte_data();
    case TensorProto::BOOL:
    case TensorProto::UINT8:
    case TensorProto::INT8:
    case TensorProto::UINT16:
    case TensorProto::INT16:
    case TensorProto::FLOAT16:
      return proto.has_byte_data() ? &proto.byte_data() : nullptr;
    default:
      return nullptr;
  }
}

int64_t NumbersThere(const TensorProto& proto) {
  switch (proto.data_type()) {
    case TensorProto::FLOAT:
      return proto.float_data_size();
    case TensorProto::DOUBLE:
      return proto.double_data_size();
    case TensorProto::INT64:
    case TensorProto::UINT32:
    case TensorProto::UINT64:
      return proto.int64_data_size();
    case TensorProto::STRING:
    case TensorProto::UNDEFINED:
      return proto.string_data_size();
    default:
      return proto.int32_data_size();
  }
}

bool IsBfloat16(const TensorProto& proto) {
  return proto.data_format() == TensorProto::FMT_BFLOAT16;
}

// THROWS unless the record holds exactly the elements of its segment.
void CheckDataThere(const TensorProto& proto, int64_t count) {
  CAFFE_ENFORCE(proto.storage_type() != TensorProto::EXTERNAL && !proto.has_external_data(),
                "tensor \"", proto.name(),
                "\" keeps its data in another file (storage_type EXTERNAL), which is not read");
  if (IsBfloat16(proto)) {
    CAFFE_ENFORCE(proto.data_type() == TensorProto::FLOAT, "tensor \"", proto.name(), "\" of type ",
                  DataTypeName(proto.data_type()),
                  " has data_format FMT_BFLOAT16, which only FLOAT may have");
    return CheckCount(proto, static_cast<int64_t>(proto.raw_data().size()),
                      CheckedMultiply<int64_t>(count, 2), "bytes of raw_data");
  }
  CAFFE_ENFORCE_EQ(proto.data_format(), static_cast<uint32_t>(TensorProto::FMT_PROTOBUF),
                   "data_format of tensor \"", proto.name(), "\"");
  if (const std::string* bytes = ByteHolder(proto)) {
    const TypeMeta meta = DataTypeToTypeMeta(proto.data_type());
    CAFFE_ENFORCE(meta.IsPlainData(), "tensor \"", proto.name(), "\" of type ",
                  DataTypeName(proto.data_type()), " has raw_data, want its typed field");
    const int64_t want = CheckedMultiply<int64_t>(count, static_cast<int64_t>(meta.itemsize()));
    return CheckCount(proto, static_cast<int64_t>(bytes->size()), want, "bytes");
  }
  CheckCount(proto, NumbersThere(proto), count, "elements");
}

void GetBfloat16(const std::string& bytes, float* to) {
  for (size_t i = 0; i + 1 < bytes.size(); i += 2) {
    uint16_t upper;
    std::memcpy(&upper, bytes.data() + i, sizeof(upper));
    *to++ = std::bit_cast<float>(static_cast<uint32_t>(upper) << 16);
  }
}

void GetBytes(const TensorProto& proto, const std::string& bytes, void* to) {
  if (proto.data_type() == TensorProto::BOOL) {  // any byte but 0 is true
    bool* out = static_cast<bool*>(to);
    for (const char c : bytes) *out++ = c != 0;
  } else if (!bytes.empty()) {
    std::memcpy(to, bytes.data(), bytes.size());
  }
}

// Writes elements of plain types and strings to `to`, which has room for them.
void GetData(const TensorProto& proto, void* to) {
  if (IsBfloat16(proto)) return GetBfloat16(proto.raw_data(), static_cast<float*>(to));
  if (const std::string* bytes = ByteHolder(proto)) return GetBytes(proto, *bytes, to);
  switch (proto.data_type()) {
    case TensorProto::FLOAT:
      return GetNumbers<float>(proto.float_data(), to);
    case TensorProto::DOUBLE:
      return GetNumbers<double>(proto.double_data(), to);
    case TensorProto::INT64:
    case TensorProto::UINT64:
      return GetNumbers<int64_t>(proto.int64_data(), to);
    case TensorProto::UINT32:
      return GetNumbers<uint32_t>(proto.int64_data(), to);
    case TensorProto::INT32:
      return GetNumbers<int32_t>(proto.int32_data(), to);
    case TensorProto::BOOL:
      return GetNumbers<bool>(proto.int32_data(), to);
    case TensorProto::UINT8:
      return GetNumbers<uint8_t>(proto.int32_data(), to);
    case TensorProto::INT8:
      return GetNumbers<int8_t>(proto.int32_data(), to);
    case TensorProto::INT16:
      return GetNumbers<int16_t>(proto.int32_data(), to);
    case TensorProto::UINT16:
    case TensorProto::FLOAT16:
    case TensorProto::BFLOAT16:
      return GetNumbers<uint16_t>(proto.int32_data(), to);
    case TensorProto::STRING:
      std::copy(proto.string_data().begin(), proto.string_data().end(),
                static_cast<std::string*>(to));
      return;
    default:
      CAFFE_THROW("tensor \"", proto.name(), "\" has element type ",
                  DataTypeName(proto.data_type()),
                  ", which is not a valid element type of a tensor");
  }
}

// For UNDEFINED: each element is a record, and the first one determines the type.
void GetObjects(const TensorProto& proto, const TensorSegment& segment, Tensor* tensor) {
  CAFFE_ENFORCE(tensor->GetDeviceType() == CPU, "tensor \"", proto.name(),
                "\" has objects as elements, want it on the CPU");
  const FileAccess no_files = FileAccess::Off("an element of a tensor cannot be a DBReader");
  const FileAccessScope scope(no_files);
  Blob element;
  for (int64_t i = 0; i < segment.size(); ++i) {
    DeserializeBlob(proto.string_data(static_cast<int>(i)), &element);
    const TypeMeta meta = element.meta();
    CAFFE_ENFORCE(!meta.IsPlainData() && meta.copy() != nullptr && meta.ctor() != nullptr,
                  "tensor \"", proto.name(), "\" has elements of type ", meta.name(),
                  ", which cannot be tensor elements");
    CAFFE_ENFORCE(i == 0 || meta == tensor->dtype(), "tensor \"", proto.name(),
                  "\" has elements of type ", meta.name(), " and ", tensor->dtype().name());
    char* to = static_cast<char*>(tensor->raw_mutable_data(meta));
    meta.copy()(element.GetRaw(), to + (segment.begin + i) * static_cast<int64_t>(meta.itemsize()),
                1);
  }
}

// Makes the device named by a record the thread's current device, on which memory is allocated, and
// restores the previous one on destruction.
class DeviceOfRecord {
 public:
  DeviceOfRecord(BaseStaticContext* device, const DeviceOption& record) : device_(device) {
    device_->ExtractDeviceOption(&before_, nullptr);
    if (!record.has_device_id() || record.device_type() != device_->GetDeviceType()) return;
    if (record.device_id() != before_.device_id()) Switch(record);
  }
  ~DeviceOfRecord() {
    DeviceOption now;
    device_->ExtractDeviceOption(&now, nullptr);
    if (now.device_id() != before_.device_id()) Switch(before_);
  }
  DeviceOfRecord(const DeviceOfRecord&) = delete;
  DeviceOfRecord& operator=(const DeviceOfRecord&) = delete;

 private:
  void Switch(const DeviceOption& option) { device_->CreateContext(option)->SwitchToDevice(); }

  BaseStaticContext* const device_;
  DeviceOption before_;
};

// The device type for the tensor of a record. A record saved on one of Caffe2's built-in device
// types is read to the CPU if that type is not available; a user-defined device type needs its
// module. THROWS for an invalid number, and for a user-defined device type that is not available.
DeviceType DeviceFor(const TensorProto& proto) {
  const DeviceType device = CheckedDeviceType(proto.device_detail().device_type());
  if (device == CPU || FindStaticContext(device) != nullptr) return device;
  if (device < kFirstUserDeviceType) {
    LOG(WARNING) << "tensor \"" << proto.name() << "\" was saved on " << DeviceTypeName(device)
                 << ", which is not available: it is read to the CPU";
    return CPU;
  }
  return GetStaticContext(device)->GetDeviceType();  // throws, naming what is missing
}

// Copies plain elements to a device through CPU memory.
void CopyToDevice(const TensorProto& proto, TypeMeta meta, const TensorSegment& segment, void* to,
                  DeviceType device) {
  Tensor host(CPU);
  host.Resize(segment.size());
  GetData(proto, host.raw_mutable_data(meta));
  DeviceOption option = proto.device_detail();
  option.set_device_type(device);
  const auto context = GetStaticContext(device)->CreateContext(option);
  context->SwitchToDevice();
  context->CopyItemsFromCPU(meta, static_cast<size_t>(segment.size()), host.raw_data(), to);
  context->FinishDeviceComputation();
}

}  // namespace

void TensorDeserializer::Deserialize(const BlobProto& proto, Blob* blob) try {
  CAFFE_ENFORCE(blob != nullptr, "argument blob of Deserialize is null");
  CAFFE_ENFORCE(proto.has_tensor(), "blob \"", proto.name(), "\" of type ", proto.type(),
                " has no tensor in its record");
  const DeviceType device = DeviceFor(proto.tensor());  // THROWS before the blob changes
  Deserialize(proto.tensor(), blob->GetMutableTensor(device));
} catch (const std::bad_alloc&) {
  ThrowOutOfMemory();
}

void TensorDeserializer::Deserialize(const TensorProto& proto, Tensor* tensor) try {
  CAFFE_ENFORCE(tensor != nullptr, "argument tensor of Deserialize is null");
  const TransientWrites scope;
  const std::vector<int64_t> dims = CheckedDims(proto);
  const TensorSegment segment = CheckedSegment(proto, CheckedProduct(dims));
  if (proto.storage_type() == TensorProto::NO_CONTENT) return tensor->Resize(dims);
  CheckDataThere(proto, segment.size());
  tensor->Resize(dims);
  if (proto.data_type() == TensorProto::UNDEFINED) return GetObjects(proto, segment, tensor);
  const TypeMeta meta = DataTypeToTypeMeta(proto.data_type());
  std::optional<DeviceOfRecord> on_device;
  if (tensor->GetDeviceType() != CPU) {
    on_device.emplace(tensor->GetStaticContext(), proto.device_detail());
  }
  char* data = static_cast<char*>(tensor->raw_mutable_data(meta));
  if (segment.size() == 0) return;
  char* to = data + segment.begin * static_cast<int64_t>(meta.itemsize());
  if (tensor->GetDeviceType() == CPU) return GetData(proto, to);
  CopyToDevice(proto, meta, segment, to, tensor->GetDeviceType());
} catch (const std::bad_alloc&) {
  ThrowOutOfMemory();
}

Tensor TensorDeserializer::Deserialize(const TensorProto& proto) try {
  Tensor tensor(DeviceFor(proto));
  Deserialize(proto, &tensor);
  return tensor;
} catch (const std::bad_alloc&) {
  ThrowOutOfMemory();
}

}  // namespace caffe2rt
