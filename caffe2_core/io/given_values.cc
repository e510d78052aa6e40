#include "caffe2_core/io/given_values.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <span>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/overwritten_memory.h"
#include "caffe2_core/io/net_weights.h"
#include "caffe2_core/io/random_access_input.h"

namespace caffe2rt {
namespace {

// Fields of Argument, and wire types.
enum Field { kString = 4, kFloats = 5, kInts = 6, kStrings = 7 };
constexpr int kVarint = 0, kBytes = 2, kFixed32 = 5;

constexpr int64_t kTaggedFloat = 1 + sizeof(float);
constexpr size_t kMaxVarint = 10;

struct Row {
  const char* type;
  Field field;
  TypeMeta elements;
};

// For each type of elements the usual operator comes first.
std::span<const Row> Rows() {
  static const Row rows[] = {
      {"GivenTensorFill", kFloats, TypeMeta::Make<float>()},
      {"GivenTensorDoubleFill", kFloats, TypeMeta::Make<double>()},
      {"GivenTensorBoolFill", kInts, TypeMeta::Make<bool>()},
      {"GivenTensorIntFill", kInts, TypeMeta::Make<int32_t>()},
      {"GivenTensorInt16Fill", kInts, TypeMeta::Make<int16_t>()},
      {"GivenTensorInt64Fill", kInts, TypeMeta::Make<int64_t>()},
      {"GivenTensorByteStringToUInt8Fill", kStrings, TypeMeta::Make<uint8_t>()},
      {"Int8GivenTensorFill", kString, TypeMeta::Make<uint8_t>()},
      {"Int8GivenIntTensorFill", kInts, TypeMeta::Make<int32_t>()},
  };
  return rows;
}

const Row* FindRow(const std::string& type) {
  for (const Row& row : Rows()) {
    if (type == row.type) return &row;
  }
  return nullptr;
}

// Memory that the caller writes completely, or frees again.
template <class T>
T* NewElements(int64_t count, Tensor* values) {
  const TransientWrites scope;
  const OverwrittenMemory memory;
  *values = Tensor(CPU);
  values->Resize(count);
  return values->mutable_data<T>();
}

// --- floats ---

// Copies the floats of `count` tagged elements. Returns false if a tag is not that of an unpacked
// float.
bool CopyTaggedFloats(const char* from, size_t count, float* to) {
  constexpr unsigned char kTag = kFloats << 3 | kFixed32;
  unsigned char wrong = 0;
  for (size_t i = 0; i < count; ++i, from += kTaggedFloat) {
    wrong |= static_cast<unsigned char>(from[0]) ^ kTag;
    std::memcpy(to + i, from + 1, sizeof(float));
  }
  return wrong == 0;
}

bool DecodeUnpackedFloats(int64_t end, WireCursor* at, Tensor* values) {
  const int64_t bytes = end - at->at();
  if (bytes % kTaggedFloat != 0) return false;
  auto left = static_cast<size_t>(bytes / kTaggedFloat);
  float* to = NewElements<float>(static_cast<int64_t>(left), values);
  while (left > 0) {
    const std::string_view view = at->Peek(kTaggedFloat);
    const size_t count = std::min(left, view.size() / kTaggedFloat);
    if (count == 0 || !CopyTaggedFloats(view.data(), count, to)) return false;
    at->Advance(count * kTaggedFloat);
    to += count;
    left -= count;
  }
  return true;
}

bool DecodePackedFloats(int64_t end, WireCursor* at, Tensor* values) {
  const int64_t bytes = end - at->at();
  if (bytes % static_cast<int64_t>(sizeof(float)) != 0) return false;
  const int64_t count = bytes / static_cast<int64_t>(sizeof(float));
  at->ReadInto(NewElements<float>(count, values), static_cast<size_t>(bytes));
  return true;
}

// The operator converts its floats to double. A signaling NaN would not survive the way back.
bool WidenFloats(Tensor* values) {
  const Tensor floats = std::move(*values);
  const float* from = floats.data<float>();
  double* to = NewElements<double>(floats.numel(), values);
  for (int64_t i = 0; i < floats.numel(); ++i) {
    if (std::isnan(from[i])) return false;
    to[i] = from[i];
  }
  return true;
}

// --- ints ---

// Reads varints, each behind the tag of an unpacked element if `tagged`, up to `end`, and passes
// them to `sink`. Returns false if the bytes are not such a list or `sink` returns false.
template <class Sink>
bool ForEachInt(bool tagged, int64_t end, WireCursor* at, Sink sink) {
  constexpr unsigned char kTag = kInts << 3 | kVarint;
  while (at->at() < end) {
    const std::string_view view = at->Peek(kMaxVarint + 1);
    const auto* bytes = reinterpret_cast<const unsigned char*>(view.data());
    const size_t size = std::min(view.size(), static_cast<size_t>(end - at->at()));
    size_t used = 0;
    while (used < size) {
      size_t next = used;
      if (tagged && bytes[next++] != kTag) return false;
      uint64_t value = 0;
      size_t length = 0;
      while (next + length < size && length < kMaxVarint) {
        const unsigned char byte = bytes[next + length];
        value |= static_cast<uint64_t>(byte & 0x7f) << (7 * length);
        ++length;
        if ((byte & 0x80) == 0) break;
      }
      const bool complete = length > 0 && (bytes[next + length - 1] & 0x80) == 0;
      if (!complete) break;  // the rest of it may be behind the view
      if (length == kMaxVarint && bytes[next + length - 1] != 1) return false;
      if (!sink(static_cast<int64_t>(value))) return false;
      used = next + length;
    }
    if (used == 0) return false;
    at->Advance(used);
  }
  return at->at() == end;
}

template <class T>
bool DecodeInts(bool tagged, int64_t end, WireCursor* at, Tensor* values) {
  const int64_t begin = at->at();
  int64_t count = 0;
  if (!ForEachInt(tagged, end, at, [&](int64_t) { return ++count > 0; })) return false;
  at->Seek(begin);
  T* to = NewElements<T>(count, values);
  T* const stop = to + count;  // the file may change after it was counted
  const bool valid = ForEachInt(tagged, end, at, [&](int64_t value) {
    if (to == stop) return false;
    if constexpr (std::is_same_v<T, bool>) {
      if (value != 0 && value != 1) return false;
    } else if (value < std::numeric_limits<T>::min() || value > std::numeric_limits<T>::max()) {
      return false;
    }
    *to++ = static_cast<T>(value);
    return true;
  });
  return valid && to == stop;
}

bool DecodeIntsAs(TypeMeta elements, bool tagged, int64_t end, WireCursor* at, Tensor* values) {
  if (elements.Match<bool>()) return DecodeInts<bool>(tagged, end, at, values);
  if (elements.Match<int16_t>()) return DecodeInts<int16_t>(tagged, end, at, values);
  if (elements.Match<int32_t>()) return DecodeInts<int32_t>(tagged, end, at, values);
  return DecodeInts<int64_t>(tagged, end, at, values);
}

template <class T>
void EncodeInts(const Tensor& values, Argument* argument) {
  const T* from = values.data<T>();
  argument->mutable_ints()->Reserve(static_cast<int>(values.numel()));
  for (int64_t i = 0; i < values.numel(); ++i) argument->add_ints(static_cast<int64_t>(from[i]));
}

template <class T>
void EncodeFloats(const Tensor& values, Argument* argument) {
  const T* from = values.data<T>();
  argument->mutable_floats()->Reserve(static_cast<int>(values.numel()));
  for (int64_t i = 0; i < values.numel(); ++i) argument->add_floats(static_cast<float>(from[i]));
}

bool DecodeBytes(int64_t end, WireCursor* at, Tensor* values) {
  const int64_t bytes = end - at->at();
  at->ReadInto(NewElements<uint8_t>(bytes, values), static_cast<size_t>(bytes));
  return true;
}

}  // namespace

bool DependsOnDtype(const std::string& type) { return type == "GivenTensorFill"; }

const char* GivenFillOf(TypeMeta elements) {
  for (const Row& row : Rows()) {
    if (elements == row.elements) return row.type;
  }
  return nullptr;
}

bool DecodeGivenValues(const std::string& type, int64_t end, WireCursor* at, Tensor* values) {
  const Row* row = FindRow(type);
  if (row == nullptr || at->at() >= end) return false;
  const int64_t begin = at->at();
  int field = 0, wire_type = 0;
  if (!at->ReadTag(&field, &wire_type) || field != row->field) return false;
  const bool run = wire_type == kBytes;  // packed, or a string
  if (run) {
    int64_t length = 0;
    if (!at->ReadLength(end, &length) || at->at() + length != end || length == 0) return false;
  } else {
    at->Seek(begin);
  }
  switch (row->field) {
    case kFloats:
      if (!(run ? DecodePackedFloats : DecodeUnpackedFloats)(end, at, values)) return false;
      return row->elements.Match<float>() || WidenFloats(values);
    case kInts:
      return DecodeIntsAs(row->elements, !run, end, at, values);
    default:
      return run && DecodeBytes(end, at, values);
  }
}

void EncodeGivenValues(const Tensor& values, const std::string& type, Argument* argument) {
  const Row* row = FindRow(type);
  CAFFE_ENFORCE(row != nullptr && values.dtype() == row->elements, "elements of type ",
                values.dtype().name(), " for an operator of type ", type);
  const std::string_view bytes(static_cast<const char*>(values.raw_data()), values.nbytes());
  if (row->field == kString) {
    argument->set_s(bytes.data(), bytes.size());
  } else if (row->field == kStrings) {
    argument->add_strings(bytes.data(), bytes.size());
  } else if (values.IsType<float>()) {
    EncodeFloats<float>(values, argument);
  } else if (values.IsType<double>()) {
    EncodeFloats<double>(values, argument);
  } else if (values.IsType<bool>()) {
    EncodeInts<bool>(values, argument);
  } else if (values.IsType<int16_t>()) {
    EncodeInts<int16_t>(values, argument);
  } else if (values.IsType<int32_t>()) {
    EncodeInts<int32_t>(values, argument);
  } else {
    EncodeInts<int64_t>(values, argument);
  }
}

}  // namespace caffe2rt
