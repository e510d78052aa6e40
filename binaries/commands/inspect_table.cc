#include "binaries/commands/inspect_table.h"

#include <absl/strings/ascii.h>
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <iostream>

#include "caffe2_core/base/text.h"

namespace caffe2rt {

std::string BytesText(int64_t bytes) {
  const auto number = static_cast<double>(bytes);
  if (bytes < 1024) return absl::StrCat(bytes, " B");
  if (bytes < (1 << 20)) return FixedText(number / 1024, 1) + " KiB";
  return FixedText(number / (1 << 20), 1) + " MiB";
}

void PrintTable(const std::vector<std::vector<std::string>>& rows,
                const std::vector<bool>& to_the_right) {
  constexpr size_t kMostWidth = 56;
  std::vector<size_t> width(to_the_right.size(), 0);
  for (const auto& row : rows) {
    for (size_t i = 0; i < row.size(); ++i)
      width[i] = std::max(width[i], std::min(row[i].size(), kMostWidth));
  }
  for (const auto& row : rows) {
    std::string text = " ";
    for (size_t i = 0; i < row.size(); ++i) {
      const std::string padding(std::max(width[i], row[i].size()) - row[i].size(), ' ');
      text += " " + (to_the_right[i] ? padding + row[i] : row[i] + padding) + " ";
    }
    absl::StripTrailingAsciiWhitespace(&text);
    std::cout << text << "\n";
  }
}

}  // namespace caffe2rt
