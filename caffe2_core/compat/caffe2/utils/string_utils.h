#pragma once
// String functions.
#include <algorithm>
#include <string>
#include <vector>

#include "caffe2/core/common.h"
#include "caffe2_core/base/suggest.h"

namespace caffe2 {

inline std::vector<std::string> split(char separator, const std::string& text,
                                      bool ignore_empty = false) {
  std::vector<std::string> pieces;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(separator, begin), text.size());
    if (end > begin || !ignore_empty) pieces.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  if (text.empty()) pieces.clear();
  return pieces;
}
inline std::string trim(const std::string& text) {
  const size_t begin = text.find_first_not_of(" \t\n\r");
  return begin == std::string::npos
             ? std::string()
             : text.substr(begin, text.find_last_not_of(" \t\n\r") - begin + 1);
}
inline size_t editDistance(const std::string& a, const std::string& b, size_t max_distance = 0) {
  const size_t limit = max_distance > 0 ? max_distance : std::max(a.size(), b.size());
  return static_cast<size_t>(::caffe2rt::EditDistance(a, b, static_cast<int>(limit)));
}
inline bool StartsWith(const std::string& text, const std::string& prefix) {
  return text.starts_with(prefix);
}
inline bool EndsWith(const std::string& text, const std::string& suffix) {
  return text.ends_with(suffix);
}

}  // namespace caffe2
