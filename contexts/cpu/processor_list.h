#pragma once
// Linux's lists of processors and NUMA nodes, such as "0-3,8\n".

#include <string_view>
#include <utility>
#include <vector>

namespace caffe2rt {

// Returns the first and last number of each range. Stops at the first invalid character.
std::vector<std::pair<int, int>> ParseProcessorList(std::string_view text);

}  // namespace caffe2rt
