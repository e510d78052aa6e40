// Nets, plans and operators of the front end.
#include <absl/cleanup/cleanup.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <atomic>
#include <map>
#include <memory>
#include <set>
#include <thread>

#include "caffe2_core/base/logging.h"
#include "caffe2_core/base/timer.h"
#include "caffe2_core/graph/nested_nets.h"
#include "caffe2_core/inspect/time_observer.h"
#include "caffe2_core/model/predictor.h"
#include "caffe2_core/plan/plan_executor.h"
#include "caffe2_core/runtime/net.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "caffe2_core/runtime/waiting.h"
#include "python/engine/arrays.h"
#include "python/engine/frontend_workspaces.h"
#include "python/engine/runs.h"
#include "python/engine/text.h"

namespace caffe2rt {
namespace {

namespace nb = nanobind;

// Plans of the front end let instances write the same flag without synchronization.
PlanOptions OptionsOfPlans() {
  PlanOptions options;
  options.should_continue = [](int) { return true; };  // FrontendRun handles signals
  options.allow_races = true;
  return options;
}

NetBase* NetOf(const FrontendWorkspace& ws, const std::string& name) {
  NetBase* const net = ws->GetNet(name);
  CAFFE_ENFORCE(net != nullptr, "Can't find net ", name);
  return net;
}

void CreateNetIn(const FrontendWorkspace& ws, const Text& bytes, bool overwrite) {
  const NetDef def = Parsed<NetDef>(bytes, "net");
  RunWithoutLock([&] {
    CAFFE_ENFORCE(ws->CreateNet(def, overwrite) != nullptr, "Error when creating net ", def.name(),
                  ": its type \"", def.type(), "\" is not known");
  });
}

void RunNetOnceIn(const FrontendWorkspace& ws, const Text& bytes) {
  const NetDef def = Parsed<NetDef>(bytes, "net");
  RunWithoutLock(
      [&] { CAFFE_ENFORCE(ws->RunNetOnce(def), "Error when running network ", def.name()); });
}

void RunOperatorIn(const FrontendWorkspace& ws, const Text& bytes) {
  const OperatorDef def = Parsed<OperatorDef>(bytes, "operator");
  RunWithoutLock(
      [&] { CAFFE_ENFORCE(ws->RunOperatorOnce(def), "Error when running operator ", def.type()); });
}

void RunPlanIn(const FrontendWorkspace& ws, const Text& bytes) {
  const PlanDef plan = Parsed<PlanDef>(bytes, "plan");
  RunWithoutLock([&] {
    CAFFE_ENFORCE(ws->RunPlan(plan, OptionsOfPlans()), "Error when running plan ", plan.name());
  });
}

// The runs of a net, and whether cancel() ends them.
struct CancelledRuns {
  std::atomic<bool> cancelled{false};
  std::atomic<int> running{0};
  bool waits = false;  // the net has operators that may wait for others, such as queues
};

// A net of a workspace, which it keeps alive. The net is looked up in each call.
struct FrontendNet {
  FrontendWorkspace ws;
  std::string name;
  std::shared_ptr<CancelledRuns> runs;

