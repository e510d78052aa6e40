#pragma once
// --overwrite of `caffe2 plan`: removes the databases that a plan would create.

#include "caffe2_core/runtime/workspace.h"
#include "caffe2rt/caffe2.pb.h"

namespace caffe2rt {

// Removes the databases that exist where operators of the plan create theirs, also those that a pattern
// such as "model_%06d.minidb" stands for. What is no database of the operator's type stays, so that the
// plan reports it. THROWS if the file policy of `ws` forbids to change one, or if it cannot be removed.
void RemoveTargetsOf(const PlanDef& plan, const Workspace& ws);

}  // namespace caffe2rt
