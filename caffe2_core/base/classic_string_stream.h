#pragma once
// A string stream that does not depend on the process's locale.
//
//   ClassicStringStream out;
//   out << 1234.5;  // "1234.5", whatever std::locale::global was set to
//
// For values that only have an `operator<<`, and for messages that users stream. Other text is made
// with MakeString (enforce.h) or, in sources, with abseil's StrAppend and StrJoin.

#include <locale>
#include <sstream>

#pragma GCC visibility push(default)
namespace caffe2rt {

// Throws std::bad_alloc if memory is exhausted, where a plain stream would truncate the text.
class ClassicStringStream : public std::ostringstream {
 public:
  ClassicStringStream() {
    imbue(std::locale::classic());
    exceptions(std::ios_base::badbit);
  }
};

}  // namespace caffe2rt
#pragma GCC visibility pop
