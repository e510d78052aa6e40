#pragma once
// Which folders may include which. The table of layers lists the folders from the bottom up; a
// folder includes only folders listed before it.

#include "tests/style/source_tree.h"

namespace caffe2rt::test {

// Includes that break the order: "path:line includes X, layer A may not use B"; and files in folders
// that the table does not list.
Violations CheckLayers(const std::vector<SourceFile>& files);

// CUDA headers included outside the folders and files that may use them.
Violations CheckCudaHeaders(const std::vector<SourceFile>& files);

}  // namespace caffe2rt::test
