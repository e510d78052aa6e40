#pragma once
// RunInitNet: runs an init net and releases it while it runs. The arguments of an init net's
// operators hold the weights of a model, as many bytes as the blobs that they fill.

#include "caffe2rt/caffe2.pb.h"

namespace caffe2rt {

class Workspace;

// Does what Workspace::RunNetOnce does, with the same errors and frames, and consumes the net.
// Each operator is destroyed, and its OperatorDef with it, as soon as it has run, so that beside
// the blobs only the weights of later operators and of the running one are in memory; nothing
// copies a def. As in every net, all operators are made before the first one runs.
//
// A net that only its executor knows how to run is run by it, which copies the defs, and is
// released afterwards: one of another type than `simple`, with arguments of its own, control inputs
// or operators on a device, or when global net observers are set.
//
// On return and on failure the content of `net` is unspecified. THROWS when the net fails.
void RunInitNet(NetDef&& net, Workspace* ws);

}  // namespace caffe2rt
