#pragma once
// Text of numbers that does not depend on the process's locale. std::locale::global changes how
// streams group digits; setlocale changes the decimal point of printf and strtod. All text that is
// written to a file or read from one uses these functions, MakeString (enforce.h), abseil's strings
// (in sources, not in headers), or std::to_chars and std::from_chars.
//
//   FixedText(1234.56, 1)                        // "1234.6"
//   CountText(files, "file")                     // "1 file", "2 files"
//   double ms; if (!ParseNumber("0.25", &ms)) ...

#include <charconv>
#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>

#pragma GCC visibility push(default)
namespace caffe2rt {

// The text that printf produces for "%.<digits>f" and for "%g" in the C locale.
std::string FixedText(double value, int digits);
std::string ShortText(double value);

// A number of things: "1 operator", "52 operators". `nouns` is what stands after other numbers than
// 1; if it is empty, `noun` with an s: CountText(n, "axis", "axes").
std::string CountText(int64_t count, std::string_view noun, std::string_view nouns = {});
template <std::unsigned_integral T>
std::string CountText(T count, std::string_view noun, std::string_view nouns = {}) {
  return CountText(static_cast<int64_t>(count), noun, nouns);
}

// Whether `c` is an ASCII letter, a digit or an underscore.
bool IsAsciiWord(char c);

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

}  // namespace caffe2rt
#pragma GCC visibility pop
