#pragma once
// A libFuzzer target: one source that defines the kind of its inputs, and the entry points in
// target.cc, which process an input of that kind and damage it with knowledge of its format.

#include <string>

#include "caffe2_core/io/file_kind.h"

namespace caffe2rt::test {

// Defined by each target.
FileKind KindOfInput(const std::string& bytes);

}  // namespace caffe2rt::test
