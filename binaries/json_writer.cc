#include "binaries/json_writer.h"

#include <charconv>
#include <cmath>
#include <cstdio>

namespace caffe2rt {
namespace {

// Bytes of the UTF-8 character at `at`, 0 when there is none.
size_t CharacterLength(std::string_view text, size_t at) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(at);
  const size_t length = lead < 0x80   ? 1
                        : lead < 0xC2 ? 0
                        : lead < 0xE0 ? 2
                        : lead < 0xF0 ? 3
                        : lead < 0xF5 ? 4
                                      : 0;
  if (length == 0 || at + length > text.size()) return 0;
  for (size_t i = 1; i < length; ++i) {
    if ((byte(at + i) & 0xC0) != 0x80) return 0;
  }
  if (lead == 0xE0 && byte(at + 1) < 0xA0) return 0;   // too long a form
  if (lead == 0xED && byte(at + 1) >= 0xA0) return 0;  // half of a UTF-16 pair
  if (lead == 0xF0 && byte(at + 1) < 0x90) return 0;
  if (lead == 0xF4 && byte(at + 1) >= 0x90) return 0;
  return length;
}

template <class T>
std::string NumberText(T value) {
  char buffer[64];
  const auto result = std::to_chars(buffer, buffer + sizeof(buffer), value);
  return std::string(buffer, result.ptr);
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
    const size_t length = CharacterLength(text, i);
    const char c = text[i];
    if (length == 0) {
      text_ += "\\ufffd";
    } else if (c == '"' || c == '\\') {
      text_ += {'\\', c};
    } else if (c == '\n') {
      text_ += "\\n";
    } else if (length == 1 && (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)) {
      char buffer[8];
      std::snprintf(buffer, sizeof(buffer), "\\u%04x", static_cast<unsigned>(c));
      text_ += buffer;
    } else {
      text_.append(text, i, length);
    }
    i += length == 0 ? 1 : length;
  }
  text_ += '"';
}

}  // namespace caffe2rt
