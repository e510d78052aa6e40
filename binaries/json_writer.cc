#include "binaries/json_writer.h"

#include <charconv>
#include <climits>
#include <cmath>

#include "caffe2_core/base/utf8.h"

namespace caffe2rt {
namespace {

template <class T>
std::string NumberText(T value) {
  char buffer[64];
  const auto result = std::to_chars(buffer, buffer + sizeof(buffer), value);
  return std::string(buffer, result.ptr);
}

// The control character (C0, DEL or C1) in the `length` bytes at `at`, or UINT_MAX for any other
// character.
unsigned ControlAt(std::string_view text, size_t at, size_t length) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  if (length == 1 && (byte(at) < 0x20 || byte(at) == 0x7f)) return byte(at);
  if (length == 2 && byte(at) == 0xC2 && byte(at + 1) < 0xA0) return byte(at + 1);
  return UINT_MAX;
}

}  // namespace

void JsonWriter::Separate() {
  if (after_key_) {
    after_key_ = false;
  } else if (!first_) {
    text_ += ", ";
  }
  first_ = false;
}

JsonWriter& JsonWriter::Open(char bracket) {
  Separate();
  text_ += bracket;
  first_ = true;
  return *this;
}

JsonWriter& JsonWriter::Close(char bracket) {
  text_ += bracket;
  first_ = false;
  return *this;
}

JsonWriter& JsonWriter::Key(std::string_view key) {
  Separate();
  AppendEscaped(key);
  text_ += ": ";
  after_key_ = true;
  return *this;
}

JsonWriter& JsonWriter::Value(std::string_view text) {
  Separate();
  AppendEscaped(text);
  return *this;
}
JsonWriter& JsonWriter::Value(bool value) {
  Separate();
  text_ += value ? "true" : "false";
  return *this;
}
JsonWriter& JsonWriter::Value(double value) {
  Separate();
  text_ += std::isfinite(value) ? NumberText(value) : "null";
  return *this;
}
JsonWriter& JsonWriter::Value(float value) {
  Separate();
  text_ += std::isfinite(value) ? NumberText(value) : "null";
  return *this;
}
JsonWriter& JsonWriter::Value(int64_t value) {
  Separate();
  text_ += NumberText(value);
  return *this;
}
JsonWriter& JsonWriter::Value(uint64_t value) {
  Separate();
  text_ += NumberText(value);
  return *this;
}

void JsonWriter::AppendEscaped(std::string_view text) {
  text_ += '"';
  for (size_t i = 0; i < text.size();) {
    const size_t length = Utf8CharacterSize(text, i);
    const char c = text[i];
    if (length == 0) {
      text_ += "\\ufffd";
    } else if (c == '"' || c == '\\') {
      text_ += {'\\', c};
    } else if (c == '\n') {
      text_ += "\\n";
    } else if (const unsigned control = ControlAt(text, i, length); control <= 0x9f) {
      constexpr char kDigits[] = "0123456789abcdef";
      text_ += {'\\', 'u', '0', '0', kDigits[control >> 4], kDigits[control & 15]};
    } else {
      text_.append(text, i, length);
    }
    i += length == 0 ? 1 : length;
  }
  text_ += '"';
}

}  // namespace caffe2rt
