#pragma once
// Tables and numbers in the output of `caffe2 inspect` and `caffe2 bench`.

#include <cstdint>
#include <string>
#include <vector>

namespace caffe2rt {

// "640 B", "12.5 KiB", "97.5 MiB".
std::string BytesText(int64_t bytes);

// "9216", "12.3 k", "4.5 M", "12.5 G".
std::string ShortCount(int64_t count);

// A number in a table: "0.25", "NaN", "-Infinity".
std::string NumberText(double value);

// Prints a table (binaries/table.h) whose first row has the titles. The columns in `to_the_right` are
// numbers.
void PrintTable(const std::vector<std::vector<std::string>>& rows,
                const std::vector<bool>& to_the_right);

}  // namespace caffe2rt
