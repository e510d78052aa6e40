#pragma once
// Numbers of bytes as text for messages that a person reads. Files and --json have exact numbers.

#include <cstdint>
#include <string>

#pragma GCC visibility push(default)
namespace caffe2rt {

// "1 byte", "500 bytes", "97.7 KiB", "40 GiB": in the largest binary unit that fits, with one
// decimal unless the number is exact. Does not depend on the locale.
std::string ByteSizeText(uint64_t bytes);

}  // namespace caffe2rt
#pragma GCC visibility pop
