#pragma once
// Which engine runs an operator.

#include "caffe2rt/caffe2.pb.h"

namespace caffe2rt {

// Whether CreateOperator (operator_registry.h) would try an engine other than the default one first:
// one that the def or the engine preferences list, and that is registered for the def's device.
bool UsesEngine(const OperatorDef& def);

}  // namespace caffe2rt
