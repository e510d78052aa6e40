#pragma once
// One execution step of a plan, made ready to run in a workspace.

#include <atomic>
#include <functional>
#include <memory>
#include <vector>

#include "caffe2_core/runtime/plan_nets.h"
#include "caffe2_core/runtime/plan_races.h"
#include "caffe2_core/runtime/plan_reporters.h"
#include "caffe2_core/runtime/plan_uses.h"

namespace caffe2rt {

// Asked before an iteration with its number.
using ShouldContinueStep = std::function<bool(int64_t)>;

// What the steps of one run of a plan have in common.
struct PlanRun {
  explicit PlanRun(const PlanDef& plan);
  PlanRun(const PlanRun&) = delete;
  PlanRun& operator=(const PlanRun&) = delete;

  PlanNetDefs defs;
  PlanUses uses{&defs};
  bool allow_races = false;
  std::atomic<int> child_workspaces{0};
  // Whether the run is to end wherever it is; empty: never.
  std::function<bool()> interrupted;
  bool IsInterrupted() const { return interrupted && interrupted(); }
};

// Where a step runs.
struct StepPlace {
  Workspace* ws = nullptr;
  NetPool* nets = nullptr;             // in that workspace
  const TurnsAround* turns = nullptr;  // null: no reporters around
};

// Creates the blobs that the nets of the step write and that are not there yet, but not those of
// steps with workspaces of their own: names mean the same however late a step is compiled. THROWS
// when a should_stop_blob does not exist.
void PrepareBlobs(const ExecutionStep& step, Workspace* ws, PlanRun* run);

// A step is compiled when it is about to run its first iteration, its substeps each when they are.
// Executed by one thread at a time.
class CompiledStep {
 public:
  // REQUIRES: VerifyStep and PrepareBlobs were called for the step; all arguments outlive this.
  CompiledStep(const ExecutionStep& step, const StepPlace& place, PlanRun* run,
               ShouldContinueStep outer);
  ~CompiledStep();
  CompiledStep(const CompiledStep&) = delete;
  CompiledStep& operator=(const CompiledStep&) = delete;

  // False: a net or substep reported a failure. THROWS what they throw, and when concurrent
  // substeps conflict.
  bool Execute();

 private:
  struct Substep {
    const ExecutionStep* def = nullptr;
    bool own_nets = false;
    std::unique_ptr<NetPool> nets;           // null: those of the step, one after the other
    std::unique_ptr<CompiledStep> compiled;  // null: not yet, or in a workspace of its own
  };
  bool ShouldContinue(int64_t iteration) const;
  bool CompileNets();
  void CheckRaces();
  // The turns that the step's nets take; null: none.
  const TurnsAround* turns() const;
  bool RunSubstep(Substep* substep, const TurnsAround* turns,
                  const ShouldContinueStep& should_continue);
  bool RunOnce(bool* stopped);
  bool RunConcurrently();
  bool StopBlobSet() const;
  NetBase* ReportNet();
  std::vector<std::unique_ptr<Reporter>> StartReporters();

  const ExecutionStep& step_;
  const StepPlace place_;
  PlanRun* const run_;
  const ShouldContinueStep outer_;
  const bool concurrent_;
  std::atomic<bool> failed_{false};
  std::vector<JudgedBlob> judged_;                // by CheckRaces
  std::unique_ptr<Turns> turns_;                  // null: no reporters
  TurnsAround turns_of_nets_, turns_of_reports_;  // of the step's own nets and reporters
  bool nets_compiled_ = false;
  std::vector<NetBase*> networks_;
  std::unique_ptr<NetPool> report_nets_;   // null: no report net
  std::shared_ptr<const Blob> stop_blob_;  // shared: should_continue may remove the name
  std::vector<Substep> recurring_;
  std::vector<Substep> reporting_;  // substeps with run_every_ms
};

// Runs the step in a child workspace of `parent`, made for this execution.
bool RunInChildWorkspace(const ExecutionStep& step, Workspace* parent, const TurnsAround* turns,
                         PlanRun* run, const ShouldContinueStep& should_continue);

}  // namespace caffe2rt
