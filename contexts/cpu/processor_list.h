#pragma once
// The lists of processors and NUMA nodes that Linux writes: "0-3,8\n".

#include <string_view>
#include <utility>
#include <vector>

namespace caffe2rt {

// First and last of each range, up to what is no list.
std::vector<std::pair<int, int>> ParseProcessorList(std::string_view text);

}  // namespace caffe2rt
