#include "caffe2_core/runtime/net.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <new>
#include <set>
#include <utility>

#include "caffe2_core/base/conflicts.h"
#include "caffe2_core/base/logging.h"
#include "caffe2_core/base/memory_budget.h"
#include "caffe2_core/base/mutex.h"
#include "caffe2_core/base/text.h"
#include "caffe2_core/base/timer.h"
#include "caffe2_core/graph/arguments.h"
#include "caffe2_core/graph/nested_nets.h"
#include "caffe2_core/graph/net_check.h"
#include "caffe2_core/graph/random_streams.h"
#include "caffe2_core/runtime/executor_overrides.h"
#include "caffe2_core/runtime/net_copies.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "caffe2_core/runtime/output_memory.h"
#include "caffe2_core/runtime/workspace.h"

namespace caffe2rt {
namespace {

struct GlobalObservers {
  Mutex mutex;
  std::vector<NetObserverCreator> creators ABSL_GUARDED_BY(mutex);
};
GlobalObservers& TheGlobalObservers() {
  static GlobalObservers* const observers = new GlobalObservers;
  return *observers;
}

void PrintLine(const std::string& text) { std::printf("%s\n", text.c_str()); }

// Returns the problem, and whether the workspace has the blobs that the net does not declare.
std::string DataflowError(const NetDef& net, const NetProblem& problem, const Workspace* ws) {
  const std::set<std::string> declared(net.external_input().begin(), net.external_input().end());
  const std::vector<std::string> inputs = InputsOf(net);
  const auto is_missing = [&](const std::string& name) {
    return !declared.contains(name) && !ws->HasBlob(name);
  };
  const bool has_all = problem.text.find("; add external_input: ") != std::string::npos &&
                       ws != nullptr && std::none_of(inputs.begin(), inputs.end(), is_missing);
  return problem.text +
         (has_all ? "; the workspace has these blobs, for example from an init net" : "");
}

const NetDef& Checked(const std::shared_ptr<const NetDef>& def) {
  CAFFE_ENFORCE(def != nullptr, "argument def of a net is null");
  return *def;
}

}  // namespace

NetBase::NetBase(const std::shared_ptr<const NetDef>& def, Workspace* ws)
    : name_(Checked(def).name()),
      def_(def),
      external_input_(def->external_input().begin(), def->external_input().end()),
      external_output_(def->external_output().begin(), def->external_output().end()) {
  const std::vector<NetProblem> problems = CheckNetDataflow(*def);
  if (!problems.empty()) CAFFE_THROW(DataflowError(*def, problems.front(), ws));
}

NetBase::~NetBase() = default;

void NetBase::SetRandomSeed(std::optional<uint64_t> seed) {
  if (seed.has_value()) NameRandomPlaces();
  random_runs_.SetSeed(seed);
}

void NetBase::SetRandomParent(RandomPlace* place) {
  NameRandomPlaces();
  random_runs_.SetParent(place);
}

void NetBase::NameRandomPlaces() {
  if (std::exchange(has_random_places_, true)) return;
  RandomStreamNames names;
  for (const OperatorBase* op : GetOperators()) {
    op->random_place().Set(&random_runs_, RandomKeyOf(names.Next(op->debug_def())));
  }
}

bool NetBase::Run() try {
  BeginRandomNumbers();
  const bool observed = NumObservers() > 0;
  if (observed) StartAllObservers();
  const bool success = DoRun();
  if (observed) StopAllObservers();
  return success;
} catch (const std::bad_alloc&) {
  ThrowOutOfMemory();
}

bool NetBase::DoRun() {
  if (!DoRunAsync()) return false;
  Wait();
  return true;
}

bool NetBase::DoRunAsync() {
  CAFFE_THROW("the class of net \"", name_, "\" (type \"", def_->type(),
              "\") overrides neither DoRun nor DoRunAsync");
}

std::vector<float> NetBase::TEST_Benchmark(int warmup_runs, int main_runs, bool run_individual) {
  CAFFE_ENFORCE(warmup_runs >= 0 && main_runs >= 0, "warmup_runs and main_runs are ", warmup_runs,
                " and ", main_runs, ", want at least 0");
  for (int i = 0; i < warmup_runs; ++i)
    CAFFE_ENFORCE(Run(), "net \"", name_, "\" failed in warm-up run ", i);
  Timer timer;
  for (int i = 0; i < main_runs; ++i) CAFFE_ENFORCE(Run(), "net \"", name_, "\" failed in run ", i);
  const float per_run = main_runs > 0 ? timer.MilliSeconds() / static_cast<float>(main_runs) : 0.f;
  PrintLine(MakeString("Main runs finished. Milliseconds per iter: ", ShortText(per_run),
                       ". Iters per second: ", ShortText(per_run > 0 ? 1000.f / per_run : 0.f)));
  std::vector<float> times = {per_run};
  if (!run_individual) return times;
  std::map<std::string, float> by_type;
  const std::vector<OperatorBase*> operators = GetOperators();
  for (size_t i = 0; i < operators.size(); ++i) {
    OperatorBase* op = operators[i];
    timer.Start();
    for (int run = 0; run < main_runs; ++run) {
      SeparateOutputs(op);
      CAFFE_ENFORCE(op->Run(), "operator ", i, " (", op->Describe(), ") failed");
    }
    times.push_back(main_runs > 0 ? timer.MilliSeconds() / static_cast<float>(main_runs) : 0.f);
    by_type[op->type()] += times.back();
    PrintLine(
        MakeString("Operator #", i, " (", op->type(), ") ", ShortText(times.back()), " ms/iter"));
  }
  PrintLine("Time per operator type:");
  for (const auto& [type, ms] : by_type) {
    std::string text = ShortText(ms);
    text.insert(0, 15 - std::min<size_t>(15, text.size()), ' ');
    PrintLine(MakeString(text, " ms. ", type));
  }
  return times;
}

NetRegistry* GetNetRegistry() {
  static NetRegistry* const registry = [] {
    auto* fresh = new NetRegistry("net type");
    internal::RegisterBuiltinNets(fresh);
    return fresh;
  }();
  return registry;
}

bool IsKnownNetType(const std::string& type) { return type.empty() || GetNetRegistry()->Has(type); }

std::unique_ptr<NetBase> CreateNet(const NetDef& def, Workspace* ws) try {
  return CreateNet(std::make_shared<const NetDef>(def), ws);
} catch (const std::bad_alloc&) {
  ThrowOutOfMemory();
}

std::unique_ptr<NetBase> CreateNet(const std::shared_ptr<const NetDef>& given, Workspace* ws) try {
  CAFFE_ENFORCE(ws != nullptr, "argument ws of CreateNet is null, want the workspace of its blobs");
  CheckStackForNets(NestingDepthOf(Checked(given), kMaxNetDepth));
  const std::shared_ptr<const NetDef> def = WithOverriddenType(given);
  EnsureBuiltinOperators();
  ReportConflicts([] {
    std::vector<std::string> conflicts;
    AppendConflicts([] { GetNetRegistry()->ThrowConflicts(); }, &conflicts);
    return conflicts;
  });
  CAFFE_ENFORCE(def->type() != "parallel" || !def->has_num_workers() || def->num_workers() > 0,
                "net \"", def->name(), "\" of type parallel has num_workers ", def->num_workers(),
                ", want more than 0");
  std::unique_ptr<NetBase> net = GetNetRegistry()->Create(
      def->type().empty() ? "simple" : def->type(), WithDeviceCopies(def, *ws), ws);
  if (net == nullptr) return nullptr;
  if (ws->random_seed().has_value()) net->SetRandomSeed(ws->random_seed());
  std::vector<NetObserverCreator> creators;
  {
    const MutexLock lock(TheGlobalObservers().mutex);
    creators = TheGlobalObservers().creators;
  }
  for (const NetObserverCreator& creator : creators) {
    if (auto observer = creator(net.get())) net->AttachObserver(std::move(observer));
  }
  return net;
} catch (const std::bad_alloc&) {
  ThrowOutOfMemory();
}

void AddGlobalNetObserverCreator(NetObserverCreator creator) {
  CAFFE_ENFORCE(creator != nullptr, "argument creator of AddGlobalNetObserverCreator is null");
  const MutexLock lock(TheGlobalObservers().mutex);
  TheGlobalObservers().creators.push_back(std::move(creator));
}

void ClearGlobalNetObservers() {
  std::vector<NetObserverCreator> old;  // destroyed after the lock is released
  const MutexLock lock(TheGlobalObservers().mutex);
  TheGlobalObservers().creators.swap(old);
}

bool HasGlobalNetObservers() {
  const MutexLock lock(TheGlobalObservers().mutex);
  return !TheGlobalObservers().creators.empty();
}

}  // namespace caffe2rt
