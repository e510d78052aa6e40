#pragma once
// The core knows devices by their descriptors, and none by name.

#include "tests/style/source_tree.h"

namespace caffe2rt::test {

// No word with "cuda" in it, in whatever case, in caffe2_core outside of compat, but for those that
// the table in device_rules.cc allows (Caffe2's names of numbers, operators and fields; public
// names of this library), and no comparison with the device type CUDA at all. READMEs and comments
// count.
Violations CheckCudaInCore(const std::vector<SourceFile>& files);

}  // namespace caffe2rt::test
