#pragma once
// Predictor: runs a model as a function from tensors to tensors. A model is an init net, which
// fills the weights, and a predict net.
//
//   Predictor predictor(init_net, predict_net);
//   std::vector<Tensor> out;
//   predictor({input}, &out);        // may be called by any number of threads at once
//
//   Predictor same = predictor;      // shares the weights and the instances
//   Predictor saved = LoadPredictor("model.minidb", "minidb");
//
// Weights: all copies of a predictor and all threads share one read-only set of weights, including
// data that operators prepare from them, such as packed filters.
//
// Instances: an instance is a predict net with its own activations. Each call leases one instance.
// If all are in use, the call creates another one, or waits if PredictorOptions::max_instances
// exist already. A call that finds an idle instance takes no lock. An idle instance holds no
// activations, see PredictorOptions::plan_memory. If the net changes a weight, each instance has a
// copy of it, which starts with the loaded value and keeps what the instance's runs write: results
// then depend on the earlier runs of the instance that a call leases. The constructor logs a warning
// (SetLogThreshold) that names these weights; `max_instances = 1` makes the order of the calls decide.
//
// Results: an output tensor may share memory with the instance that computed it. If the caller
// still holds the tensor when the instance runs again, the instance allocates new memory. A result
// therefore never changes.

#include <concepts>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "caffe2_core/base/isa.h"
#include "caffe2_core/graph/precision.h"
#include "caffe2_core/graph/shape_inference.h"
#include "caffe2_core/io/file_access.h"
#include "caffe2_core/model/meta_net.h"
#include "caffe2_core/runtime/workspace.h"
#include "caffe2_core/tensor/tensor.h"
#include "caffe2rt/caffe2.pb.h"
#include "caffe2rt/metanet.pb.h"

#pragma GCC visibility push(default)
namespace caffe2rt {

class ConvTuning;
struct Model;
struct NetReport;

struct PredictorOptions {
  // The number of calls that may run at once, 1 to 1024. Further calls wait.
  int max_instances = 64;
  // If false, the init net is not run. The parent workspace must then hold the weights.
  bool run_init = true;
  // Whether operators for a device that is not available run on the CPU. If false, such operators
  // are an error.
  bool device_fallback = false;
  // Whether the activations of an instance share planned memory, which the instance holds only while
  // it runs (net_memory.h). If false, each blob of an instance keeps memory of its own.
  bool plan_memory = true;
  // While no call runs, the planned memory of this many instances is kept for the next calls, 0 to
  // 1024. That of others is freed, and allocated again when it is needed.
  int idle_arenas = 1;
  // Whether the constructor does what otherwise the first call does once (PreparedNet::PlanAhead in
  // preparation.h), as far as the shapes of the inputs are known: from input_shapes, or from a packed
  // model that was prepared for them. It needs plan_memory.
  bool plan_ahead = true;
  // Whether the memory of a weight is released when all of it can be made again from the forms that
  // the operators have prepared, as from a filter in another order. That happens in the constructor
  // and behind the first call, unless others run at the same time or ws() was called. A weight that is
  // read later, as by ws() and by other shapes, is restored to the same bytes. A filter that the net has in
  // int8 or bf16 is read again from the file that LoadModel read, or, if it comes from none, restored to the
  // numbers that the net computes with, with a warning. It is not released if it is an output or in
  // kept_blobs, or if others hold its memory.
  bool release_weights = true;
  // The files that the operators of the nets may open. If not set, the policy of the parent
  // workspace applies; without a parent, and with LoadPredictor, operators may open no files. The
  // policy does not apply to the database that LoadPredictor reads.
  std::optional<FileAccess> file_access = std::nullopt;
  // Whether graph passes optimize the net (preparation.h). Weights that the init nets fill are then
  // constants. If a call gives one of them as an input, its instance runs the net as it was written
  // from then on.
  bool optimize = true;
  // Passes that are not applied (`caffe2 optimize --passes` lists them).
  std::set<std::string> without_passes = {};
  // Blobs besides the outputs that are read from the workspace ws(). Optimization may remove all
  // others.
  std::set<std::string> kept_blobs = {};
  // Shapes of inputs as far as they are known. They guide choices; inputs may have other shapes.
  ShapeMap input_shapes = {};
  // The seed of the random numbers of the nets (Workspace::SetRandomSeed). Call n, counted from 0 over
  // all copies of the predictor, is then run n of the predict net, whichever instance it leases. If not
  // set, the seed of the model or of the parent workspace applies.
  std::optional<uint64_t> random_seed = std::nullopt;
  // The same as in PreparationOptions (preparation.h).
  bool deterministic = false;
  Precision precision = Precision::kFloat32;
  double min_snr_db = 30;
  int64_t winograd_filter_bytes = INT64_MAX;
  int threads = 0;
  std::shared_ptr<const ConvTuning> tuning = nullptr;
  std::optional<Isa> isa = std::nullopt;
};

// Caffe2's description of a predictor whose parameters are already loaded.
struct PredictorConfig {
  std::shared_ptr<NetDef> predict_net;
  std::vector<std::string> input_names;
  std::vector<std::string> output_names;
  std::vector<std::string> parameter_names;
  std::shared_ptr<Workspace> ws;  // holds the parameters
};

// Inputs may be on any device. A net that reads an input on another device is created again with
// an operator that copies it, unless it has the argument inject_copies: 0. Callers should therefore
// keep the device of an input. Outputs stay on the device of the operator that writes them.
class Predictor {
 public:
  using TensorVector = std::vector<Tensor*>;
  using TensorList = std::vector<Tensor>;
  using TensorMap = std::unordered_map<std::string, Tensor>;
  using TensorPointerMap = std::unordered_map<std::string, Tensor*>;