  void Run() const {
    NetBase* const net = NetOf(ws, name);
    ++runs->running;
    const absl::Cleanup end = [this] {
      --runs->running;
      runs->cancelled = false;
    };
    RunWithoutLock([&] {
      const StopScope scope(runs->cancelled);
      CAFFE_ENFORCE(net->Run(), "Error running net ", net->Name());
    });
  }
  // Ends the run in progress. In Caffe2 it closes the queues of the net, so that a later run fails, too:
  // where operators wait, the next run is ended if there is none now.
  void Cancel() const {
    if (runs->running > 0 || runs->waits) runs->cancelled = true;
  }
};

FrontendNet FrontendNetOf(const FrontendWorkspace& ws, const std::string& name) {
  auto runs = std::make_shared<CancelledRuns>();
  for (const OperatorDef& op : NetOf(ws, name)->debug_def().op()) {
    runs->waits = runs->waits || MayWait(op);
  }
  return {ws, name, std::move(runs)};
}

std::map<std::string, FrontendNet> NetsOf(const FrontendWorkspace& ws) {
  std::map<std::string, FrontendNet> nets;
  for (const std::string& name : ws->Nets()) nets.emplace(name, FrontendNetOf(ws, name));
  return nets;
}

bool RunNet(const Text& name, int iterations, bool allow_fail) {
  const FrontendWorkspace ws = CurrentWorkspace();
  NetBase* const net = NetOf(ws, name.str());
  return RunWithoutLock([&] {
    for (int i = 0; i < iterations; ++i) {
      if (net->Run()) continue;
      if (allow_fail) return false;
      CAFFE_THROW("Error running net ", net->Name());
    }
    return true;
  });
}

bool RunNetCatching(const Text& name, int iterations, bool allow_fail) {
  try {
    return RunNet(name, iterations, allow_fail);
  } catch (const RunStopped&) {
    throw;
  } catch (const EnforceNotMet&) {
    if (allow_fail && CurrentWorkspace()->GetNet(name.str()) != nullptr) return false;
    throw;
  }
}

bool RunOperatorMultiple(const Text& bytes, int runs) {
  const FrontendWorkspace ws = CurrentWorkspace();
  const OperatorDef def = Parsed<OperatorDef>(bytes, "operator");
  return RunWithoutLock([&] {
    const std::unique_ptr<OperatorBase> op = CreateOperator(def, ws.shared.get());
    for (int i = 0; i < runs; ++i) {
      if (!op->Run()) CAFFE_THROW("Error when running operator ", def.type());
    }
    return true;
  });
}

// --- plans in the background ---

class BackgroundPlan {
 public:
  BackgroundPlan(FrontendWorkspace ws, PlanDef plan) : ws_(std::move(ws)), plan_(std::move(plan)) {
    thread_ = std::thread([this] { Run(); });
  }
  // REQUIRES: the lock is not held.
  ~BackgroundPlan() { Stop(); }
  void Stop() {
    stopped_ = true;
    if (thread_.joinable()) thread_.join();
  }
  bool is_done() const { return done_; }
  bool is_succeeded() const { return succeeded_; }

 private:
  void Run() {
    try {
      const StopScope scope(stopped_);
      succeeded_ = ws_->RunPlan(plan_, OptionsOfPlans());
    } catch (...) {
      LOG(ERROR) << "plan \"" << plan_.name()
                 << "\" in the background failed: " << CurrentExceptionMessage();
    }
    done_ = true;
  }

  const FrontendWorkspace ws_;
  const PlanDef plan_;
  std::atomic<bool> stopped_{false}, done_{false}, succeeded_{false};
  std::thread thread_;
};

std::set<std::shared_ptr<BackgroundPlan>>& BackgroundPlans() {
  static auto* const plans = new std::set<std::shared_ptr<BackgroundPlan>>;
  return *plans;
}

void ForgetFinishedPlans() {
  std::erase_if(BackgroundPlans(), [](const auto& plan) { return plan->is_done(); });
}

std::shared_ptr<BackgroundPlan> RunPlanInBackground(const Text& bytes) {
  ForgetFinishedPlans();
  auto plan = std::make_shared<BackgroundPlan>(CurrentWorkspace(), Parsed<PlanDef>(bytes, "plan"));
  BackgroundPlans().insert(plan);
  return plan;
}

// --- observers ---

// Python and the net share it: either may go first.
template <class Observer>
class SharedObserver final : public ObserverBase<NetBase> {
 public:
  SharedObserver(NetBase* net, std::shared_ptr<Observer> shared)
      : ObserverBase<NetBase>(net), shared_(std::move(shared)) {}
  void Start() override { shared_->Start(); }
  void Stop() override { shared_->Stop(); }
  std::string debugInfo() override { return shared_->debugInfo(); }

