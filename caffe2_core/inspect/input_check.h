#pragma once
// Runs an operator's own checks of its inputs on shapes, element types and those values that are
// known.

#include <string>
#include <vector>

#include "caffe2_core/tensor/tensor.h"
#include "caffe2rt/caffe2.pb.h"

#pragma GCC visibility push(default)
namespace caffe2rt {

// Returns the error that the operator throws for inputs of these shapes and types, or "" if it
// accepts them. values[i] is input i, on the CPU and of the same shape and type, or null if its
// values are not known; without `values`, none are. The operator is created on the CPU and runs until
// it uses an element that is not known, so checks after that are not made. One that knows all its
// inputs runs to the end if its outputs are small.
//
// Returns "" for an operator that cannot be tried: one that is not built in, has an input whose shape
// or type is not known, contains nets, or has an effect other than its outputs. THROWS only if memory
// runs out.
std::string InputProblem(const OperatorDef& op, const std::vector<TensorShape>& inputs,
                         const std::vector<const Tensor*>& values = {});

}  // namespace caffe2rt
#pragma GCC visibility pop
