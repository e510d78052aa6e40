#pragma once
// Finds conflicts between concurrent steps of a plan without running it. Used by `caffe2 check`.

#include <string>
#include <vector>

#include "caffe2rt/caffe2.pb.h"

namespace caffe2rt {

// Returns the conflicts (plan_races.h) that the plan has in every workspace, at most one for each
// concurrent step. Two names are one memory where a step begins if an operator that shares memory
// (Alias, rnn_internal_apply_link) has run before for certain, and nothing may have written the names
// since. The search stops after about a second, so it may miss conflicts of a very large
// plan. REQUIRES: PlanLimitProblem (plan_limits.h) returns "" for the plan.
std::vector<std::string> FindRacesInAnyWorkspace(const PlanDef& plan);

}  // namespace caffe2rt
