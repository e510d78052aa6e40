#include "caffe2_core/io/wire_format.h"

#include <algorithm>
#include <bitset>

namespace caffe2rt {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;

constexpr int kMaxFieldIndex = 128;  // more fields than any of Caffe2's messages has
constexpr int kMaxGroupNesting = 100;

WireType WireTypeOf(const FieldDescriptor& field) {
  switch (field.type()) {
    case FieldDescriptor::TYPE_DOUBLE:
    case FieldDescriptor::TYPE_FIXED64:
    case FieldDescriptor::TYPE_SFIXED64:
      return WireType::kFixed64;
    case FieldDescriptor::TYPE_FLOAT:
    case FieldDescriptor::TYPE_FIXED32:
    case FieldDescriptor::TYPE_SFIXED32:
      return WireType::kFixed32;
    case FieldDescriptor::TYPE_STRING:
    case FieldDescriptor::TYPE_BYTES:
    case FieldDescriptor::TYPE_MESSAGE:
    case FieldDescriptor::TYPE_GROUP:
      return WireType::kBytes;
    default:
      return WireType::kVarint;
  }
}

bool PackedFits(const WireMessage& payload, WireType element) {
  if (element == WireType::kFixed32) return payload.size % 4 == 0;
  if (element == WireType::kFixed64) return payload.size % 8 == 0;
  // The last byte of a varint has no continuation bit; a varint has at most ten bytes.
  int run = 0;
  for (const char c : payload.bytes) {
    run = (static_cast<unsigned char>(c) & 0x80) != 0 ? run + 1 : 0;
    if (run >= 10) return false;
  }
  return run == 0 || !payload.whole();
}

bool ValueFits(const WireField& got, const FieldDescriptor& field, UnknownFields unknown,
               int nesting_limit) {
  const WireType want = WireTypeOf(field);
  if (got.type != want) {
    return got.type == WireType::kBytes && field.is_packable() && PackedFits(got.payload, want);
  }
  switch (field.type()) {
    case FieldDescriptor::TYPE_MESSAGE:
      return FitsDescriptor(got.payload, *field.message_type(), unknown, nesting_limit - 1);
    case FieldDescriptor::TYPE_STRING:
      return IsPrintable(got.payload.bytes);
    case FieldDescriptor::TYPE_ENUM:
      return got.value <= 0x7fffffff &&
             field.enum_type()->FindValueByNumber(static_cast<int>(got.value)) != nullptr;
    case FieldDescriptor::TYPE_BOOL:
      return got.value <= 1;
    default:
      return true;
  }
}

}  // namespace

WireReader::Got WireReader::ReadVarint(uint64_t* value) {
  *value = 0;
  for (int i = 0; i < 10; ++i) {
    if (at_ == message_.bytes.size()) return message_.whole() ? Got::kBad : Got::kCut;
    const auto byte = static_cast<unsigned char>(message_.bytes[at_++]);
    *value |= static_cast<uint64_t>(byte & 0x7f) << (7 * i);
    if ((byte & 0x80) == 0) return Got::kValue;
  }
  return Got::kBad;
}

bool WireReader::Stop(Got got) {
  if (got == Got::kBad) ok_ = false;
  at_ = message_.bytes.size();
  return false;
}

bool WireReader::Next(WireField* field) {
  if (at_ >= message_.bytes.size() || !ReadField(kMaxGroupNesting, field)) return false;
  return field->type != WireType::kEndGroup || Stop(Got::kBad);
}

// Skips the fields up to the end of the group. Only unknown fields are groups: no known format
// declares one.
bool WireReader::SkipGroup(uint32_t number, int nesting_limit) {
  if (nesting_limit <= 0) return Stop(Got::kBad);
  WireField field;
  while (at_ < message_.bytes.size()) {
    if (!ReadField(nesting_limit - 1, &field)) return false;
    if (field.type == WireType::kEndGroup) return field.number == number || Stop(Got::kBad);
  }
  return Stop(message_.whole() ? Got::kBad : Got::kCut);
}

// Reads a field at a position inside the available bytes.
bool WireReader::ReadField(int nesting_limit, WireField* field) {
  uint64_t tag = 0;
  if (const Got got = ReadVarint(&tag); got != Got::kValue) return Stop(got);
  field->number = static_cast<uint32_t>(tag >> 3);
  field->type = static_cast<WireType>(tag & 7);
  if (tag >> 32 != 0 || field->number == 0) return Stop(Got::kBad);
  uint64_t length = 0;
  switch (field->type) {
    case WireType::kVarint:
      if (const Got got = ReadVarint(&field->value); got != Got::kValue) return Stop(got);
      return true;
    case WireType::kFixed64:
      length = 8;
      break;
    case WireType::kFixed32:
      length = 4;
      break;
    case WireType::kBytes:
      if (const Got got = ReadVarint(&length); got != Got::kValue) return Stop(got);
      break;
    case WireType::kGroup:
      field->payload = {};
      return SkipGroup(field->number, nesting_limit);
    case WireType::kEndGroup:
      return true;
    default:
      return Stop(Got::kBad);
  }
  if (length > static_cast<uint64_t>(message_.size) - at_) return Stop(Got::kBad);
  const size_t here = std::min<size_t>(length, message_.bytes.size() - at_);
  field->payload = {message_.bytes.substr(at_, here), static_cast<int64_t>(length)};
  at_ += here;
  return true;
}

bool FitsDescriptor(const WireMessage& message, const Descriptor& descriptor, UnknownFields unknown,
                    int nesting_limit) {
  if (nesting_limit <= 0) return true;
  std::bitset<kMaxFieldIndex> seen;
  WireReader reader(message);
  WireField got;
  while (reader.Next(&got)) {
    const FieldDescriptor* field = descriptor.FindFieldByNumber(static_cast<int>(got.number));
    if (field == nullptr) {
      if (unknown == UnknownFields::kNone) return false;
      continue;
    }
    if (!ValueFits(got, *field, unknown, nesting_limit)) return false;
    if (field->index() < kMaxFieldIndex) seen.set(static_cast<size_t>(field->index()));
  }
  if (!reader.ok()) return false;
  if (!message.whole()) return true;
  for (int i = 0; i < std::min(descriptor.field_count(), kMaxFieldIndex); ++i) {
    if (descriptor.field(i)->is_required() && !seen[static_cast<size_t>(i)]) return false;
  }
  return true;
}

bool IsPrintable(std::string_view bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](char c) {
    const auto u = static_cast<unsigned char>(c);
    return (u >= 0x20 && u != 0x7f) || (u >= '\t' && u <= '\r');
  });
}

}  // namespace caffe2rt
