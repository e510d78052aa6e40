#include "caffe2_core/base/text.h"

#include <algorithm>

namespace caffe2rt {
namespace {

std::string NumberText(double value, std::chars_format format, int digits) {
  // DBL_MAX has 309 digits before the decimal point.
  std::string text(static_cast<size_t>(350 + std::max(digits, 0)), '\0');
  const auto result = std::to_chars(text.data(), text.data() + text.size(), value, format, digits);
  text.resize(static_cast<size_t>(result.ptr - text.data()));
  return text;
}

}  // namespace

std::string FixedText(double value, int digits) {
  return NumberText(value, std::chars_format::fixed, digits);
}

std::string ShortText(double value) { return NumberText(value, std::chars_format::general, 6); }

std::string IntegerText(int64_t value) {
  char text[24];
  const auto result = std::to_chars(text, text + sizeof(text), value);
  return {text, result.ptr};
}

std::vector<std::string> SplitAt(std::string_view text, char separator) {
  std::vector<std::string> parts;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find(separator, begin), text.size());
    parts.emplace_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

char AsciiLower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }
char AsciiUpper(char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; }

std::string AsciiLower(std::string text) {
  for (char& c : text) c = AsciiLower(c);
  return text;
}

std::string AsciiUpper(std::string text) {
  for (char& c : text) c = AsciiUpper(c);
  return text;
}

bool IsAsciiSpace(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

bool IsAsciiWord(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

}  // namespace caffe2rt
