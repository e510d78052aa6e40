#pragma once
// Numbers in the tables of `caffe2 inspect`, `caffe2 bench` and others.

#include <cstdint>
#include <string>

namespace caffe2rt {

// "640 B", "12.5 KiB", "97.5 MiB".
std::string BytesText(int64_t bytes);

// "9216", "12.3 k", "4.5 M", "12.5 G".
std::string ShortCount(int64_t count);

// A number in a table: "0.25", "NaN", "-Infinity".
std::string NumberText(double value);

// The same with 4 digits, for tables of many columns.
std::string ShortNumberText(double value);

}  // namespace caffe2rt
