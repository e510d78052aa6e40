#pragma once
// The step of the preparation of a net that applies the graph passes (caffe2_core/graph/passes/).
// Programs and predictors call PrepareNet (preparation.h), which calls it.

#include "caffe2_core/model/preparation.h"
#include "caffe2rt/caffe2.pb.h"

#pragma GCC visibility push(default)
namespace caffe2rt {

class Workspace;

// Applies the passes to `net` and adds the constants that the new net needs to `ws`. Constants are
// local blobs of `ws` only: those of a parent may change. THROWS if a name in without_passes is
// unknown.
Preparation OptimizeNet(NetDef net, const PreparationOptions& options, Workspace* ws);

}  // namespace caffe2rt
#pragma GCC visibility pop