 private:
  const std::shared_ptr<Observer> shared_;
};

struct FrontendObserver {
  std::shared_ptr<ObserverBase<NetBase>> shared;
  const ObserverBase<NetBase>* attached = nullptr;  // to be compared only

  const TimeObserver& timer() const {
    const auto* const time = dynamic_cast<const TimeObserver*>(shared.get());
    CAFFE_ENFORCE(time != nullptr, "the observer is not a TimeObserver: it measures no times");
    return *time;
  }
  // Programs read the number of runs from the digits of the text.
  std::string DebugInfo() const {
    const auto* const counter = dynamic_cast<const RunCountNetObserver*>(shared.get());
    if (counter == nullptr) return shared->debugInfo();
    return MakeString("operators ran ", counter->operator_runs(), " times");
  }
};

template <class Observer>
FrontendObserver Attach(NetBase* net) {
  auto shared = std::make_shared<Observer>(net);
  auto attached = std::make_unique<SharedObserver<Observer>>(net, shared);
  return {shared, net->AttachObserver(std::move(attached))};
}

FrontendObserver AddObserver(const Text& name, const Text& type) {
  NetBase* const net = NetOf(CurrentWorkspace(), name.str());
  if (type.view == "TimeObserver" || type.view == "ProfileObserver")
    return Attach<TimeObserver>(net);
  if (type.view == "RunCountObserver") return Attach<RunCountNetObserver>(net);
  CAFFE_THROW("Unknown observer type: \"", type.view,
              "\"; want TimeObserver, ProfileObserver or RunCountObserver");
}

void BindObservers(nb::module_& m) {
  nb::class_<FrontendObserver>(m, "Observer")
      .def("average_time", [](const FrontendObserver& self) { return self.timer().average_time(); })
      .def("average_time_children",
           [](const FrontendObserver& self) { return self.timer().average_time_children(); })
      .def("debug_info", &FrontendObserver::DebugInfo);
  m.def("add_observer_to_net", &AddObserver);
  m.def("remove_observer_from_net", [](const Text& name, const FrontendObserver& observer) {
    NetOf(CurrentWorkspace(), name.str())->DetachObserver(observer.attached);
  });
  m.def("num_observers_on_net",
        [](const Text& name) { return NetOf(CurrentWorkspace(), name.str())->NumObservers(); });
  m.def("clear_global_net_observer", &ClearGlobalNetObservers);
}

// --- predictors ---

class FrontendPredictor {
 public:
  FrontendPredictor(const Text& init_net, const Text& predict_net)
      : parent_(CurrentWorkspace()),
        predictor_(Parsed<NetDef>(init_net, "init net"), Parsed<NetDef>(predict_net, "predict net"),
                   parent_.shared.get()) {}

  std::vector<nb::object> RunList(const std::vector<nb::object>& inputs) {
    Predictor::TensorList list;
    for (const nb::object& input : inputs) list.push_back(Fed(input));
    return Outputs([&](Predictor::TensorList* outputs) { predictor_(list, outputs); });
  }
  std::vector<nb::object> RunMap(const std::map<std::string, nb::object>& inputs) {
    Predictor::TensorMap map;
    for (const auto& [name, input] : inputs) map[name] = Fed(input);
    return Outputs([&](Predictor::TensorList* outputs) { predictor_(map, outputs); });
  }

 private:
  static Tensor Fed(const nb::object& input) {
    CAFFE_ENFORCE(IsNumpyArray(input), "an input of the predictor is ",
                  nb::type_name(input.type()).c_str(), ", want a numpy array");
    Tensor tensor(CPU);
    FeedArray(input, &tensor);
    return tensor;
  }
  template <class Function>
  static std::vector<nb::object> Outputs(const Function& run) {
    Predictor::TensorList outputs;
    RunWithoutLock([&] { run(&outputs); });
    std::vector<nb::object> arrays;
    for (const Tensor& output : outputs) arrays.push_back(FetchTensor(output));
    return arrays;
  }

