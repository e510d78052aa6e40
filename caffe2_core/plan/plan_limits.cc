#include "caffe2_core/plan/plan_limits.h"

#include <absl/strings/str_join.h>

#include <algorithm>
#include <limits>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/suggest.h"
#include "caffe2_core/plan/plan_races.h"

namespace caffe2rt {
namespace {

uint64_t Plus(uint64_t a, uint64_t b) {
  return a > std::numeric_limits<uint64_t>::max() - b ? std::numeric_limits<uint64_t>::max()
                                                      : a + b;
}
uint64_t Times(uint64_t a, uint64_t b) {
  return b != 0 && a > std::numeric_limits<uint64_t>::max() / b
             ? std::numeric_limits<uint64_t>::max()
             : a * b;
}

struct Size {
  uint64_t threads = 0;   // besides the thread that runs the step
  uint64_t compiled = 0;  // steps and nets
};

// Computes the size of a step from those of its substeps. Concurrent substeps run at the same time,
// so their threads are added; of sequential substeps, the one with the most threads counts. Sums
// and products saturate. Only the first problem is kept.
class Measure {
 public:
  Size Of(const ExecutionStep& step, int depth) {
    if (depth > kMaxPlanDepth) {
      Report(MakeString("steps are nested more than ", kMaxPlanDepth, " deep"));
      return {};
    }
    Size size;
    size.compiled = Plus(1, static_cast<uint64_t>(step.network_size()));
    if (step.has_report_net()) ++size.threads;
    const bool concurrent = RunsConcurrently(step);
    const auto instances = static_cast<uint64_t>(InstancesOf(step));
    uint64_t together = 0, longest = 0;
    for (const ExecutionStep& substep : step.substep()) {
      const Size below = Of(substep, depth + 1);
      const bool reports = substep.has_run_every_ms();
      size.compiled = Plus(size.compiled, Times(below.compiled, reports ? 1 : instances));
      if (reports) {
        size.threads = Plus(size.threads, Plus(1, below.threads));
      } else {
        together = Plus(together, Plus(1, below.threads));
        longest = std::max(longest, below.threads);
      }
    }
    size.threads = Plus(size.threads, concurrent ? Times(instances, together) : longest);
    Check(step, size);
    return size;
  }
  void Check(const std::string& subject, uint64_t compiled) {
    if (compiled > kMaxPlanSize) {
      Report(MakeString(subject, " has ", Count(compiled),
                        " steps and nets, counting concurrent instances, want at most ",
                        kMaxPlanSize, ": lower num_concurrent_instances"));
    }
  }
  const std::string& problem() const { return problem_; }

 private:
  static std::string Count(uint64_t n) {
    return n == std::numeric_limits<uint64_t>::max() ? MakeString("at least ", n) : MakeString(n);
  }
  void Check(const ExecutionStep& step, const Size& size) {
    if (size.threads > kMaxPlanThreads) {
      Report(MakeString("step \"", step.name(), "\" runs ", Count(size.threads),
                        " threads at once with the steps below it, want at most ", kMaxPlanThreads,
                        ": lower num_concurrent_instances"));
    }
    Check(MakeString("step \"", step.name(), "\""), size.compiled);
  }
  void Report(std::string problem) {
    if (problem_.empty()) problem_ = std::move(problem);
  }
  std::string problem_;
};

void MustBeThere(const std::string& net, const PlanNetDefs& nets) {
  if (nets.contains(net)) return;
  std::vector<std::string> known;
  for (const auto& [name, def] : nets) known.push_back(name);
  const std::string close = absl::StrJoin(NearestNames(net, known), ", ");
  CAFFE_THROW("network \"", net, "\" not found in the plan",
              close.empty() ? "" : "; close: ", close);
}

}  // namespace

int InstancesOf(const ExecutionStep& step) { return std::max(1, step.num_concurrent_instances()); }

std::string PlanLimitProblem(const PlanDef& plan) {
  Measure measure;
  uint64_t compiled = 0;
  for (const ExecutionStep& step : plan.execution_step()) {
    compiled = Plus(compiled, measure.Of(step, 0).compiled);
  }
  measure.Check(MakeString("plan \"", plan.name(), "\""), compiled);
  return measure.problem();
}

void VerifyStep(const ExecutionStep& step, const PlanNetDefs& nets) {
  CAFFE_ENFORCE(step.substep_size() == 0 || step.network_size() == 0, "step \"", step.name(),
                "\" has substeps and networks, want one or the other");
  CAFFE_ENFORCE(!step.has_report_net() || step.has_report_interval(), "step \"", step.name(),
                "\": a report_interval must be provided if report_net is set.");
  CAFFE_ENFORCE(!step.has_only_once() || step.has_should_stop_blob(), "step \"", step.name(),
                "\": only_once without should_stop_blob is not supported");
  CAFFE_ENFORCE(!(step.has_num_iter() && step.has_should_stop_blob()), "step \"", step.name(),
                "\": Must not specify num_iter if should_stop_blob is set");
  for (const std::string& net : step.network()) MustBeThere(net, nets);
  if (step.has_report_net()) MustBeThere(step.report_net(), nets);
  for (const ExecutionStep& substep : step.substep()) VerifyStep(substep, nets);
}

}  // namespace caffe2rt
