#include "binaries/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <string>
#include <string_view>

#include "caffe2_core/base/display_width.h"
#include "caffe2_core/base/text.h"

namespace caffe2rt {
namespace {

std::string_view Environment(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

const char* SequenceOf(Style style) {
  switch (style) {
    case Style::kPlain:
      return "";
    case Style::kBold:
      return "\x1b[1m";
    case Style::kDim:
      return "\x1b[2m";
    case Style::kRed:
      return "\x1b[31m";
    case Style::kYellow:
      return "\x1b[33m";
    case Style::kGreen:
      return "\x1b[32m";
  }
  return "";
}

// std::cout would escape the sequence.
void WriteSequence(const char* sequence) {
  std::cout.flush();
  std::fputs(sequence, stdout);
}

}  // namespace

size_t OutputWidth() {
  constexpr size_t kDefault = 80, kLeast = 20, kMost = 1000;
  winsize size = {};
  if (isatty(STDOUT_FILENO) != 0 && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 &&
      size.ws_col > 0) {
    return size.ws_col;
  }
  size_t columns = 0;
  const bool given = ParseNumber(Environment("COLUMNS"), &columns);
  return given && columns >= kLeast && columns <= kMost ? columns : kDefault;
}

void PrintParagraph(std::string_view text, size_t indent) {
  if (isatty(STDOUT_FILENO) == 0) {
    std::cout << text << "\n";
    return;
  }
  const size_t width = OutputWidth();
  size_t column = 0;
  while (!text.empty()) {
    const size_t end =
        std::min(text.find(' ', 1), text.size());  // the word with the space before it
    std::string_view word = text.substr(0, end);
    text.remove_prefix(end);
    if (column > indent && column + DisplayWidth(word) > width) {
      std::cout << "\n" << std::string(indent, ' ');
      column = indent;
      if (word.starts_with(' ')) word.remove_prefix(1);
    }
    std::cout << word;
    column += DisplayWidth(word);
  }
  std::cout << "\n";
}

bool OutputHasColours() {
  const std::string_view terminal = Environment("TERM");
  return isatty(STDOUT_FILENO) != 0 && !terminal.empty() && terminal != "dumb" &&
         Environment("NO_COLOR").empty();
}

void PrintStyled(Style style, std::string_view text) {
  const bool styled = style != Style::kPlain && OutputHasColours();
  if (styled) WriteSequence(SequenceOf(style));
  std::cout << text;
  if (styled) WriteSequence("\x1b[0m");
}

}  // namespace caffe2rt