  const FrontendWorkspace parent_;
  Predictor predictor_;
};

// --- the module's functions ---

std::vector<float> BenchmarkNet(const Text& name, int warmup, int runs, bool individual) {
  NetBase* const net = NetOf(CurrentWorkspace(), name.str());
  return RunWithoutLock([&] { return net->TEST_Benchmark(warmup, runs, individual); });
}

float BenchmarkNetOnce(const Text& name) {
  NetBase* const net = NetOf(CurrentWorkspace(), name.str());
  return RunWithoutLock([&] {
    Timer timer;
    CAFFE_ENFORCE(net->Run(), "Error running net ", net->Name());
    return timer.MilliSeconds();
  });
}

template <void (*Run)(const FrontendWorkspace&, const Text&)>
bool RunInCurrent(const Text& bytes) {
  const FrontendWorkspace ws = CurrentWorkspace();
  Run(ws, bytes);
  return true;
}
template <void (*Run)(const FrontendWorkspace&, const Text&)>
bool RunIn(const FrontendWorkspace& ws, const nb::bytes& bytes) {  // a str is a TypeError
  const FrontendWorkspace kept = ws;
  Run(kept, {{bytes.c_str(), bytes.size()}});
  return true;
}

void BindRuns(nb::module_& m) {
  m.def(
      "create_net",
      [](const Text& def, bool overwrite) {
        const FrontendWorkspace ws = CurrentWorkspace();
        CreateNetIn(ws, def, overwrite);
        return true;
      },
      nb::arg("net_def"), nb::arg("overwrite") = false);
  m.def("run_net", &RunNetCatching);
  m.def("delete_net", [](const Text& name) {
    CurrentWorkspace()->DeleteNet(name.str());
    return true;
  });
  m.def("nets", [] { return CurrentWorkspace()->Nets(); });
  m.def("benchmark_net", &BenchmarkNet);
  m.def("benchmark_net_once", &BenchmarkNetOnce);
  m.def("run_operator_once", &RunInCurrent<RunOperatorIn>);
  m.def("run_operator_multiple", &RunOperatorMultiple);
  m.def("run_net_once", &RunInCurrent<RunNetOnceIn>);
  m.def("run_plan", &RunInCurrent<RunPlanIn>);
  m.def("run_plan_in_background", &RunPlanInBackground);
}

void BindClasses(nb::module_& m) {
  nb::class_<FrontendNet>(m, "Net")
      .def("run", &FrontendNet::Run)
      .def("cancel", &FrontendNet::Cancel);
  nb::class_<BackgroundPlan>(m, "BackgroundPlan")
      .def("is_done", &BackgroundPlan::is_done)
      .def("is_succeeded", &BackgroundPlan::is_succeeded);
  nb::class_<FrontendPredictor>(m, "Predictor")
      .def(nb::init<const Text&, const Text&>())
      .def("run", &FrontendPredictor::RunList)
      .def("run", &FrontendPredictor::RunMap);
}

}  // namespace

void StopBackgroundPlans() {
  const nb::gil_scoped_release unlocked;
  for (const std::shared_ptr<BackgroundPlan>& plan : BackgroundPlans()) plan->Stop();
}

void BindFrontendNets(nb::module_& m, nb::class_<FrontendWorkspace>& workspace) {
  BindClasses(m);
  BindObservers(m);
  BindRuns(m);
  workspace.def_prop_ro("nets", &NetsOf)
      .def(
          "_create_net",
          [](const FrontendWorkspace& self, const nb::bytes& bytes, bool overwrite) {
            const FrontendWorkspace ws = self;
            const Text def{{bytes.c_str(), bytes.size()}};
            CreateNetIn(ws, def, overwrite);
            return FrontendNetOf(ws, Parsed<NetDef>(def, "net").name());
          },
          nb::arg("net_def"), nb::arg("overwrite") = false)
      .def("_run_net", &RunIn<RunNetOnceIn>)
      .def("_run_operator", &RunIn<RunOperatorIn>)
      .def("_run_plan", &RunIn<RunPlanIn>);
}

}  // namespace caffe2rt
