#pragma once
// Names in files may hold any bytes; what writes text of a fixed encoding asks here.

#include <cstddef>
#include <string>
#include <string_view>

namespace caffe2rt {

// Bytes of the UTF-8 character at `at`, 0 when there is none (RFC 3629: no form that is too long,
// no half of a UTF-16 pair). REQUIRES: at < text.size().
size_t Utf8CharacterSize(std::string_view text, size_t at);

// `text`, or its beginning and "..." when it has more than `most` bytes. Does not cut a UTF-8
// character. What repeats a name of a file for each of its findings shortens it: the output stays
// in proportion to the file. REQUIRES: most >= 3.
std::string Shortened(std::string_view text, size_t most = 200);

// `text` with what a terminal would act on shown as \xNN, byte by byte: control characters (C0
// except line feed and tab, DEL, C1 as UTF-8 or as bare bytes) and bytes that are no UTF-8.
std::string EscapeControls(std::string_view text);

// The same with line feeds and tabs escaped too: a name in a line or a table cell.
std::string OneLine(std::string_view text);

}  // namespace caffe2rt
