#pragma once
// Text that does not depend on the process's locale: neither on std::locale::global, which groups
// the digits of streams, nor on setlocale, which changes the decimal point of printf and strtod and
// the letters of toupper. Whatever is written to a file or read from one goes through here, through
// ClassicStringStream and MakeString (enforce.h), or through std::to_chars and std::from_chars.
//
//   FixedText(1234.56, 1)                        // "1234.6"
//   double ms; if (!ParseNumber("0.25", &ms)) ...

#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace caffe2rt {

// As printf's "%.<digits>f" and "%g" in the C locale.
std::string FixedText(double value, int digits);
std::string ShortText(double value);

std::string IntegerText(int64_t value);

// False, and *value is unchanged, when the whole text is not a number that fits.
template <class T>
bool ParseNumber(std::string_view text, T* value) {
  T parsed{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), parsed);
  if (error != std::errc() || end != text.data() + text.size()) return false;
  *value = parsed;
  return true;
}

// The parts between separators. A separator at the end begins no part: "a\nb\n" has two lines.
std::vector<std::string> SplitAt(std::string_view text, char separator);

// Of ASCII; other bytes stay.
char AsciiLower(char c);
char AsciiUpper(char c);
std::string AsciiLower(std::string text);
std::string AsciiUpper(std::string text);
// Blank, tab, line feed, vertical tab, form feed, carriage return.
bool IsAsciiSpace(char c);
// Letter, digit or underscore.
bool IsAsciiWord(char c);

}  // namespace caffe2rt
