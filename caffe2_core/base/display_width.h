#pragma once
// The width of text on a terminal. A terminal shows East-Asian wide characters and most emoji in two
// columns and combining characters in none. The widths are those of Unicode 14 and do not depend on
// the process's locale, unlike those of wcwidth.
//
//   DisplayWidth("caf\u00e9");                     // 4
//   DisplayWidth("\u6f22\u5b57");                  // 4: two characters of two columns
//   ShortenedInMiddle("conv4_3_norm_mbox", 9);     // "conv…mbox"

#include <cstddef>
#include <string>
#include <string_view>

#pragma GCC visibility push(default)
namespace caffe2rt {

// The number of columns of one line of UTF-8 text without control characters (OneLine in utf8.h
// escapes them). A byte that is not valid UTF-8 counts as one column.
size_t DisplayWidth(std::string_view text);

// Returns `text`, or its beginning and its end with an ellipsis between them if it is wider than
// `most` columns. Splits neither characters nor a character and its combining characters. The result
// has at most `most` columns. REQUIRES: most >= 1.
std::string ShortenedInMiddle(std::string_view text, size_t most);

}  // namespace caffe2rt
#pragma GCC visibility pop
