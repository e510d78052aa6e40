#pragma once
// Plans: nets and the steps that run them. Every field of
// ExecutionStep works.

#include <functional>

#include "caffe2rt/caffe2.pb.h"

namespace caffe2rt {

class Workspace;

struct PlanOptions {
  // Asked before every iteration of every step with the iteration's number; empty: until SIGINT or
  // SIGHUP. Concurrent steps ask from their threads.
  std::function<bool(int)> should_continue = {};
  // Lets concurrent steps and instances access the same blobs without synchronization, as Hogwild
  // training does. Memory safety is then up to the plan. Operators are never shared.
  bool allow_races = false;
};

// Runs the top-level steps in order; false when a step failed without an exception, true when
// should_continue ended it. Concurrent
// substeps run on threads and nets of their own; the first failure stops the others and is thrown
// after all have ended. THROWS on a plan that cannot be right, on one of more than 1,024 threads at
// once or 65,536 steps and nets, and where one concurrent substep or instance writes a blob that
// another uses (plan_races.h).
//
// Steps are compiled when they first run. What they create is there from the beginning: the outputs
// of all nets below a top-level step, and below a step with create_workspace those of its
// workspace.
bool RunPlanOnWorkspace(Workspace* ws, const PlanDef& plan, const PlanOptions& options);

// The same with `should_continue`; empty: always.
bool RunPlanOnWorkspace(Workspace* ws, const PlanDef& plan,
                        std::function<bool(int)> should_continue);

}  // namespace caffe2rt
