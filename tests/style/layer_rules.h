#pragma once
// Which folder may include which: a folder includes only folders above it in the table of layers.

#include "tests/style/source_tree.h"

namespace caffe2rt::test {

// "path:line includes X, layer A may not use B".
Violations CheckLayers(const std::vector<SourceFile>& files);

// CUDA's headers, outside of the places that may have them.
Violations CheckCudaHeaders(const std::vector<SourceFile>& files);

}  // namespace caffe2rt::test
