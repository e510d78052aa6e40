#include "caffe2_core/plan/compiled_step.h"

#include <algorithm>
#include <exception>
#include <set>
#include <system_error>
#include <thread>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/first_error.h"
#include "caffe2_core/base/logging.h"
#include "caffe2_core/base/random_stream.h"
#include "caffe2_core/plan/plan_limits.h"
#include "caffe2_core/runtime/waiting.h"
#include "caffe2_core/runtime/workspace.h"

namespace caffe2rt {
namespace {

class BlobPreparation {
 public:
  BlobPreparation(Workspace* ws, PlanUses* uses) : ws_(*ws), uses_(*uses) {}
  void Create(const ExecutionStep& step) {
    for (const std::string& net : step.network()) Create(net);
    for (const ExecutionStep& substep : step.substep()) {
      if (!substep.create_workspace()) Create(substep);
    }
    if (step.has_report_net()) Create(step.report_net());
  }
  void CheckStopBlobs(const ExecutionStep& step) const {
    CAFFE_ENFORCE(!step.has_should_stop_blob() || ws_.HasBlob(step.should_stop_blob()),
                  "should_stop_blob \"", step.should_stop_blob(), "\" of step \"", step.name(),
                  "\" does not exist");
    for (const ExecutionStep& substep : step.substep()) {
      if (!substep.create_workspace()) CheckStopBlobs(substep);
    }
  }

