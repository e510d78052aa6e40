#pragma once
// Fields in protobuf's wire format.

#include <cstdint>
#include <cstring>
#include <string>

namespace caffe2rt::test {

inline std::string Varint(uint64_t value) {
  std::string bytes;
  for (; value > 127; value >>= 7) bytes.push_back(static_cast<char>((value & 127) | 128));
  bytes.push_back(static_cast<char>(value));
  return bytes;
}
inline std::string Tag(int field, int wire_type) {
  return Varint(static_cast<uint64_t>(field) << 3 | static_cast<uint64_t>(wire_type));
}
inline std::string Number(int field, uint64_t value) { return Tag(field, 0) + Varint(value); }
inline std::string Bytes(int field, const std::string& value) {
  return Tag(field, 2) + Varint(value.size()) + value;
}
// The bytes of a number.
template <class T>
std::string Raw(T value) {
  std::string bytes(sizeof(T), '\0');
  std::memcpy(bytes.data(), &value, sizeof(T));
  return bytes;
}
inline std::string Float(int field, float value) { return Tag(field, 5) + Raw(value); }

}  // namespace caffe2rt::test
