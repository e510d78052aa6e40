#pragma once
// Runs an operator's own checks of its inputs on shapes and element types, without values.

#include <string>
#include <vector>

#include "caffe2rt/caffe2.pb.h"

#pragma GCC visibility push(default)
namespace caffe2rt {

// Returns the error that the operator throws for inputs of these shapes and types, or "" if it
// accepts them. The operator is created on the CPU and runs until it uses the first element of an
// input, so checks after that are not made. Returns "" for an operator that cannot be tried: one
// that is not built in, has an input whose shape or type is not known, contains nets, or has an
// effect other than its outputs. THROWS only if memory runs out.
std::string InputProblem(const OperatorDef& op, const std::vector<TensorShape>& inputs);

}  // namespace caffe2rt
#pragma GCC visibility pop
