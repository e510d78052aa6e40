#pragma once
#pragma GCC system_header
// Stands in for the header of another logging library, such as glog: the same macros, which count
// their calls. As a system header, it may define macros again.
#include <sstream>

namespace other_log {
inline int calls = 0;
struct Message : std::ostringstream {
  Message() { ++calls; }
};
}  // namespace other_log

#define LOG(severity) ::other_log::Message()
#define CHECK(condition) ::other_log::Message()
#define CHECK_EQ(a, b) CHECK((a) == (b))
#define DCHECK(condition) CHECK(condition)
#define DCHECK_LT(a, b) DCHECK((a) < (b))
