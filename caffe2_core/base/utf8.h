#pragma once
// UTF-8. Names in files may contain any bytes; code that writes them to UTF-8 text or to a terminal
// uses these functions.

#include <cstddef>
#include <string>
#include <string_view>

#pragma GCC visibility push(default)
namespace caffe2rt {

// The length in bytes of the UTF-8 character that begins at `at`; 0 if it is not valid UTF-8 (RFC
// 3629: overlong encodings and UTF-16 surrogates are invalid). REQUIRES: at < text.size().
size_t Utf8CharacterSize(std::string_view text, size_t at);

// Returns `text`, shortened to at most `most` bytes and ending in "..." if it is longer. Does not
// split a UTF-8 character. Code that prints a name from a file once per finding shortens it, so
// that the size of the output stays proportional to the file. REQUIRES: most >= 3.
std::string Shortened(std::string_view text, size_t most = 200);

// Returns `text` with every byte that a terminal might act on replaced by \xNN: control characters
// (C0 except line feed and tab, DEL, and C1) and bytes that are not valid UTF-8.
std::string EscapeControls(std::string_view text);

// The same, with line feeds and tabs escaped too, for a name in a line or a table cell.
std::string OneLine(std::string_view text);

}  // namespace caffe2rt
#pragma GCC visibility pop
