#include "caffe2_core/base/utf8.h"

#include <absl/strings/str_cat.h>

#include <algorithm>

namespace caffe2rt {

size_t Utf8CharacterSize(std::string_view text, size_t at) {
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
  if (lead == 0xE0 && byte(at + 1) < 0xA0) return 0;   // overlong encoding
  if (lead == 0xED && byte(at + 1) >= 0xA0) return 0;  // UTF-16 surrogate
  if (lead == 0xF0 && byte(at + 1) < 0x90) return 0;
  if (lead == 0xF4 && byte(at + 1) >= 0x90) return 0;
  return length;
}

std::string Shortened(std::string_view text, size_t most) {
  if (text.size() <= most) return std::string(text);
  size_t end = most - 3;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  return std::string(text.substr(0, end)) + "...";
}

namespace {

// Escapes control characters and invalid bytes, except the control characters in `layout`.
std::string Escaped(std::string_view text, std::string_view layout) {
  std::string out;
  out.reserve(text.size());
  for (size_t i = 0; i < text.size();) {
    const size_t size = Utf8CharacterSize(text, i);
    const auto c = static_cast<unsigned char>(text[i]);
    const bool c1 = size == 2 && c == 0xC2 && static_cast<unsigned char>(text[i + 1]) < 0xA0;
    const bool c0 = (c < 0x20 && layout.find(text[i]) == std::string_view::npos) || c == 0x7f;
    const size_t bytes = std::max<size_t>(size, 1);
    for (size_t k = i; k < i + bytes; ++k) {
      const auto byte = static_cast<unsigned char>(text[k]);
      if (size == 0 || c0 || c1) {
        absl::StrAppend(&out, "\\x", absl::Hex(byte, absl::kZeroPad2));
      } else {
        out += text[k];
      }
    }
    i += bytes;
  }
  return out;
}

}  // namespace

std::string EscapeControls(std::string_view text) { return Escaped(text, "\n\t"); }

std::string OneLine(std::string_view text) { return Escaped(text, ""); }

}  // namespace caffe2rt
