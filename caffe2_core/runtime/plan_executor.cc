#include "caffe2_core/runtime/plan_executor.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/logging.h"
#include "caffe2_core/base/memory_budget.h"
#include "caffe2_core/base/suggest.h"
#include "caffe2_core/runtime/net.h"
#include "caffe2_core/runtime/workspace.h"

namespace caffe2rt {
namespace {

using ShouldContinue = std::function<bool(int64_t)>;

// Limits against hostile plans.
constexpr int kMaxStepDepth = 64;
constexpr int kMaxThreads = 1024;

struct PlanNets {
  std::map<std::string, std::shared_ptr<const NetDef>> defs;
  std::mutex mutex;
  std::set<std::string> made;  // overridden once: later uses take the existing object
  std::atomic<int> workspace_id{0};
};

// Calls a function every period in a thread of its own, and once more at the end.
class Reporter {
 public:
  Reporter(std::chrono::milliseconds period, std::function<void()> report)
      : thread_([this, period, report = std::move(report)] {
          std::unique_lock<std::mutex> lock(mutex_);
          while (!stopped_.wait_for(lock, period, [this] { return stop_; })) {
            lock.unlock();
            Report(report);
            lock.lock();
          }
          lock.unlock();
          Report(report);
        }) {}
  ~Reporter() {
    {
      std::lock_guard<std::mutex> lock(mutex_);
      stop_ = true;
    }
    stopped_.notify_all();
    thread_.join();
  }
  Reporter(const Reporter&) = delete;
  Reporter& operator=(const Reporter&) = delete;

 private:
  static void Report(const std::function<void()>& report) {
    try {
      report();
    } catch (...) {
      LOG(WARNING) << "a reporter failed: " << CurrentExceptionMessage();
    }
  }
  std::mutex mutex_;
  std::condition_variable stopped_;
  bool stop_ = false;
  std::thread thread_;  // last: it uses the members above
};

// One step, compiled in the workspace it runs in.
class CompiledStep {
 public:
  CompiledStep(const ExecutionStep& step, Workspace* ws, PlanNets* nets, ShouldContinue outer,
               bool override_nets, int depth);
  // False: a net or substep reported a failure.
  bool Execute();

 private:
  struct Substep {
    const ExecutionStep* def;
    std::unique_ptr<CompiledStep>
        compiled;  // null: compiled anew at every execution, in a child workspace
  };
  void CompileNets();
  void CompileSubsteps();
  bool RunSubstep(const Substep& substep, const ShouldContinue& should_continue);
  bool RunOnce(int64_t iteration, bool* stopped);
  bool RunConcurrently();
  bool StopBlobSet() const;
  std::vector<std::unique_ptr<Reporter>> StartReporters();
  void Verify() const;

