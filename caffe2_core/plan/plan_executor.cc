#include "caffe2_core/plan/plan_executor.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>

#include <algorithm>
#include <atomic>
#include <limits>
#include <new>
#include <utility>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/logging.h"
#include "caffe2_core/base/memory_budget.h"
#include "caffe2_core/base/signal_handler.h"
#include "caffe2_core/plan/compiled_step.h"
#include "caffe2_core/plan/plan_limits.h"
#include "caffe2_core/plan/plan_targets.h"
#include "caffe2_core/runtime/waiting.h"
#include "caffe2_core/runtime/workspace.h"

namespace caffe2rt {
namespace {

bool RunTopLevelStep(const ExecutionStep& step, const StepPlace& place, PlanRun* run,
                     const ShouldContinueStep& should_continue) {
  VerifyStep(step, run->defs);
  if (step.create_workspace()) {
    const std::optional<uint64_t> seed = SeedOfPart(place.nets->seed(), place.number);
    return RunInChildWorkspace(step, place, seed, run, should_continue);
  }
  PrepareBlobs(step, place.ws, run);
  return CompiledStep(step, place, run, should_continue).Execute();
}

// The same. A signal that stops an operator that waits ends the step without a failure.
bool RunTopLevelStepUntilStopped(const ExecutionStep& step, const StepPlace& place, PlanRun* run,
                                 const ShouldContinueStep& should_continue) {
  try {
    return RunTopLevelStep(step, place, run, should_continue);
  } catch (const RunStopped&) {
    if (run->IsInterrupted()) return true;
    throw;
  }
}

std::string NameOfStep(const ExecutionStep& step) {
  if (!step.name().empty()) return MakeString("step \"", step.name(), "\"");
  if (step.network_size() == 0) return "a step";
  return MakeString(step.network_size() == 1 ? "the step of net \"" : "the step of nets \"",
                    absl::StrJoin(step.network(), "\", \""), "\"");
}

}  // namespace

std::string PlanPositionText(const PlanPosition& position) {
  std::vector<std::string> parts;
  for (const PlanPosition* at = &position; at != nullptr; at = at->outer) {
    const ExecutionStep& step = *at->step;
    const bool once = !step.has_should_stop_blob() && step.num_iter() <= 1;
    if (once && step.name().empty() && at != &position) continue;
    std::string text = NameOfStep(step);
    if (!once) absl::StrAppend(&text, ", iteration ", at->iteration + 1);
    if (!once && step.has_num_iter()) absl::StrAppend(&text, " of ", step.num_iter());
    parts.push_back(std::move(text));
  }
  return absl::StrJoin(parts.rbegin(), parts.rend(), ", ");
}

bool RunPlanOnWorkspace(Workspace* ws, const PlanDef& plan, const PlanOptions& options) try {
  CAFFE_ENFORCE(ws != nullptr, "argument ws of RunPlanOnWorkspace is null");
  if (plan.execution_step_size() == 0) {
    LOG(WARNING) << "plan \"" << plan.name() << "\" has no execution step";
    return true;
  }
  // StopOnSignal comes first, because it notices only signals that arrive after its construction.
  std::function<bool(int)> asked = options.should_continue;
  if (!asked) asked = StopOnSignal{};
  const std::string too_much = PlanLimitProblem(plan);
  CAFFE_ENFORCE(too_much.empty(), too_much);
  PlanRun run(plan);
  run.allow_races = options.allow_races;
  run.on_iteration = options.on_iteration;
  CheckPlanTargets(plan, run.defs, *ws);
  for (const ExecutionStep& step : plan.execution_step()) run.uses.FindCreators(step);
  // StopOnSignal reports a signal only once. The flag remembers it, so that the enclosing loops end
  // as well.
  std::atomic<bool> interrupted{false};
  if (asked.target<StopOnSignal>() != nullptr) {
    run.interrupted = [&] {
      if (!interrupted.load() && !asked(0)) interrupted = true;
      return interrupted.load();
    };
  }
  const ShouldContinueStep go_on = [&](int64_t i) {
    if (run.interrupted) return !run.interrupted();
    return asked(static_cast<int>(std::min<int64_t>(i, std::numeric_limits<int>::max())));
  };
  NetPool nets(&run.defs, ws, NetPool::Keep::kInWorkspace);
  const StopScope scope([&run] { return run.IsInterrupted(); });
  uint64_t number = 0;
  for (const ExecutionStep& step : plan.execution_step()) {
    if (run.IsInterrupted()) break;
    const StepPlace place = {.ws = ws, .nets = &nets, .number = number++};
    if (!RunTopLevelStepUntilStopped(step, place, &run, go_on)) {
      LOG(ERROR) << "step \"" << step.name() << "\" of plan \"" << plan.name() << "\" failed";
      return false;
    }
  }
  return true;
} catch (const std::bad_alloc&) {
  ThrowOutOfMemory();
}

bool RunPlanOnWorkspace(Workspace* ws, const PlanDef& plan,
                        std::function<bool(int)> should_continue) {
  PlanOptions options;
  options.should_continue = std::move(should_continue);
  if (!options.should_continue) options.should_continue = [](int) { return true; };
  return RunPlanOnWorkspace(ws, plan, options);
}

bool Workspace::RunPlan(const PlanDef& plan, ShouldContinue should_continue) {
  PlanOptions options;
  options.should_continue = std::move(should_continue);
  return RunPlan(plan, options);
}

bool Workspace::RunPlan(const PlanDef& plan, const PlanOptions& options) {
  return RunPlanOnWorkspace(this, plan, options);
}

}  // namespace caffe2rt
