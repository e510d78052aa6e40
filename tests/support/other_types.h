#pragma once
// Runs an operator on the same numbers in other element types, so that a test of floats tests the doubles, too, and one
// of int32 the int64.

#include <map>
#include <string>

#include "caffe2_core/runtime/workspace.h"
#include "caffe2_core/tensor/tensor.h"

namespace caffe2rt::test {

// Runs `def` with all floats of its inputs as doubles, then with all of its integers of 4 bytes as those of 8 bytes and
// the reverse, and expects the numbers in `outputs`, which are those of the run on the inputs in `ws`. Nothing is
// expected where the operator rejects the types, and of numbers that are large, infinite or NaN.
// REQUIRES: the inputs are plain tensors on the CPU, and none of them is an output.
void ExpectSameInOtherTypes(const Workspace& ws, const OperatorDef& def,
                            const std::map<std::string, Tensor>& outputs);

}  // namespace caffe2rt::test