  // Runs `init_net` once, in a new workspace below `parent`, which may be null. The overload with
  // rvalue references copies no weights, and frees each operator of the init net after it has run.
  // THROWS if a net cannot be built, or if the init net fails. REQUIRES: `parent` outlives the
  // predictor and its copies.
  Predictor(const NetDef& init_net, const NetDef& run_net, Workspace* parent = nullptr,
            const PredictorOptions& options = {});
  Predictor(NetDef&& init_net, NetDef&& run_net, Workspace* parent = nullptr,
            const PredictorOptions& options = {});
  // Caffe2's constructor. If `optimization` is 0, the net is not optimized. `run_init` is a bool; it
  // is a template parameter so that `{}` as the fourth argument means PredictorOptions.
  template <std::integral Flag>
  Predictor(const NetDef& init_net, const NetDef& run_net, Workspace* parent, Flag run_init,
            int optimization = 1)
      : Predictor(init_net, run_net, parent,
                  PredictorOptions{.run_init = run_init != 0, .optimize = optimization != 0}) {}
  // Uses the nets under the keys GLOBAL_INIT_NET_TYPE, PREDICT_INIT_NET_TYPE and PREDICT_NET_TYPE.
  // The global init net may read the blob "!!PREDICTOR_DBREADER" of `parent`.
  explicit Predictor(const MetaNetDef& net, Workspace* parent = nullptr,
                     const PredictorOptions& options = {});
  explicit Predictor(MetaNetDef&& net, Workspace* parent = nullptr,
                     const PredictorOptions& options = {});
  // The same, but the predictor shares ownership of the parent workspace.
  Predictor(const MetaNetDef& net, std::shared_ptr<Workspace> parent,
            const PredictorOptions& options);
  explicit Predictor(const PredictorConfig& config);
  // Uses a model from LoadModel (model_file.h). Its inputs are those that no init net fills.
  explicit Predictor(Model&& model, const PredictorOptions& options = {});
  // Copies share the weights and the instances.
  Predictor(const Predictor&) = default;
  Predictor& operator=(const Predictor&) = default;
  virtual ~Predictor();

  // Runs the predict net. Inputs are given by position or by name. As in Caffe2, an input that is
  // not given keeps the value that the leased instance last had for it, also that of a weight which
  // a call gave. If calls run at once, that may be any earlier call: such callers give all inputs,
  // as the C interface and Python require. Returns true, or THROWS if there are too many inputs, if
  // a name is unknown, or if the net fails, as with an input that the instance never had. Thread
  // safe.
  virtual bool operator()(const TensorList& inputs, TensorList* outputs);
  bool operator()(const TensorMap& inputs, TensorList* outputs);
  bool operator()(const TensorMap& inputs, TensorMap* outputs);

  // Stops the calls in progress, also those of the predictor's copies: no operator starts any more,
  // and operators that wait or loop end. Calls that wait for an instance or prepare one end before
  // they run. These calls THROW RunStopped (runtime/waiting.h). Later ones are not affected. Thread
  // safe.
  void Cancel();

  // Caffe2's older interface, which runs on an instance of its own. The output pointers stay valid,
  // and the tensors unchanged, until the next call of one of these three functions, whose inputs they
  // may be. Not thread safe.
  bool run(const TensorVector& inputs, TensorVector* outputs);
  bool run_map(const TensorPointerMap& inputs, TensorVector* outputs);
  bool run_map(const TensorMap& inputs, TensorVector* outputs);

  // The net as it was written. Optimization does not change it.
  const NetDef& def() const;
  // The workspace of the instance that run and run_map use. The weights are in its parent. If the net
  // is optimized, it lacks blobs that the optimized net does not need, except
  // PredictorOptions::kept_blobs.
  Workspace* ws();
  const Workspace* ws() const;
  const std::vector<std::string>& input_names() const;
  const std::vector<std::string>& output_names() const;
  // What the preparation of the net did, and which kernels its operators run, as far as they have run,
  // of one instance. It is not the one that run and run_map use. Thread safe; waits for an instance as a
  // call does.
  NetReport Report() const;
  // The number of instances created so far, without the one that run and run_map use.
  int num_instances() const;

 private:
  class Instances;
  Predictor(std::shared_ptr<Workspace> parent, PredictorNets&& nets,
            const PredictorOptions& options);
  // Calls a small net before its first call, on zeros.
  void Rehearse();

  std::shared_ptr<Instances> shared_;  // shared by the copies of the predictor
};

// Loads a predictor that Caffe2's predictor_exporter saved into a database of any type. The key is
// "!!META_NET_DEF_<name>", or "!!META_NET_DEF" if `name` is empty. A database with a single named
// predictor may also be loaded with an empty name. THROWS if the database holds no such predictor.
Predictor LoadPredictor(const std::string& path, const std::string& db_type,
                        const std::string& name = "", const PredictorOptions& options = {});

}  // namespace caffe2rt
#pragma GCC visibility pop
