#include "caffe2_core/plan/plan_check.h"

#include <memory>
#include <set>
#include <utility>

#include "caffe2_core/plan/known_sharing.h"
#include "caffe2_core/plan/plan_races.h"

namespace caffe2rt {
namespace {

// The maximum number of names to visit, which protects against hostile plans.
constexpr size_t kMaxUses = 1 << 19;

// Walks through a plan and keeps the set of names that exist in every workspace: those that the
// nets of earlier top-level steps, of the current workspace and of the enclosing workspaces create.
class AnyWorkspace {
 public:
  explicit AnyWorkspace(PlanUses* uses) : uses_(uses) {}

  // Adds a step of the plan itself, after all earlier ones.
  void AddTopLevel(const ExecutionStep& step) {
    top_level_ = &step;
    Add(step);
    top_level_ = nullptr;
    sharing_.AddStep(step, uses_);
  }
  std::vector<std::string> Take() { return std::move(races_); }

 private:
  void Add(const ExecutionStep& step) {
    const size_t names = new_names_.size(), nets = new_nets_.size();
    Create(step);
    Walk(step);
    if (!step.create_workspace()) return;
    for (; new_names_.size() > names; new_names_.pop_back()) names_.erase(new_names_.back());
    for (; new_nets_.size() > nets; new_nets_.pop_back()) nets_.erase(new_nets_.back());
  }

  // Adds the names that nets in the step's own workspace write.
  void Create(const ExecutionStep& step) {
    for (const std::string& net : step.network()) Create(net);
    if (step.has_report_net()) Create(step.report_net());
    for (const ExecutionStep& substep : step.substep()) {
      if (!substep.create_workspace()) Create(substep);
    }
  }
  void Create(const std::string& name) {
    const NetUses* const net = uses_->OfNet(name);
    if (net == nullptr || work_ > kMaxUses || !nets_.insert(net).second) return;
    new_nets_.push_back(net);
    work_ += net->written.size();
    for (const std::string& output : net->written) {
      const auto [it, is_new] = names_.insert(output);
      if (is_new) new_names_.push_back(it);
    }
  }
  void Walk(const ExecutionStep& step) {
    const StepUses& reporters = uses_->OfReporters(step);
    if (!reporters.nets.empty()) reporters_.push_back(&reporters);
    if (RunsConcurrently(step) && work_ <= kMaxUses) FindRaceOf(step);
    for (const ExecutionStep& substep : step.substep()) {
      if (substep.create_workspace()) {
        Add(substep);
      } else {
        Walk(substep);
      }
    }
    if (!reporters.nets.empty()) reporters_.pop_back();
  }
  void FindRaceOf(const ExecutionStep& step) {
    // What shares memory is known where a step of the plan begins, but not below it.
    const bool begins = &step == top_level_;
    const ResolveBlob resolve = [this, begins](const std::string& name, bool) {
      const auto it = names_.find(name);
      SharedBlob shared;
      shared.blob = it == names_.end() ? nullptr : &*it;
      if (begins) shared.storage = sharing_.MemoryOf(name);
      shared.synchronized = std::nullopt;
      return shared;
    };
    std::string race = FindRace(step, uses_, {.all = reporters_}, resolve, &work_);
    if (!race.empty()) races_.push_back(std::move(race));
  }

  PlanUses* const uses_;
  const ExecutionStep* top_level_ = nullptr;  // the step of the plan that is being added
  KnownSharing sharing_;                      // at its begin
  std::set<std::string> names_;
  std::set<const NetUses*> nets_;  // nets whose names are in names_
  std::vector<std::set<std::string>::iterator> new_names_;
  std::vector<const NetUses*> new_nets_;
  std::vector<const StepUses*> reporters_;  // those of the current step and the enclosing steps
  size_t work_ = 0;                         // names visited; the search stops at kMaxUses
  std::vector<std::string> races_;
};

}  // namespace

std::vector<std::string> FindRacesInAnyWorkspace(const PlanDef& plan) {
  PlanNetDefs defs;
  for (const NetDef& net : plan.network()) {
    // The pointer does not own the net; the plan outlives it.
    defs.try_emplace(net.name(), std::shared_ptr<const NetDef>(std::shared_ptr<void>(), &net));
  }
  PlanUses uses(&defs);
  AnyWorkspace walk(&uses);
  for (const ExecutionStep& step : plan.execution_step()) walk.AddTopLevel(step);
  return walk.Take();
}

}  // namespace caffe2rt
