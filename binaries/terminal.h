#pragma once
// The terminal that shows the standard output: its width and its colours.

#include <cstddef>
#include <string_view>

namespace caffe2rt {

// The width of the standard output's terminal in columns. If it is not a terminal, or does not
// state its width, the value of the environment variable COLUMNS if that is a number from 20 to
// 1000, or else 80.
size_t OutputWidth();

// Whether the standard output shows colours: it is a terminal, TERM is set and not "dumb", and
// NO_COLOR is unset or empty (https://no-color.org).
bool OutputHasColours();

// Prints `text`, which is one line, to the standard output. On a terminal, it is broken between
// words, and its further lines are indented by `indent` columns.
void PrintParagraph(std::string_view text, size_t indent);

enum class Style { kPlain, kBold, kDim, kRed, kYellow, kGreen };

// Prints to the standard output, in a style if it shows colours. Works with EscapedOutput: `text`
// is escaped, the sequences of the style are not.
void PrintStyled(Style style, std::string_view text);

}  // namespace caffe2rt
