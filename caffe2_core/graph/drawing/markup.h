#pragma once
// Text of nets in DOT, XML and JSON documents. Names in nets may contain any bytes: control
// characters and bytes that are not UTF-8 become '?' everywhere.

#include <string>
#include <string_view>

namespace caffe2rt {

// Without control characters (C0, DEL, C1) and bytes that are not UTF-8.
std::string Printable(std::string_view text);

// For a double-quoted string of DOT.
std::string EscapeDot(std::string_view text);

// For text and double-quoted attributes of XML and HTML.
std::string EscapeXml(std::string_view text);

// A JSON string with its quotes. It may stand in a script element of HTML: <, > and & are escaped.
std::string JsonString(std::string_view text);

// The width in px of a line of text in the widest of the common sans-serif fonts.
double TextWidth(std::string_view text, double font_px, bool bold);

// `text`, shortened and ending in an ellipsis if it is wider than `most_px`.
std::string FittedText(const std::string& text, double font_px, bool bold, double most_px);

}  // namespace caffe2rt
