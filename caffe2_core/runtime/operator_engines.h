#pragma once
// Which engine runs an operator.

#include <string>
#include <vector>

#include "caffe2rt/caffe2.pb.h"

namespace caffe2rt {

// Whether CreateOperator (operator_registry.h) would try an engine other than the default one first:
// one that the def or the engine preferences list, and that is registered for the def's device.
bool UsesEngine(const OperatorDef& def);

// The engines that the def lists and that its type does not have on its device. If all are missing,
// another engine runs the operator.
std::vector<std::string> MissingEngines(const OperatorDef& def);

}  // namespace caffe2rt
