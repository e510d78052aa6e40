#pragma once
// Text functions that do not depend on the process's locale. std::locale::global changes how
// streams group digits; setlocale changes the decimal point of printf and strtod, and toupper. All
// text that is written to a file or read from one uses these functions, ClassicStringStream and
// MakeString (enforce.h), or std::to_chars and std::from_chars.
//
//   FixedText(1234.56, 1)                        // "1234.6"
//   double ms; if (!ParseNumber("0.25", &ms)) ...

#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace caffe2rt {

// The text that printf produces for "%.<digits>f" and for "%g" in the C locale.
std::string FixedText(double value, int digits);
std::string ShortText(double value);

std::string IntegerText(int64_t value);

// Parses the whole text as a number. Returns false, and leaves *value unchanged, if it is not a
// number or does not fit into T.
template <class T>
bool ParseNumber(std::string_view text, T* value) {
  T parsed{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), parsed);
  if (error != std::errc() || end != text.data() + text.size()) return false;
  *value = parsed;
  return true;
}

// The parts between separators. A final separator does not begin another part: "a\nb\n" has two
// parts.
std::vector<std::string> SplitAt(std::string_view text, char separator);

// Convert ASCII letters; other bytes are unchanged.
char AsciiLower(char c);
char AsciiUpper(char c);
std::string AsciiLower(std::string text);
std::string AsciiUpper(std::string text);
// Space, tab, line feed, vertical tab, form feed, carriage return.
bool IsAsciiSpace(char c);
// Letter, digit or underscore.
bool IsAsciiWord(char c);

}  // namespace caffe2rt
