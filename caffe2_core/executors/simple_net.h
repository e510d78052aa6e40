#pragma once
// The net type `simple`: runs the operators in order on the calling thread. It waits for devices
// only where an operator needs finished work (device_waits.h), and at the end.

#include <memory>

#include "caffe2_core/runtime/net.h"

namespace caffe2rt {

// Creates the net and all its operators. THROWS if an operator cannot be built; the message names
// the net, the position and the operator.
//
// Two net arguments apply to devices of every type. `cuda_sync: 1` waits after each operator, so
// that an error on the device names the operator that caused it. `cuda_graph: 1` captures and
// replays device graphs where possible (graph_runs.h).
std::unique_ptr<NetBase> NewSimpleNet(const std::shared_ptr<const NetDef>& def, Workspace* ws);

}  // namespace caffe2rt
