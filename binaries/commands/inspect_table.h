#pragma once
// Tables and numbers in the output of `caffe2 inspect`.

#include <cstdint>
#include <string>
#include <vector>

namespace caffe2rt {

// "640 B", "12.5 KiB", "97.5 MiB".
std::string BytesText(int64_t bytes);

// Prints a table. Columns are padded to their widest cell; those in `to_the_right` are
// right-aligned.
void PrintTable(const std::vector<std::vector<std::string>>& rows,
                const std::vector<bool>& to_the_right);

}  // namespace caffe2rt
