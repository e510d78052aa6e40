#include "caffe2_core/graph/drawing/markup.h"

#include <absl/strings/str_replace.h>

#include <algorithm>

#include "caffe2_core/base/utf8.h"

namespace caffe2rt {
namespace {

constexpr std::string_view kCutMark = "\xE2\x80\xA6";

// Widths of characters in DejaVu Sans, which are larger than those of Arial, Helvetica and Verdana,
// in units of the font size. An ASCII character that is not listed is 0.64 wide, any other 1.0.
double WidthOf(char c, bool bold) {
  const std::string_view narrow = "ijlI|.,:;'!()[] ", wide = "mwMWGOQ@%+=<>#~";
  const double factor = bold ? 1.12 : 1.0;
  if (narrow.find(c) != std::string_view::npos) return 0.40 * factor;
  if (wide.find(c) != std::string_view::npos) return 0.97 * factor;
  if (c >= 'A' && c <= 'Z') return 0.75 * factor;
  return 0.64 * factor;
}

}  // namespace

std::string Printable(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size();) {
    const size_t size = Utf8CharacterSize(text, i);
    const unsigned char c = static_cast<unsigned char>(text[i]);
    const bool c1 =
        size == 2 && c == 0xC2 && static_cast<unsigned char>(text[i + 1]) < 0xA0;  // U+0080-U+009F
    if (size == 0 || c < 0x20 || c == 0x7f || c1) {
      out += '?';
    } else {
      out.append(text, i, size);
    }
    i += std::max<size_t>(size, 1);
  }
  return out;
}

std::string EscapeDot(std::string_view text) {
  return absl::StrReplaceAll(Printable(text), {{"\"", "\\\""}, {"\\", "\\\\"}});
}

std::string EscapeXml(std::string_view text) {
  // U+FFFE and U+FFFF are UTF-8, but not allowed in XML.
  return absl::StrReplaceAll(Printable(text), {{"<", "&lt;"},
                                               {">", "&gt;"},
                                               {"&", "&amp;"},
                                               {"\"", "&quot;"},
                                               {"\xEF\xBF\xBE", "?"},
                                               {"\xEF\xBF\xBF", "?"}});
}

std::string JsonString(std::string_view text) {
  return "\"" +
         absl::StrReplaceAll(Printable(text), {{"\"", "\\\""},
                                               {"\\", "\\\\"},
                                               {"<", "\\u003c"},
                                               {">", "\\u003e"},
                                               {"&", "\\u0026"},
                                               {"\xE2\x80\xA8", "\\u2028"},
                                               {"\xE2\x80\xA9", "\\u2029"}}) +
         "\"";
}

double TextWidth(std::string_view text, double font_px, bool bold) {
  double width = 0;
  for (size_t i = 0; i < text.size();) {
    const size_t size = std::max<size_t>(Utf8CharacterSize(text, i), 1);
    width += size == 1 ? WidthOf(text[i], bold) : 1.0;
    i += size;
  }
  return width * font_px;
}

std::string FittedText(const std::string& text, double font_px, bool bold, double most_px) {
  if (TextWidth(text, font_px, bold) <= most_px) return text;
  double width = font_px;  // of the ellipsis
  size_t end = 0;
  while (end < text.size()) {
    const size_t size = std::max<size_t>(Utf8CharacterSize(text, end), 1);
    width += TextWidth(std::string_view(text).substr(end, size), font_px, bold);
    if (width > most_px) break;
    end += size;
  }
  std::string_view shown = std::string_view(text).substr(0, end);
  while (shown.ends_with(kCutMark)) shown.remove_suffix(kCutMark.size());
  return std::string(shown).append(kCutMark);
}

}  // namespace caffe2rt
