#pragma once
// Faults of the original that follow from an operator's arguments and inputs, or from the operators
// of a net. Cases that were recorded with such a fault contain wrong values, whatever their id.

#include <string>

#include "caffe2rt/caffe2.pb.h"
#include "oracle.pb.h"

namespace caffe2rt::test {

// Returns what is wrong with the record of a case, or "".
std::string FaultOfRecord(const oracle::OperatorCase& recorded, const OperatorDef& def);

// What is wrong with the gradient operators that the original makes for an operator, or "".
std::string FaultOfGradient(const OperatorDef& def);

// The same for a backward pass that the original rejected, or in which it returns a wrong gradient.
// `net` is the net before the pass.
std::string FaultOfRecord(const oracle::NetGradientCase& recorded, const NetDef& net);

using OperatorDefs = google::protobuf::RepeatedPtrField<OperatorDef>;
// The gradient of Sqr is Scale dY -> dY, Mul dY X -> dX in the original, which changes the gradient
// of Y, and Mul dY X -> dX, Scale dX -> dX here. Gives it the original's form where `want` has it.
// Returns whether it did.
bool ScaleBeforeSqr(const OperatorDefs& want, OperatorDefs* got);

// Removes from the gradients of If what the original adds in vain: a ConstantFill in one branch
// with the shape of a blob that only the other branch writes. It fails if that branch has not run.
// Returns whether there were any. `net` is the net before the backward pass.
bool RemoveFillsOfOtherBranch(const NetDef& net, NetDef* after);

}  // namespace caffe2rt::test
