#pragma once
// Conflicts in plans that are certain without a workspace: `caffe2 check`.

#include <string>
#include <vector>

#include "caffe2rt/caffe2.pb.h"

namespace caffe2rt {

// Conflicts that the plan has in any workspace, at most one for each concurrent step; not all of a
// plan that is too large to be gone through in a second or so. REQUIRES: the plan keeps to
// PlanLimitProblem (plan_limits.h).
std::vector<std::string> FindRacesInAnyWorkspace(const PlanDef& plan);

}  // namespace caffe2rt
