#pragma once
// Nets: lists of operators that are bound to the blobs of a workspace.

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "caffe2_core/base/registry.h"
#include "caffe2_core/runtime/observer.h"
#include "caffe2_core/runtime/operator.h"

#pragma GCC visibility push(default)
namespace caffe2rt {

class Workspace;

// Base class of all nets.
//
// Errors: a run that fails throws EnforceNotMet. Its frames name the net, the position and type of
// the operator, and the shapes of the inputs.
//
// Thread safety: a net may be used by only one thread at a time, except for Cancel.
class NetBase : public Observable<NetBase> {
 public:
  // THROWS in the following cases:
  //   - an operator sets node_name;
  //   - `def` lists external inputs, and an operator reads a blob that is neither an external input
  //     nor written by an earlier operator;
  //   - an external output is neither an external input nor written by any operator.
  NetBase(const std::shared_ptr<const NetDef>& def, Workspace* ws);
  ~NetBase() override;

  // Runs the net and waits for it.
  virtual bool Run();
  // RunAsync starts a run; Wait waits until it has ended, and THROWS what Run would throw. If
  // SupportsAsync, RunAsync may return before that. Otherwise it is Run. The thread's scopes that
  // hold for the run must exist until Wait has returned.
  virtual bool RunAsync() { return Run(); }
  virtual void Wait() {}
  virtual bool SupportsAsync() { return false; }
  // Stops the run in progress, if there is one: no operator starts any more, and operators that wait
  // or loop end. Run THROWS RunStopped (waiting.h), with the frame of an operator that was not run.
  // Thread safe.
  virtual void Cancel() { cancelled_.store(true, std::memory_order_relaxed); }

  // Lets the operators draw their random numbers from streams that the seed, the name of the
  // operator's stream (graph/random_streams.h) and the number of the run determine, except for operators
  // whose device option has a random_seed. The next run gets the number 0. CreateNet calls it with the
  // seed of the workspace. nullopt: the numbers differ in every process. Not to be called during a run.
  void SetRandomSeed(std::optional<uint64_t> seed);
  // The number of the next run, which also counts runs that failed. A net that continues the work of
  // another one sets it. Has no effect without a seed.
  uint64_t next_run() const { return random_runs_.next_run(); }
  void SetNextRun(uint64_t run) { random_runs_.set_next_run(run); }
  // Lets the operators draw from streams of the operator that runs this net, at `place`.
  // REQUIRES: `place` outlives the net.
  void SetRandomParent(RandomPlace* place);
  // Begins the random numbers of the next run. Run calls it; for callers that start the operators
  // themselves.
  void BeginRandomNumbers() { random_runs_.Begin(); }

  virtual std::vector<OperatorBase*> GetOperators() const = 0;
  const std::vector<std::string>& external_input() const { return external_input_; }
  const std::vector<std::string>& external_output() const { return external_output_; }
  const std::string& Name() const { return name_; }
  const NetDef& debug_def() const { return *def_; }
  bool has_debug_def() const { return true; }

  // Runs the net `warmup_runs` times, then measures `main_runs` further runs and prints the results
  // to stdout. Returns the mean time of a run in milliseconds. If `run_individual` is set, each
  // operator is also measured on its own, and its mean time is appended to the result.
  virtual std::vector<float> TEST_Benchmark(int warmup_runs, int main_runs, bool run_individual);

 protected:
  // A derived class overrides one of them. DoRun runs the operators and waits for them; the default
  // calls DoRunAsync and then Wait. DoRunAsync may return earlier. Both return whether all
  // operators succeeded (DoRunAsync: whether they could be started).
  virtual bool DoRun();
  virtual bool DoRunAsync();
  // Whether Cancel was called. An executor sets it to false when a run begins.
  std::atomic<bool>& cancelled() { return cancelled_; }

 private:
  void NameRandomPlaces();

  const std::string name_;
  const std::shared_ptr<const NetDef> def_;
  std::vector<std::string> external_input_;
  std::vector<std::string> external_output_;
  std::atomic<bool> cancelled_{false};
  RandomRuns random_runs_;
  bool has_random_places_ = false;
};

using NetRegistry = Registry<std::string, std::unique_ptr<NetBase>,
                             const std::shared_ptr<const NetDef>&, Workspace*>;
NetRegistry* GetNetRegistry();
bool IsKnownNetType(const std::string& type);

// Creates a net of the type that `def` names; an empty type means `simple`. Returns null for an
// unknown type. THROWS if the net cannot be built. Missing copies between devices are inserted
// (net_copies.h).
std::unique_ptr<NetBase> CreateNet(const NetDef& def, Workspace* ws);
std::unique_ptr<NetBase> CreateNet(const std::shared_ptr<const NetDef>& def, Workspace* ws);

// A global creator is called for every net that is created afterwards. The observer that it returns
// is attached to the net, unless it is null. Thread safe.
using NetObserverCreator = std::function<std::unique_ptr<ObserverBase<NetBase>>(NetBase*)>;
void AddGlobalNetObserverCreator(NetObserverCreator creator);
void ClearGlobalNetObservers();
bool HasGlobalNetObservers();

namespace internal {

// Defined in net_types.cc.
void RegisterBuiltinNets(NetRegistry* registry);

struct NetRegisterer {
  NetRegisterer(const std::string& type, NetRegistry::Creator creator, const char* file) {
    GetNetRegistry()->Register(type, std::move(creator), file);
  }
};

}  // namespace internal

// Register a user's executor under the net type `name`: REGISTER_NET names its class,
// REGISTER_NET_CREATOR a function that creates it. Use at namespace scope.
#define REGISTER_NET(name, ...)                                                          \
  [[maybe_unused]] static const ::caffe2rt::internal::NetRegisterer caffe2rt_net_##name( \
      #name,                                                                             \
      [](const std::shared_ptr<const ::caffe2rt::NetDef>& def,                           \
         ::caffe2rt::Workspace* ws) -> std::unique_ptr<::caffe2rt::NetBase> {            \
        return std::make_unique<__VA_ARGS__>(def, ws);                                   \
      },                                                                                 \
      __FILE__)
#define REGISTER_NET_CREATOR(name, ...)                                                  \
  [[maybe_unused]] static const ::caffe2rt::internal::NetRegisterer caffe2rt_net_##name( \
      #name, __VA_ARGS__, __FILE__)

}  // namespace caffe2rt
#pragma GCC visibility pop
