#pragma once
// Plans: nets and the steps that run them. Section 10 of Caffe2's core; every field of
// ExecutionStep works.

#include <functional>

#include "caffe2rt/caffe2.pb.h"

namespace caffe2rt {

class Workspace;

struct PlanOptions {
  // Asked before every iteration of every step with the iteration's number; empty: until SIGINT or
  // SIGHUP.
  std::function<bool(int)> should_continue = {};
  // Lets concurrent steps and instances access the same blobs without synchronization, as Hogwild
  // training does. Memory safety is then up to the plan.
  bool allow_races = false;
};

// Runs the top-level steps in order; false when a step failed without an exception.
// `should_continue` is asked before every iteration of every step with the iteration's number;
// empty: always. Concurrent substeps run on threads of their own; the first failure stops the
// others and is thrown after all have ended. THROWS on a plan that cannot be right.
bool RunPlanOnWorkspace(Workspace* ws, const PlanDef& plan,
                        std::function<bool(int)> should_continue);

}  // namespace caffe2rt
