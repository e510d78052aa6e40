#pragma once
// c10::string_view is std::string_view.
#include <string_view>

namespace c10 {
using std::string_view;
}  // namespace c10
