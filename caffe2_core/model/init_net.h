#pragma once
// RunInitNet: runs an init net and frees it at the same time. The arguments of its operators hold
// the weights of a model, so the net occupies as much memory as the blobs that it fills.

#include "caffe2_core/io/net_weights.h"
#include "caffe2rt/caffe2.pb.h"

#pragma GCC visibility push(default)
namespace caffe2rt {

class Workspace;

// Runs the net like Workspace::RunNetOnce, with the same errors and frames, but consumes it. Each
// operator is destroyed together with its OperatorDef as soon as it has run, and no def is copied.
// Apart from the blobs, memory therefore holds only the weights of the operators that have not
// finished. As in every net, all operators are created before the first one runs.
//
// Some nets need their executor, which copies the defs; they are freed as a whole after they have
// run. These are nets of a type other than `simple`, nets with arguments, with control inputs or
// with operators on a device, and all nets while global net observers are registered.
//
// Afterwards the content of `net` is unspecified, also if the net failed. THROWS if the net fails.
void RunInitNet(NetDef&& net, Workspace* ws);
// The same for a net whose weights were read directly. They become the memory of the blobs without
// a copy, unless the net needs its executor: then they are moved back into the defs first.
void RunInitNet(NetWithWeights&& net, Workspace* ws);

}  // namespace caffe2rt
#pragma GCC visibility pop
