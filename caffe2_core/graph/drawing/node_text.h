#pragma once
// The text in the nodes of a drawing.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "caffe2_core/base/text.h"
#include "caffe2_core/graph/net_drawing.h"

namespace caffe2rt {

// The outputs of an operator, with their shapes, as a few lines. `ops` are the operators that a node
// stands for: of those after the first, only the shapes are used. Where they differ, the first and
// the last value of a dimension are given.
std::vector<std::string> OutputLines(const NetSummary& summary, const std::vector<uint32_t>& ops);

// The first names as lines, and the number of the others.
std::vector<std::string> NameLines(const std::vector<std::string>& names);

}  // namespace caffe2rt
