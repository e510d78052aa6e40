#pragma once
// The net type `simple`: operators in order on the calling thread, one wait at the end.

#include <memory>

#include "caffe2_core/runtime/net.h"

namespace caffe2rt {

// Builds every operator. THROWS naming the net, the position and the operator that cannot be built.
//
// Arguments of the net, for devices of every type: `cuda_sync: 1` waits after each operator, so
// that the error of a kernel names the operator; `cuda_graph: 1` starts operators as recorded
// graphs where it can (graph_runs.h).
std::unique_ptr<NetBase> NewSimpleNet(const std::shared_ptr<const NetDef>& def, Workspace* ws);

}  // namespace caffe2rt
