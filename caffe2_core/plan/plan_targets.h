#pragma once
// The databases that a plan saves to, checked before the plan runs: a plan that trains for hours
// must not lose its weights because its target exists.

#include "caffe2_core/plan/plan_nets.h"

namespace caffe2rt {

class Workspace;

// THROWS if an operator that certainly runs could not create its database: the target exists and is
// of a type that is not replaced, its folder is missing or not writable, or the file policy of `ws`
// forbids it. Nets in arguments of operators, reporters, and what follows a net that may set the
// should_stop_blob of its step may never run, and are not checked.
void CheckPlanTargets(const PlanDef& plan, const PlanNetDefs& nets, const Workspace& ws);

}  // namespace caffe2rt
