#pragma once
// Reads Caffe's text files (prototxt): protobuf's text format, of which the field names need not be
// known.
//
// What is accepted beyond `name: value` and `name { ... }`: `<` and `>` for braces, a colon in front
// of a message, `,` and `;` after a field, lists in brackets, both quotes, several strings in a row,
// `#` comments, Windows line ends, a byte order mark, bytes in Latin-1, extension names in brackets.

#include <string>
#include <string_view>

#include "caffe2_core/import/caffe/message_tree.h"

namespace caffe2rt {

// Takes time and memory in proportion to the text. THROWS an error with line and column if it is not
// in text format, is nested more than 64 levels deep or larger than 256 MiB.
CaffeMessage ParseCaffeText(std::string_view text, const std::string& subject);

}  // namespace caffe2rt
