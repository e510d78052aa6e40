// The findings about plans (net_validation.h).

#include <algorithm>
#include <new>
#include <set>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/memory_budget.h"
#include "caffe2_core/base/utf8.h"
#include "caffe2_core/inspect/net_findings.h"
#include "caffe2_core/plan/plan_check.h"
#include "caffe2_core/plan/plan_limits.h"
#include "caffe2_core/runtime/operator_registry.h"

namespace caffe2rt {
namespace {

using enum NetFindingKind;

// `nets` must be sorted.
void CheckStep(const ExecutionStep& step, const std::vector<std::string>& nets,
               NetFindings* findings) {
  const std::string name = MakeString("step \"", Shortened(step.name()), "\": ");
  const auto must_be_there = [&](const std::string& net) {
    if (std::binary_search(nets.begin(), nets.end(), net)) return;
    findings->Add(
        kError, -1,
        MakeString(name, "net \"", net, "\" is not in the plan", findings->Close(net, nets)));
  };
  for (const std::string& net : step.network()) must_be_there(net);
  if (step.has_report_net()) {
    must_be_there(step.report_net());
    if (!step.has_report_interval())
      findings->Add(kError, -1, name + "report_net without report_interval");
  }
  if (step.network_size() > 0 && step.substep_size() > 0) {
    findings->Add(kError, -1, name + "it has both substeps and networks, want one of them");
  }
  if (step.has_should_stop_blob() && step.has_num_iter()) {
    findings->Add(kError, -1, name + "num_iter is given with should_stop_blob, want one of them");
  }
  if (step.has_only_once() && !step.has_should_stop_blob()) {
    findings->Add(kError, -1,
                  name + "only_once is given without should_stop_blob, which is not supported");
  }
  for (const ExecutionStep& substep : step.substep()) CheckStep(substep, nets, findings);
}

}  // namespace

std::vector<NetFinding> ValidatePlan(const PlanDef& plan) try {
  EnsureBuiltinOperators();
  NetFindings findings;
  std::set<std::string> names;
  for (const NetDef& net : plan.network()) {
    if (!names.insert(net.name()).second) {
      findings.Add(kError, -1, MakeString("two nets are named \"", net.name(), "\""));
    }
  }
  if (plan.execution_step_size() == 0) findings.Add(kWarning, -1, "the plan has no execution step");
  const std::vector<std::string> sorted(names.begin(), names.end());
  for (const ExecutionStep& step : plan.execution_step()) CheckStep(step, sorted, &findings);
  const std::string limit = PlanLimitProblem(plan);
  if (!limit.empty()) {
    findings.Add(kError, -1, limit);
  } else {
    for (const std::string& race : FindRacesInAnyWorkspace(plan)) findings.Add(kError, -1, race);
  }
  std::vector<std::pair<const NetDef*, std::string>> nets;
  for (const NetDef& net : plan.network())
    nets.emplace_back(&net, MakeString("net \"", Shortened(net.name()), "\": "));
  AddFindingsOf(nets, &findings);
  return findings.Take();
} catch (const std::bad_alloc&) {
  ThrowOutOfMemory();
}

}  // namespace caffe2rt
