#pragma once
// CompiledStep: an execution step of a plan, ready to run in a workspace.

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "caffe2_core/plan/plan_executor.h"
#include "caffe2_core/plan/plan_nets.h"
#include "caffe2_core/plan/plan_races.h"
#include "caffe2_core/plan/plan_reporters.h"
#include "caffe2_core/plan/plan_uses.h"

namespace caffe2rt {

// Called before each iteration, with its number. Returning false ends the step.
using ShouldContinueStep = std::function<bool(int64_t)>;

// The state that all steps of one run of a plan share.
struct PlanRun {
  explicit PlanRun(const PlanDef& plan);
  PlanRun(const PlanRun&) = delete;
  PlanRun& operator=(const PlanRun&) = delete;

  PlanNetDefs defs;
  PlanUses uses{&defs};
  bool allow_races = false;
  std::function<void(const PlanPosition&)> on_iteration;  // of PlanOptions
  std::atomic<int> child_workspaces{0};
  // Whether the whole run must end as soon as possible. Empty means never.
  std::function<bool()> interrupted;
  bool IsInterrupted() const { return interrupted && interrupted(); }
};

// The environment in which a step runs.
struct StepPlace {
  Workspace* ws = nullptr;
  NetPool* nets = nullptr;             // for nets in `ws`
  const ReportLocks* locks = nullptr;  // null if no enclosing step has reporters
  // Those of `locks` that other threads take too: from the innermost enclosing concurrent step
  // outwards. Null if there are none.
  const ReportLocks* shared_locks = nullptr;
  const PlanPosition* outer = nullptr;  // null for a top-level step
  bool reports = false;                 // whether it is a reporter, or below one
  uint64_t number = 0;                  // that no other step of the plan has, nor another instance
};

// Creates the missing blobs that the nets of the step and its substeps write, so that a name
// denotes the same blob however late a substep is compiled. Substeps with create_workspace are
// skipped. THROWS if a should_stop_blob does not exist.
void PrepareBlobs(const ExecutionStep& step, Workspace* ws, PlanRun* run);

// A step is compiled just before its first iteration, and each of its substeps just before the
// substep's first iteration. A step may be executed by only one thread at a time.
class CompiledStep {
 public:
  // REQUIRES: VerifyStep and PrepareBlobs have been called for the step. `step`, `run` and all that
  // `place` points to outlive this object.
  CompiledStep(const ExecutionStep& step, const StepPlace& place, PlanRun* run,
               ShouldContinueStep outer);
  ~CompiledStep();
  CompiledStep(const CompiledStep&) = delete;
  CompiledStep& operator=(const CompiledStep&) = delete;

  // Runs all iterations. Returns false if a net or a substep reports a failure. THROWS what nets
  // and substeps throw, and THROWS if concurrent substeps conflict (plan_races.h).
  bool Execute();

 private:
  struct Substep {
    const ExecutionStep* def = nullptr;
    bool own_nets = false;
    std::unique_ptr<NetPool> nets;           // null if the substep uses the step's pool
    std::unique_ptr<CompiledStep> compiled;  // null before the first run, or with create_workspace
    uint64_t number = 0;                     // StepPlace::number
    uint64_t child_runs = 0;                 // runs in a child workspace
  };
  bool ShouldContinue(int64_t iteration) const;
  bool CompileNets();
  void CheckRaces();
  // The locks that the step's nets hold, or null.
  const ReportLocks* locks() const;
  // StepPlace::shared_locks of a substep.
  const ReportLocks* SharedLocksOf(const Substep& substep) const;
  bool RunSubstep(Substep* substep, const ReportLocks* locks,
                  const ShouldContinueStep& should_continue);
  bool RunOnce(bool* stopped);
  bool RunConcurrently();
  bool StopBlobSet() const;
  NetBase* ReportNet();
  std::vector<std::unique_ptr<Reporter>> StartReporters();

  const ExecutionStep& step_;
  const StepPlace place_;
  PlanPosition position_{.step = &step_, .outer = place_.outer};
  PlanRun* const run_;
  const ShouldContinueStep outer_;
  const bool concurrent_;
  std::atomic<bool> failed_{false};
  std::vector<CheckedBlob> checked_;              // set by CheckRaces
  std::unique_ptr<ReportLock> report_lock_;       // null if the step has no reporters
  ReportLocks locks_of_nets_, locks_of_reports_;  // for the step's own nets and reporters
  bool nets_compiled_ = false;
  std::vector<NetBase*> networks_;
  std::unique_ptr<NetPool> report_nets_;   // null if there is no report net
  std::shared_ptr<const Blob> stop_blob_;  // shared, because should_continue may remove the name
  std::vector<Substep> recurring_;
  std::vector<Substep> reporting_;  // substeps with run_every_ms
};

// Runs the step in a new child workspace of `parent.ws`, which is destroyed afterwards. The nets of
// `parent` are not used. `seed` is that of the child workspace.
bool RunInChildWorkspace(const ExecutionStep& step, const StepPlace& parent,
                         std::optional<uint64_t> seed, PlanRun* run,
                         const ShouldContinueStep& should_continue);

}  // namespace caffe2rt
