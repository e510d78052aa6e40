#pragma once
// Removes operators whose results are not read, neither by an operator of the net nor after the
// run. Operators with effects, without outputs, and users' own operators stay.

#include "caffe2_core/graph/passes/net_pass.h"

namespace caffe2rt {

NetDef RemoveDeadOperators(NetDef net, PassContext& context);

}  // namespace caffe2rt
