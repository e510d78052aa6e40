#pragma once
// Runs plans. A plan consists of nets and of the steps that run them. Every field of ExecutionStep
// is supported.

#include <cstdint>
#include <functional>
#include <string>

#include "caffe2rt/caffe2.pb.h"

#pragma GCC visibility push(default)
namespace caffe2rt {

class Workspace;

// An iteration of a step, within an iteration of each step around it.
struct PlanPosition {
  const ExecutionStep* step = nullptr;
  int64_t iteration = 0;                // from 0
  const PlanPosition* outer = nullptr;  // of the step around it, or null
};

// A text such as `step "epoch", iteration 2 of 10, step "train", iteration 57 of 600`. The number
// of iterations is left out where the plan does not state it. A step without a name is named after its
// nets, or left out if it runs once and is around another one.
std::string PlanPositionText(const PlanPosition& position);

struct PlanOptions {
  // Called before each iteration of each step, with the iteration's number. Returning false ends
  // the step. Concurrent steps call it from their own threads. If empty, the plan runs until it
  // ends or the process receives SIGINT or SIGHUP.
  std::function<bool(int)> should_continue = {};
  // Allows concurrent steps and instances to access the same blobs without synchronization, as
  // Hogwild training does. The author of the plan is then responsible for memory safety. Operators
  // are never shared.
  bool allow_races = false;
  // Called before each iteration of each step that is not a reporter, with its position, which is
  // valid during the call only. Concurrent steps call it from their own threads. May be empty.
  std::function<void(const PlanPosition&)> on_iteration = {};
};

// Runs the top-level steps in order. Returns false if a step fails without an exception, and true
// otherwise, also if should_continue ended the plan.
//
// Concurrent substeps have their own threads and nets. The first failure stops the other substeps;
// it is thrown when all of them have ended.
//
// A step is compiled when it first runs. Its output blobs exist before that: the blobs that the
// nets of a top-level step and its substeps write are created before the first of these nets runs.
// For a step with create_workspace this happens in its own workspace, when the step starts.
//
// The databases that operators of the plan create are checked before anything runs
// (plan_targets.h).
//
// THROWS if a step is invalid, if the plan would run more than 1,024 threads at once, if it has
// more than 65,536 steps and nets, if an operator that certainly runs cannot create its database,
// or if a concurrent substep or instance writes a blob that another one uses (plan_races.h).
bool RunPlanOnWorkspace(Workspace* ws, const PlanDef& plan, const PlanOptions& options);

// The same, but signals do not end the plan. An empty `should_continue` always continues.
bool RunPlanOnWorkspace(Workspace* ws, const PlanDef& plan,
                        std::function<bool(int)> should_continue);

}  // namespace caffe2rt
#pragma GCC visibility pop
