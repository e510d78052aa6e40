#include "caffe2_core/import/onnx/onnx_file.h"

#include <absl/strings/str_join.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>
#include <vector>

#include "caffe2_core/base/bfloat16.h"
#include "caffe2_core/base/checked_math.h"
#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/float16.h"
#include "caffe2_core/base/overwritten_memory.h"
#include "caffe2_core/base/utf8.h"
#include "caffe2_core/import/onnx/model_skeleton.h"
#include "caffe2_core/import/onnx/onnx_values.h"
#include "caffe2_core/io/proto_binary.h"

namespace caffe2rt {
namespace {

using Proto = onnx::TensorProto;

constexpr int64_t kPieceElements = 1 << 16;
constexpr int kMaxAxes = 32;

float FloatOfHalf(uint16_t bits) { return float16::FromBits(bits); }
float FloatOfBfloat(uint16_t bits) { return std::bit_cast<float>(uint32_t{bits} << 16); }

// Elements as a file stores them.
struct Source {
  const RandomAccessInput* input = nullptr;  // or null: the bytes
  int64_t offset = 0;
  std::string_view bytes = {};
  int64_t size = 0;
  bool open_end = false;  // of the bytes, the first are the elements

  void Read(int64_t at, void* to, size_t count) const {
    if (input != nullptr) return input->Read(offset + at, to, count);
    std::memcpy(to, bytes.data() + at, count);
  }
};

void CheckBytes(const Source& source, int64_t want) {
  if (source.open_end) {
    CAFFE_ENFORCE_GE(source.size, want, "bytes of elements");
  } else {
    CAFFE_ENFORCE_EQ(source.size, want, "bytes of elements");
  }
}

void CheckBytes(const Source& source, int64_t count, size_t size) {
  CheckBytes(source, CheckedMultiply(count, static_cast<int64_t>(size)));
}

template <class T>
Tensor ReadPlain(const Source& source, const std::vector<int64_t>& dims, int64_t count) {
  CheckBytes(source, count, sizeof(T));
  const OverwrittenMemory memory;
  Tensor values(dims, CPU);
  T* to = values.mutable_data<T>();
  if (count > 0) source.Read(0, to, static_cast<size_t>(count) * sizeof(T));
  return values;
}

template <class To, class From, class Convert>
Tensor ReadConverted(const Source& source, const std::vector<int64_t>& dims, int64_t count,
                     const Convert& convert) {
  CheckBytes(source, count, sizeof(From));
  const OverwrittenMemory memory;
  Tensor values(dims, CPU);
  To* to = values.mutable_data<To>();
  std::vector<From> piece(static_cast<size_t>(std::min(count, kPieceElements)));
  for (int64_t at = 0; at < count;) {
    const int64_t now = std::min(count - at, kPieceElements);
    source.Read(at * static_cast<int64_t>(sizeof(From)), piece.data(),
                static_cast<size_t>(now) * sizeof(From));
    for (int64_t i = 0; i < now; ++i) to[at + i] = convert(piece[static_cast<size_t>(i)]);
    at += now;
  }
  return values;
}

// Several elements in each byte, the first in its lowest bits.
template <class To>
Tensor ReadPacked(const Source& source, NarrowFormat format, const std::vector<int64_t>& dims,
                  int64_t count) {
  const int bits = NarrowBits(format), in_byte = 8 / bits;
  const int64_t bytes = count / in_byte + static_cast<int64_t>(count % in_byte != 0);
  CheckBytes(source, bytes);
  const OverwrittenMemory memory;
  Tensor values(dims, CPU);
  To* to = values.mutable_data<To>();
  std::vector<uint8_t> piece(static_cast<size_t>(std::min(bytes, kPieceElements)));
  for (int64_t at = 0; at < bytes;) {
    const int64_t now = std::min(bytes - at, kPieceElements);
    source.Read(at, piece.data(), static_cast<size_t>(now));
    const int64_t first = at * in_byte, last = std::min(count, (at + now) * in_byte);
    for (int64_t i = first; i < last; ++i) {
      const int byte = piece[static_cast<size_t>(i / in_byte - at)];
      const int number = byte >> (i % in_byte * bits);
      to[i] = static_cast<To>(NarrowToFloat(format, static_cast<uint8_t>(number)));
    }
    at += now;
  }
  return values;
}

Tensor ReadNarrow(const Source& source, NarrowFormat format, const std::vector<int64_t>& dims,
                  int64_t count) {
  if (!IsNarrowInteger(format)) return ReadPacked<float>(source, format, dims, count);
  if (IsNarrowSigned(format)) return ReadPacked<int8_t>(source, format, dims, count);
  return ReadPacked<uint8_t>(source, format, dims, count);
}

Tensor ReadRaw(const Source& source, int type, const std::vector<int64_t>& dims, int64_t count) {
  switch (type) {
    case Proto::FLOAT:
      return ReadPlain<float>(source, dims, count);
    case Proto::DOUBLE:
      return ReadPlain<double>(source, dims, count);
    case Proto::UINT8:
      return ReadPlain<uint8_t>(source, dims, count);
    case Proto::INT8:
      return ReadPlain<int8_t>(source, dims, count);
    case Proto::UINT16:
      return ReadPlain<uint16_t>(source, dims, count);
    case Proto::INT16:
      return ReadPlain<int16_t>(source, dims, count);
    case Proto::INT32:
      return ReadPlain<int32_t>(source, dims, count);
    case Proto::INT64:
      return ReadPlain<int64_t>(source, dims, count);
    case Proto::UINT32:
      return ReadPlain<uint32_t>(source, dims, count);
    case Proto::UINT64:
      return ReadPlain<uint64_t>(source, dims, count);
    case Proto::BOOL:
      return ReadConverted<bool, uint8_t>(source, dims, count, [](uint8_t x) { return x != 0; });
    case Proto::FLOAT16:
      return ReadConverted<float, uint16_t>(source, dims, count, FloatOfHalf);
    case Proto::BFLOAT16:
      return ReadConverted<float, uint16_t>(source, dims, count, FloatOfBfloat);
    default:
      break;
  }
  const std::optional<NarrowFormat> format = NarrowFormatOf(type);
  CAFFE_ENFORCE(format.has_value(), "elements of type ", OnnxTypeName(type), " are not supported");
  return ReadNarrow(source, *format, dims, count);
}

template <class T, class List, class Convert>
Tensor FromList(const List& list, const std::vector<int64_t>& dims, int64_t count,
                const Convert& convert) {
  CAFFE_ENFORCE_EQ(static_cast<int64_t>(list.size()), count, "elements");
  Tensor values(dims, CPU);
  T* to = values.mutable_data<T>();
  for (const auto& item : list) *to++ = convert(item);
  return values;
}

template <class T, class List>
Tensor FromList(const List& list, const std::vector<int64_t>& dims, int64_t count) {
  return FromList<T>(list, dims, count, [](const auto& item) { return static_cast<T>(item); });
}

// The element types whose elements are in int32_data.
Tensor FromInt32s(const Proto& proto, const std::vector<int64_t>& dims, int64_t count) {
  const auto& list = proto.int32_data();
  const auto bits = [](int32_t x) { return static_cast<uint16_t>(x); };
  switch (proto.data_type()) {
    case Proto::UINT8:
      return FromList<uint8_t>(list, dims, count);
    case Proto::INT8:
      return FromList<int8_t>(list, dims, count);
    case Proto::UINT16:
      return FromList<uint16_t>(list, dims, count);
    case Proto::INT16:
      return FromList<int16_t>(list, dims, count);
    case Proto::BOOL:
      return FromList<bool>(list, dims, count, [](int32_t x) { return x != 0; });
    case Proto::FLOAT16:
      return FromList<float>(list, dims, count, [&](int32_t x) { return FloatOfHalf(bits(x)); });
    case Proto::BFLOAT16:
      return FromList<float>(list, dims, count, [&](int32_t x) { return FloatOfBfloat(bits(x)); });
    default:
      return FromList<int32_t>(list, dims, count);
  }
}

Tensor FromTyped(const Proto& proto, const std::vector<int64_t>& dims, int64_t count) {
  switch (proto.data_type()) {
    case Proto::FLOAT:
      return FromList<float>(proto.float_data(), dims, count);
    case Proto::DOUBLE:
      return FromList<double>(proto.double_data(), dims, count);
    case Proto::INT64:
      return FromList<int64_t>(proto.int64_data(), dims, count);
    case Proto::UINT32:
      return FromList<uint32_t>(proto.uint64_data(), dims, count);
    case Proto::UINT64:
      return FromList<uint64_t>(proto.uint64_data(), dims, count);
    case Proto::STRING:
      return FromList<std::string>(proto.string_data(), dims, count);
    case Proto::UINT8:
    case Proto::INT8:
    case Proto::UINT16:
    case Proto::INT16:
    case Proto::INT32:
    case Proto::BOOL:
    case Proto::FLOAT16:
    case Proto::BFLOAT16:
      return FromInt32s(proto, dims, count);
    default:
      break;
  }
  // Each of int32_data is a byte.
  const std::string bytes(proto.int32_data().begin(), proto.int32_data().end());
  const Source source = {.bytes = bytes, .size = static_cast<int64_t>(bytes.size())};
  return ReadRaw(source, proto.data_type(), dims, count);
}

int TypedElements(const Proto& proto) {
  return proto.float_data_size() + proto.int32_data_size() + proto.int64_data_size() +
         proto.double_data_size() + proto.uint64_data_size() + proto.string_data_size();
}

void CheckOneSource(const Proto& proto) {
  const bool external = proto.data_location() == Proto::EXTERNAL;
  const int sources = static_cast<int>(external) + static_cast<int>(proto.has_span_offset()) +
                      static_cast<int>(!proto.raw_data().empty()) +
                      static_cast<int>(TypedElements(proto) > 0);
  CAFFE_ENFORCE_LE(sources, 1, "places with elements (raw_data, typed data, external data)");
  const int field = proto.span_field();
  const bool fits = field == 4    ? proto.data_type() == Proto::FLOAT
                    : field == 10 ? proto.data_type() == Proto::DOUBLE
                                  : true;
  CAFFE_ENFORCE(fits, "elements of type ", OnnxTypeName(proto.data_type()),
                " are in the field of another type");
}

Tensor ReadElements(const Proto& proto, const RandomAccessInput* input,
                    OnnxExternalData* external) {
  const int64_t count = OnnxElements(proto);
  const std::vector<int64_t> dims(proto.dims().begin(), proto.dims().end());
  CheckOneSource(proto);
  if (proto.data_location() == Proto::EXTERNAL) {
    CAFFE_ENFORCE(external != nullptr, "external data in a file with one tensor");
    const OnnxSpan span = external->Find(proto);
    const Source source = {.input = span.input.get(),
                           .offset = span.offset,
                           .size = span.size,
                           .open_end = span.open_end};
    return ReadRaw(source, proto.data_type(), dims, count);
  }
  if (proto.has_span_offset() && input != nullptr) {
    const Source source = {
        .input = input, .offset = proto.span_offset(), .size = proto.span_size()};
    return ReadRaw(source, proto.data_type(), dims, count);
  }
  if (TypedElements(proto) == 0 && proto.data_type() != Proto::STRING) {
    const std::string& raw = proto.raw_data();
    const Source source = {.bytes = raw, .size = static_cast<int64_t>(raw.size())};
    return ReadRaw(source, proto.data_type(), dims, count);
  }
  return FromTyped(proto, dims, count);
}

template <class T>
Tensor Narrowed(const Tensor& values) {
  Tensor narrow(values.dims(), CPU);
  std::copy(values.data<float>(), values.data<float>() + values.numel(), narrow.mutable_data<T>());
  return narrow;
}

}  // namespace

int64_t OnnxElements(const Proto& proto) {
  CAFFE_ENFORCE_LE(proto.dims_size(), kMaxAxes, "axes");
  std::vector<int64_t> dims;
  for (const int64_t dim : proto.dims()) {
    CAFFE_ENFORCE_GE(dim, 0, "dim");
    dims.push_back(dim);
  }
  return CheckedProduct(dims);
}

std::string OnnxTypeName(int type) {
  return Proto::DataType_IsValid(type) ? Proto::DataType_Name(static_cast<Proto::DataType>(type))
                                       : MakeString(type);
}

OnnxFile::OnnxFile(std::shared_ptr<const RandomAccessInput> input, std::string subject,
                   const std::string& path)
    : input_(std::move(input)), subject_(std::move(subject)), external_(path) {
  std::string reason;
  CAFFE_ENFORCE(ParseBinary(OnnxSkeleton(*input_, subject_), &model_, &reason), "cannot read \"",
                subject_, "\" as an ONNX model: ", reason);
  CAFFE_ENFORCE(model_.has_graph(), "file \"", subject_,
                "\" is not an ONNX model: it has no graph");
}

Tensor OnnxFile::ReadTensor(const Proto& proto) const try {
  return ReadElements(proto, input_.get(), &external_);
} catch (const OutOfMemory&) {
  throw;
} catch (const EnforceNotMet& error) {
  CAFFE_THROW("tensor \"", Shortened(proto.name()), "\": ", error.message());
}

Tensor OnnxTensorOf(const Proto& proto) try {
  Tensor values = ReadElements(proto, nullptr, nullptr);
  if (proto.data_type() == Proto::FLOAT16) return Narrowed<float16>(values);
  if (proto.data_type() == Proto::BFLOAT16) return Narrowed<bfloat16>(values);
  return values;
} catch (const OutOfMemory&) {
  throw;
} catch (const EnforceNotMet& error) {
  CAFFE_THROW("tensor \"", Shortened(proto.name()), "\": ", error.message());
}

}  // namespace caffe2rt
