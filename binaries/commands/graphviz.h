#pragma once
// Runs the program `dot` of Graphviz.

#include <chrono>
#include <cstddef>
#include <string>

namespace caffe2rt {

struct DotLimits {
  std::chrono::milliseconds time{30000};
  size_t output_bytes = size_t{256} << 20;
  size_t memory_bytes = size_t{4} << 30;  // of address space
};

// What `dot -Tplain` prints for `request`. The program is looked up in PATH and started without a
// shell; it reads nothing but the request. If it fails, returns "" and a reason, such as "dot of
// Graphviz is not installed".
struct DotAnswer {
  std::string plain;
  std::string problem;
};
DotAnswer RunDot(const std::string& request, const DotLimits& limits);

}  // namespace caffe2rt