  const ExecutionStep& step_;
  Workspace* const ws_;
  PlanNets* const nets_;
  ShouldContinue outer_;
  ShouldContinue should_continue_;
  const bool override_;
  const int depth_;
  std::atomic<bool> failed_{false};
  const Blob* stop_blob_ = nullptr;
  std::vector<NetBase*> networks_;
  NetBase* report_net_ = nullptr;
  std::vector<Substep> recurring_;
  std::vector<Substep> reporting_;  // substeps with run_every_ms
};

NetBase* NetOf(const std::string& name, Workspace* ws, PlanNets* nets, bool may_override) {
  const auto it = nets->defs.find(name);
  CAFFE_ENFORCE(it != nets->defs.end(), "network \"", name, "\" not found in the plan");
  bool first;
  {
    std::lock_guard<std::mutex> lock(nets->mutex);
    first = may_override && nets->made.insert(name).second;
  }
  NetBase* net = first ? nullptr : ws->GetNet(name);
  if (net == nullptr) net = ws->CreateNet(it->second, true);
  CAFFE_ENFORCE(net != nullptr, "network \"", name, "\" has type \"", it->second->type(),
                "\", which is not known");
  return net;
}

CompiledStep::CompiledStep(const ExecutionStep& step, Workspace* ws, PlanNets* nets,
                           ShouldContinue outer, bool override_nets, int depth)
    : step_(step),
      ws_(ws),
      nets_(nets),
      outer_(std::move(outer)),
      override_(override_nets),
      depth_(depth) {
  Verify();
  if (step.has_only_once() && !step.has_should_stop_blob()) {
    CAFFE_THROW("step \"", step.name(), "\": only_once without should_stop_blob is not supported");
  }
  CAFFE_ENFORCE(!(step.has_num_iter() && step.has_should_stop_blob()),
                "Must not specify num_iter if should_stop_blob is set");
  const bool unlimited = step.has_should_stop_blob() && !step.only_once();
  const int64_t iterations = step.has_should_stop_blob() ? 1
                             : step.has_num_iter()       ? step.num_iter()
                                                         : 1;
  should_continue_ = [this, unlimited, iterations](int64_t i) {
    return !failed_.load() && (unlimited || i < iterations) && outer_(i);
  };
  CompileNets();
  CompileSubsteps();
  // Not earlier: the step's own nets may make the blob.
  if (step.has_should_stop_blob()) {
    stop_blob_ = ws->GetBlob(step.should_stop_blob());
    CAFFE_ENFORCE(stop_blob_ != nullptr, "should_stop_blob \"", step.should_stop_blob(),
                  "\" of step \"", step.name(), "\" does not exist");
  }
  if (step.has_report_net()) report_net_ = NetOf(step.report_net(), ws_, nets_, override_);
}

void CompiledStep::Verify() const {
  CAFFE_ENFORCE_LE(depth_, kMaxStepDepth, "nesting of execution steps");
  CAFFE_ENFORCE(step_.substep_size() == 0 || step_.network_size() == 0, "step \"", step_.name(),
                "\" has substeps and networks, want one or the other");
  CAFFE_ENFORCE(!step_.has_report_net() || step_.has_report_interval(), "step \"", step_.name(),
                "\": a report_interval must be provided if report_net is set.");
}

void CompiledStep::CompileNets() {
  for (const std::string& name : step_.network()) {
    networks_.push_back(NetOf(name, ws_, nets_, override_));
  }
}

void CompiledStep::CompileSubsteps() {
  for (const ExecutionStep& def : step_.substep()) {
    const int copies = def.has_run_every_ms() ? 1 : std::max(1, step_.num_concurrent_instances());
    CAFFE_ENFORCE_LE(static_cast<int64_t>(copies) * step_.substep_size(), kMaxThreads,
                     "threads of step \"", step_.name(), "\"");
    for (int copy = 0; copy < copies; ++copy) {
      Substep substep{.def = &def, .compiled = nullptr};
      if (!def.create_workspace()) {
        substep.compiled = std::make_unique<CompiledStep>(
            def, ws_, nets_, [this](int64_t i) { return !failed_.load() && outer_(i); }, override_,
            depth_ + 1);
      }
      (def.has_run_every_ms() ? reporting_ : recurring_).push_back(std::move(substep));
    }
  }
}

// A workspace made for one execution, with GLOBAL_WORKSPACE_ID when the node is known.
void InjectWorkspaceId(Workspace* child, PlanNets* nets) {
  const std::shared_ptr<Blob> node = child->FindBlob("NODE_ID");
  if (node == nullptr) return;
  const int sequence = nets->workspace_id.fetch_add(1);
  CAFFE_ENFORCE_LT(sequence, 1 << 16, "workspaces of a plan");
  const int node_id = node->Get<Tensor>().data<int32_t>()[0];
  Tensor* id = child->CreateLocalBlob("GLOBAL_WORKSPACE_ID")->GetMutableTensor(CPU);
  id->Resize(std::vector<int64_t>());
  id->mutable_data<int32_t>()[0] = static_cast<int32_t>(static_cast<uint32_t>(sequence) +
                                                        (static_cast<uint32_t>(node_id) << 16));
}

bool CompiledStep::RunSubstep(const Substep& substep, const ShouldContinue& should_continue) {
  if (substep.compiled != nullptr) return substep.compiled->Execute();
  Workspace child(ws_->RootFolder(), ws_);
  InjectWorkspaceId(&child, nets_);
  CompiledStep compiled(*substep.def, &child, nets_, should_continue, false, depth_ + 1);
  return compiled.Execute();
}

bool CompiledStep::StopBlobSet() const {
  if (stop_blob_ == nullptr || !stop_blob_->IsType<Tensor>()) return false;
  const Tensor& tensor = stop_blob_->Get<Tensor>();
  if (!tensor.IsShaped() || tensor.storage() == nullptr) return false;
  CAFFE_ENFORCE(tensor.IsType<bool>() && tensor.numel() == 1, "should_stop_blob \"",
                step_.should_stop_blob(), "\" is ", tensor.meta().name(), " ", tensor.sizes(),
                ", want one bool");
  return tensor.data<bool>()[0];
}

std::vector<std::unique_ptr<Reporter>> CompiledStep::StartReporters() {
  std::vector<std::unique_ptr<Reporter>> reporters;
  if (report_net_ != nullptr) {
    reporters.push_back(std::make_unique<Reporter>(
        std::chrono::seconds(std::max(1, step_.report_interval())), [this] {
          if (!report_net_->Run())
            LOG(WARNING) << "report net \"" << report_net_->Name() << "\" failed";
        }));
  }
  for (const Substep& substep : reporting_) {
    const int64_t ms =
        std::max<int64_t>(1, std::min<int64_t>(substep.def->run_every_ms(), 86400000));
    reporters.push_back(std::make_unique<Reporter>(std::chrono::milliseconds(ms), [this, &substep] {
      RunSubstep(substep, [](int64_t) { return true; });
    }));
  }
  return reporters;
}

// `stopped` is set when the stop blob became true.
bool CompiledStep::RunOnce(int64_t, bool* stopped) {
  for (NetBase* net : networks_) {
    if (!net->Run()) return false;
    if (StopBlobSet()) return *stopped = true;
  }
  const bool concurrent = (step_.concurrent_substeps() && recurring_.size() > 1) ||
                          step_.num_concurrent_instances() > 1;
  if (concurrent) {
    if (!RunConcurrently()) return false;
    if (StopBlobSet()) *stopped = true;
    return true;
  }
  for (const Substep& substep : recurring_) {
    if (!RunSubstep(substep, [this](int64_t i) { return outer_(i); })) return false;
    if (StopBlobSet()) return *stopped = true;
  }
  return true;
}

bool CompiledStep::RunConcurrently() {
  std::mutex mutex;
  std::exception_ptr first_error;
  std::vector<std::thread> threads;
  const auto join = [&] {
    for (std::thread& thread : threads) thread.join();
  };
  try {
    for (const Substep& substep : recurring_) {
      threads.emplace_back([this, &substep, &mutex, &first_error] {
        try {
          if (!RunSubstep(substep, [this](int64_t i) { return !failed_.load() && outer_(i); })) {
            failed_ = true;
          }
        } catch (...) {
          failed_ = true;
          std::lock_guard<std::mutex> lock(mutex);
          if (first_error == nullptr) first_error = std::current_exception();
        }
      });
    }
  } catch (...) {  // no more threads
    failed_ = true;
    join();
    throw;
  }
  join();
  if (first_error != nullptr) std::rethrow_exception(first_error);
  return !failed_.load();
}

bool CompiledStep::Execute() {
  failed_ = false;
  const std::vector<std::unique_ptr<Reporter>> reporters = StartReporters();
  bool stopped = false;
  for (int64_t i = 0; !stopped && should_continue_(i); ++i) {
    if (!RunOnce(i, &stopped)) return false;
  }
  return true;
}

}  // namespace

bool RunPlanOnWorkspace(Workspace* ws, const PlanDef& plan,
                        std::function<bool(int)> should_continue) try {
  if (plan.execution_step_size() == 0) {
    LOG(WARNING) << "plan \"" << plan.name() << "\" has no execution step";
    return true;
  }
  PlanNets nets;
  for (const NetDef& net : plan.network()) {
    CAFFE_ENFORCE(nets.defs.try_emplace(net.name(), std::make_shared<const NetDef>(net)).second,
                  "plan \"", plan.name(), "\" has two nets named \"", net.name(), "\"");
  }
  const ShouldContinue go_on = [&](int64_t i) {
    return !should_continue || should_continue(static_cast<int>(i));
  };
  for (const ExecutionStep& step : plan.execution_step()) {
    bool success;
    if (step.create_workspace()) {
      Workspace child(ws->RootFolder(), ws);
      InjectWorkspaceId(&child, &nets);
      success = CompiledStep(step, &child, &nets, go_on, false, 0).Execute();
    } else {
      success = CompiledStep(step, ws, &nets, go_on, true, 0).Execute();
    }
    if (!success) {
      LOG(ERROR) << "step \"" << step.name() << "\" of plan \"" << plan.name() << "\" failed";
      return false;
    }
  }
  return true;
} catch (const std::bad_alloc&) {
  ThrowOutOfMemory();
}

}  // namespace caffe2rt
