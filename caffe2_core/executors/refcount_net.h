#pragma once
// simple_refcount: runs in the order of the net, as `simple`, and frees each blob after the last
// operator that reads it.
//
// Kept are external inputs and outputs, blobs that the net reads before it writes them, values that
// no operator reads, blobs that nets in arguments of operators use, and all blobs of nets with
// operators that access unlisted ones. In a net with operators that have an asynchronous part, the
// blobs are freed at the end of the run. A run that fails frees those that it no longer needed.
//
// (In Caffe2, a blob that the net changes in place is freed even if it is an external input, so that
// the next run fails.)

#include <memory>

#include "caffe2_core/runtime/net.h"

namespace caffe2rt {

// Creates the net and all its operators. THROWS if an operator cannot be built.
std::unique_ptr<NetBase> NewRefcountNet(const std::shared_ptr<const NetDef>& def, Workspace* ws);

}  // namespace caffe2rt
