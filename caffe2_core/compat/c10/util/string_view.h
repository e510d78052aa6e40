#pragma once
// c10::string_view is the standard's.
#include <string_view>

namespace c10 {
using std::string_view;
}  // namespace c10