 private:
  void Create(const std::string& name) {
    const NetUses* const net = uses_.OfNet(name);
    if (net == nullptr || !created_.insert(net).second) return;
    for (const std::string& output : net->written) ws_.CreateBlob(output);
  }
  Workspace& ws_;
  PlanUses& uses_;
  std::set<const NetUses*> created_;
};

// Sets the blob GLOBAL_WORKSPACE_ID of the child if the blob NODE_ID exists. The id is the node's
// number in the upper 16 bits and the child's number within the run in the lower 16 bits.
void InjectWorkspaceId(Workspace* child, const ReportLocks* locks, PlanRun* run) {
  const std::shared_ptr<Blob> node = child->FindBlob("NODE_ID");
  if (node == nullptr) return;
  const int sequence = run->child_workspaces.fetch_add(1);
  CAFFE_ENFORCE_LT(sequence, 1 << 16, "number of child workspaces of a plan");
  int node_id = 0;
  {
    const ReportLocksHeld held(locks);
    const Tensor& tensor = node->Get<Tensor>();
    CAFFE_ENFORCE(tensor.numel() == 1, "blob \"NODE_ID\" has shape ", tensor.sizes(),
                  ", want one int32");
    CAFFE_ENFORCE(tensor.GetDeviceType() == CPU, "blob \"NODE_ID\" is on the device ",
                  DeviceTypeName(tensor.GetDeviceType()), ", want it on the CPU");
    node_id = tensor.data<int32_t>()[0];
  }
  Tensor* id = child->CreateLocalBlob("GLOBAL_WORKSPACE_ID")->GetMutableTensor(CPU);
  id->Resize(std::vector<int64_t>());
  id->mutable_data<int32_t>()[0] = static_cast<int32_t>(static_cast<uint32_t>(sequence) +
                                                        (static_cast<uint32_t>(node_id) << 16));
}

}  // namespace

PlanRun::PlanRun(const PlanDef& plan) {
  for (const NetDef& net : plan.network()) {
    CAFFE_ENFORCE(defs.try_emplace(net.name(), std::make_shared<const NetDef>(net)).second,
                  "plan \"", plan.name(), "\" has two nets named \"", net.name(), "\"");
  }
}

void PrepareBlobs(const ExecutionStep& step, Workspace* ws, PlanRun* run) {
  BlobPreparation preparation(ws, &run->uses);
  preparation.Create(step);
  preparation.CheckStopBlobs(step);
}

bool RunInChildWorkspace(const ExecutionStep& step, const StepPlace& parent,
                         std::optional<uint64_t> seed, PlanRun* run,
                         const ShouldContinueStep& should_continue) {
  if (run->IsInterrupted()) return true;
  // On the heap: on the stack, TSAN would take its mutex for an earlier one at the same address.
  const auto child = std::make_unique<Workspace>(parent.ws->RootFolder(), parent.ws);
  child->SetRandomSeed(seed);
  InjectWorkspaceId(child.get(), parent.locks, run);
  PrepareBlobs(step, child.get(), run);
  NetPool nets(&run->defs, child.get(), NetPool::Keep::kInChildWorkspace);
  StepPlace place = parent;
  place.ws = child.get();
  place.nets = &nets;
  return CompiledStep(step, place, run, should_continue).Execute();
}

CompiledStep::CompiledStep(const ExecutionStep& step, const StepPlace& place, PlanRun* run,
                           ShouldContinueStep outer)
    : step_(step),
      place_(place),
      run_(run),
      outer_(std::move(outer)),
      concurrent_(RunsConcurrently(step)) {
  for (const ExecutionStep& def : step.substep()) {
    const int copies = def.has_run_every_ms() ? 1 : InstancesOf(step);
    for (int copy = 0; copy < copies; ++copy) {
      Substep substep;
      substep.def = &def;
      substep.number = MixRandomKeys(place.number, recurring_.size() + reporting_.size());
      substep.own_nets = concurrent_ || def.has_run_every_ms();
      (def.has_run_every_ms() ? reporting_ : recurring_).push_back(std::move(substep));
    }
  }
  locks_of_nets_.outer = locks_of_reports_.outer = place.locks;
  if (reporting_.empty() && !step.has_report_net()) return;
  report_lock_ = std::make_unique<ReportLock>();
  locks_of_nets_.lock = locks_of_reports_.lock = report_lock_.get();
  locks_of_reports_.reports = true;
  locks_of_nets_.reporters = locks_of_reports_.reporters = &run->uses.OfReporters(step);
}

CompiledStep::~CompiledStep() = default;

const ReportLocks* CompiledStep::locks() const {
  return report_lock_ == nullptr ? place_.locks : &locks_of_nets_;
}

// A reporter runs while the step's nets do not.
const ReportLocks* CompiledStep::SharedLocksOf(const Substep& substep) const {
  return concurrent_ && !substep.def->has_run_every_ms() ? locks() : place_.shared_locks;
}

bool CompiledStep::ShouldContinue(int64_t iteration) const {
  if (failed_.load()) return false;
  if (!step_.has_should_stop_blob()) {
    const int64_t iterations = step_.has_num_iter() ? step_.num_iter() : 1;
    return iteration < iterations && outer_(iteration);
  }
  return (!step_.only_once() || iteration < 1) && outer_(iteration);
}

// Returns false if the run was interrupted.
bool CompiledStep::CompileNets() {
  if (nets_compiled_) return true;
  networks_.clear();
  for (const std::string& name : step_.network()) {
    if (run_->IsInterrupted()) return false;
    const ReportLocksHeld held(locks());  // because creating a net reads blobs
    networks_.push_back(place_.nets->Get(name));
  }
  if (step_.has_should_stop_blob()) stop_blob_ = place_.ws->FindBlob(step_.should_stop_blob());
  return nets_compiled_ = true;
}

void CompiledStep::CheckRaces() {
  if (!concurrent_ || run_->allow_races) return;
  RaceReporters reporters;
  for (const ReportLocks* around = locks(); around != nullptr; around = around->outer) {
    if (around == place_.shared_locks) reporters.readable = reporters.all.size();
    reporters.all.push_back(around->reporters);
  }
  const ReportLocksHeld held(locks());
  const std::string race = FindRace(step_, &run_->uses, reporters, *place_.ws, &checked_);
  CAFFE_ENFORCE(race.empty(), race);
}

bool CompiledStep::RunSubstep(Substep* substep, const ReportLocks* locks,
                              const ShouldContinueStep& should_continue) {
  StepPlace place = {.ws = place_.ws,
                     .nets = place_.nets,
                     .locks = locks,
                     .shared_locks = SharedLocksOf(*substep),
                     .outer = &position_,
                     .reports = place_.reports || substep->def->has_run_every_ms(),
                     .number = substep->number};
  if (substep->def->create_workspace()) {
    const std::optional<uint64_t> seed =
        SeedOfPart(SeedOfPart(place_.nets->seed(), substep->number), substep->child_runs++);
    return RunInChildWorkspace(*substep->def, place, seed, run_, should_continue);
  }
  if (substep->compiled == nullptr) {
    if (substep->own_nets) {
      substep->nets = std::make_unique<NetPool>(place_.nets, substep->number);
      place.nets = substep->nets.get();
    }
    substep->compiled = std::make_unique<CompiledStep>(
        *substep->def, place, run_, [this](int64_t i) { return !failed_.load() && outer_(i); });
  }
  return substep->compiled->Execute();
}

bool CompiledStep::StopBlobSet() const {
  if (stop_blob_ == nullptr) return false;
  const ReportLocksHeld held(locks());
  if (!stop_blob_->IsType<Tensor>()) return false;
  const Tensor& tensor = stop_blob_->Get<Tensor>();
  if (!tensor.IsShaped() || tensor.storage() == nullptr) return false;
  CAFFE_ENFORCE(tensor.IsType<bool>() && tensor.numel() == 1, "should_stop_blob \"",
                step_.should_stop_blob(), "\" is ", tensor.meta().name(), " ", tensor.sizes(),
                ", want one bool");
  CAFFE_ENFORCE(tensor.GetDeviceType() == CPU, "should_stop_blob \"", step_.should_stop_blob(),
                "\" is on the device ", DeviceTypeName(tensor.GetDeviceType()),
                ", want it on the CPU");
  return tensor.data<bool>()[0];
}

std::vector<std::unique_ptr<Reporter>> CompiledStep::StartReporters() {
  std::vector<std::unique_ptr<Reporter>> reporters;
  if (step_.has_report_net()) {
    const auto report = [this, net = ReportNet()] {
      const ReportLocksHeld held(&locks_of_reports_);
      if (!net->Run()) LOG(WARNING) << "report net \"" << net->Name() << "\" failed";
    };
    reporters.push_back(std::make_unique<Reporter>(
        std::chrono::seconds(std::max(1, step_.report_interval())), report));
  }
  for (Substep& substep : reporting_) {
    const int64_t ms =
        std::max<int64_t>(1, std::min<int64_t>(substep.def->run_every_ms(), 86400000));
    reporters.push_back(std::make_unique<Reporter>(std::chrono::milliseconds(ms), [this, &substep] {
      RunSubstep(&substep, &locks_of_reports_,
                 [this](int64_t i) { return !failed_.load() && outer_(i); });
    }));
  }
  return reporters;
}

NetBase* CompiledStep::ReportNet() {
  const ReportLocksHeld held(&locks_of_reports_);
  if (report_nets_ == nullptr) {
    const size_t last = recurring_.size() + reporting_.size();
    report_nets_ = std::make_unique<NetPool>(place_.nets, MixRandomKeys(place_.number, last));
  }
  return report_nets_->Get(step_.report_net());
}

// Runs one iteration. Sets `*stopped` if the stop blob has become true.
bool CompiledStep::RunOnce(bool* stopped) {
  if (run_->on_iteration && !place_.reports) run_->on_iteration(position_);
  for (NetBase* net : networks_) {
    {
      const ReportLocksHeld held(locks());
      if (!net->Run()) return false;
    }
    if (StopBlobSet()) return *stopped = true;
  }
  if (concurrent_) {
    if (!RunConcurrently()) return false;
    if (StopBlobSet()) *stopped = true;
    return true;
  }
  for (Substep& substep : recurring_) {
    if (!RunSubstep(&substep, locks(), outer_)) return false;
    if (StopBlobSet()) return *stopped = true;
  }
  return true;
}

// Runs each substep on a thread of its own. A failure sets failed_, which makes the other substeps
// end before their next iteration, and stops their operators that wait. The first exception is
// rethrown when all threads have ended.
bool CompiledStep::RunConcurrently() {
  FirstError error;
  std::vector<std::thread> threads;
  const auto join = [&] {
    for (std::thread& thread : threads) thread.join();
  };
  const auto run = [this, &error, outer = StopScope::Innermost()](Substep* substep) {
    try {
      const StopScope scope([this] { return failed_.load(); }, outer);
      const auto go_on = [this](int64_t i) { return !failed_.load() && outer_(i); };
      if (!RunSubstep(substep, locks(), go_on)) failed_ = true;
    } catch (const RunStopped&) {  // a consequence of another failure, or of a signal
      if (!run_->IsInterrupted()) failed_ = true;
    } catch (...) {
      error.KeepCurrent();
      failed_ = true;
    }
  };
  try {
    for (Substep& substep : recurring_) threads.emplace_back(run, &substep);
  } catch (...) {  // out of memory or threads
    failed_ = true;
    join();
    RethrowWithFrame(
        MakeString("cannot start thread ", threads.size(), " of step \"", step_.name(), "\""));
  }
  join();
  if (const std::exception_ptr first = error.Take()) std::rethrow_exception(first);
  return !failed_.load();
}

bool CompiledStep::Execute() {
  failed_ = false;
  if (run_->IsInterrupted()) return true;  // starts no reporters, so there is no final report
  // ShouldContinue comes first, so that an interrupted plan compiles nothing more.
  bool go_on = ShouldContinue(0) && CompileNets();
  if (go_on) CheckRaces();
  const std::vector<std::unique_ptr<Reporter>> reporters = StartReporters();
  bool stopped = false;
  for (int64_t i = 0; go_on;) {
    position_.iteration = i;
    if (!RunOnce(&stopped)) return false;
    go_on = !stopped && ShouldContinue(++i);
  }
  return true;
}

}  // namespace caffe2rt
