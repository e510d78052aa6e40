#pragma once
// Nets: lists of operators bound to the blobs of a workspace.

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "caffe2_core/base/registry.h"
#include "caffe2_core/runtime/observer.h"
#include "caffe2_core/runtime/operator.h"

namespace caffe2rt {

class Workspace;

// One thread runs a net at a time. Failures THROW EnforceNotMet with frames: net, position,
// operator, inputs with shapes.
class NetBase : public Observable<NetBase> {
 public:
  // Checks the def: node_name unset, inputs declared or made earlier, outputs made. THROWS
  // otherwise.
  NetBase(const std::shared_ptr<const NetDef>& def, Workspace* ws);
  ~NetBase() override;

  // Runs and waits.
  virtual bool Run();
  virtual bool RunAsync() { return Run(); }
  virtual void Wait() {}
  virtual bool SupportsAsync() { return false; }
  virtual void Cancel() {}

  virtual std::vector<OperatorBase*> GetOperators() const = 0;
  const std::vector<std::string>& external_input() const { return external_input_; }
  const std::vector<std::string>& external_output() const { return external_output_; }
  const std::string& Name() const { return name_; }
  const NetDef& debug_def() const { return *def_; }
  bool has_debug_def() const { return true; }

  // Times `main_runs` runs after `warmup_runs`; prints a table to stdout. Returns ms per run, then
  // per operator when `run_individual`.
  virtual std::vector<float> TEST_Benchmark(int warmup_runs, int main_runs, bool run_individual);

 protected:
  virtual bool DoRun() = 0;

 private:
  const std::string name_;
  const std::shared_ptr<const NetDef> def_;
  std::vector<std::string> external_input_;
  std::vector<std::string> external_output_;
};

using NetRegistry = Registry<std::string, std::unique_ptr<NetBase>,
                             const std::shared_ptr<const NetDef>&, Workspace*>;
NetRegistry* GetNetRegistry();
// Whether a net type is known, and whether it still runs as `simple` here (its executor is not
// there yet).
bool IsKnownNetType(const std::string& type);
bool RunsAsSimple(const std::string& type);

// A net of the def's type ("" and absent: simple). Null for an unknown type; THROWS when it cannot
// be built. A net of several devices gets the copies between them that it lacks (net_copies.h).
std::unique_ptr<NetBase> CreateNet(const NetDef& def, Workspace* ws);
std::unique_ptr<NetBase> CreateNet(const std::shared_ptr<const NetDef>& def, Workspace* ws);

// Attached to every net made afterwards; null results are ignored.
using NetObserverCreator = std::function<std::unique_ptr<ObserverBase<NetBase>>(NetBase*)>;
void AddGlobalNetObserverCreator(NetObserverCreator creator);
void ClearGlobalNetObservers();
bool HasGlobalNetObservers();

namespace internal {
struct NetRegisterer {
  NetRegisterer(const std::string& type, NetRegistry::Creator creator, const char* file) {
    GetNetRegistry()->Register(type, std::move(creator), file);
  }
};
}  // namespace internal

// For users' executors.
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
