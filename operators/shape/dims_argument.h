#pragma once
// The argument `dims` of ExpandDims and Squeeze: places of dimensions, not negative.

#include <vector>

#include "caffe2_core/graph/arguments.h"

namespace caffe2rt {

// Sorted, each once. THROWS when there are none or one is negative.
std::vector<int> ReadDimsArgument(const ArgumentHelper& args);

}  // namespace caffe2rt
