#pragma once
// Writes protobuf's wire format by hand: NetDefs in encodings that protobuf's own writer never
// chooses, for tests of readers.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "caffe2rt/caffe2.pb.h"
#include "tests/fuzz/random.h"

namespace caffe2rt::test {

inline void AppendVarint(uint64_t value, std::string* bytes, int padding = 0) {
  for (; value > 127 || padding-- > 0; value >>= 7) {
    bytes->push_back(static_cast<char>((value & 127) | 128));
  }
  bytes->push_back(static_cast<char>(value));
}

inline void AppendTag(int field, int wire_type, std::string* bytes, int padding = 0) {
  AppendVarint(static_cast<uint64_t>(field) << 3 | static_cast<uint64_t>(wire_type), bytes,
               padding);
}

inline void AppendBytes(int field, std::string_view content, std::string* bytes, int padding = 0) {
  AppendTag(field, 2, bytes);
  AppendVarint(content.size(), bytes, padding);
  bytes->append(content);
}

inline void AppendFloat(float value, std::string* bytes) {
  char raw[sizeof(value)];
  __builtin_memcpy(raw, &value, sizeof(value));
  bytes->append(raw, sizeof(raw));
}

// How the elements of a list are encoded.
enum class ListForm { kUnpacked, kPacked, kTwoRuns, kMixed };

// The fields of Argument `values` with these floats (field 5).
std::string FloatsArgument(const std::vector<float>& values, ListForm form);
// The same with integers (field 6).
std::string IntsArgument(const std::vector<int64_t>& values, ListForm form);

// Encodes the net with random choices among all encodings that mean the same: the order of fields,
// packed lists, padded varints, repeated singular fields, and unknown fields and groups. One time
// in two, the encoding is the canonical one except for the forms of lists.
std::string EncodeNet(const NetDef& net, Random* random);

}  // namespace caffe2rt::test
