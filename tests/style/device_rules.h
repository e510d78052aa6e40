#pragma once
// The core uses device descriptors, and names no device.

#include "tests/style/source_tree.h"

namespace caffe2rt::test {

// Finds words that contain "cuda", in any case, in caffe2_core except compat, and comparisons with
// the device type CUDA. The table in device_rules.cc allows some words (Caffe2's names of device
// types, operators and fields, and public names of this library), but no comparison. READMEs and
// comments are checked too.
Violations CheckCudaInCore(const std::vector<SourceFile>& files);

}  // namespace caffe2rt::test
