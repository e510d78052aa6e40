#pragma once
// Predictor: an init net and a predict net as a function from tensors to tensors.
//
//   Predictor predictor(init_net, predict_net);
//   std::vector<Tensor> out;
//   predictor({input}, &out);                      // any number of threads at once
//
//   Predictor same = predictor;                    // shares weights, their forms and instances
//   Predictor saved = LoadPredictor("model.minidb", "minidb");
//
// Weights and their prepared forms are held once, read-only, by all copies and threads. A call
// leases an instance: a net with activations of its own. The first call of a thread beyond the
// instances there are makes one (up to the option); warm calls take no lock. Results are values
// that share storage with the instance until it runs again: a result that is still held then keeps
// its memory, and the instance takes new.

#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "caffe2_core/io/file_access.h"
#include "caffe2_core/runtime/meta_net.h"
#include "caffe2_core/runtime/workspace.h"
#include "caffe2_core/tensor/tensor.h"
#include "caffe2rt/caffe2.pb.h"
#include "caffe2rt/metanet.pb.h"

namespace caffe2rt {

struct Model;

struct PredictorOptions {
  // Calls that may run at once; a further call waits for one to end.
  int max_instances = 64;
  // Run the init net; without it the weights are expected in the parent workspace.
  bool run_init = true;
  // Nets that ask for a device which is not here run on the CPU.
  bool device_fallback = false;
  // Which files the nets' operators may open. Unset: the parent workspace's policy; without a
  // parent, and for LoadPredictor, none. What LoadPredictor itself reads is the caller's path.
  std::optional<FileAccess> file_access = std::nullopt;
};

// What a predictor is made of, in Caffe2's later form.
struct PredictorConfig {
  std::shared_ptr<NetDef> predict_net;
  std::vector<std::string> input_names;
  std::vector<std::string> output_names;
  std::vector<std::string> parameter_names;
  std::shared_ptr<Workspace> ws;  // holds the parameters
};

class Predictor {
 public:
  using TensorVector = std::vector<Tensor*>;
  using TensorList = std::vector<Tensor>;
  using TensorMap = std::unordered_map<std::string, Tensor>;
  using TensorPointerMap = std::unordered_map<std::string, Tensor*>;

  // Runs `init_net` once, in a workspace below `parent`. THROWS what the nets do. With nets that
  // are moved in nothing copies the weights, and the init net is released while it runs.
  Predictor(const NetDef& init_net, const NetDef& run_net, Workspace* parent = nullptr,
            bool run_init = true, int optimization = 1);
  Predictor(const NetDef& init_net, const NetDef& run_net, Workspace* parent,
            const PredictorOptions& options);
  Predictor(NetDef&& init_net, NetDef&& run_net, Workspace* parent = nullptr,
            const PredictorOptions& options = {});
  // Nets by the keys GLOBAL_INIT_NET_TYPE, PREDICT_INIT_NET_TYPE and PREDICT_NET_TYPE. The global
  // init net may read the blob "!!PREDICTOR_DBREADER" of `parent`.
  explicit Predictor(const MetaNetDef& net, Workspace* parent = nullptr,
                     const PredictorOptions& options = {});
  explicit Predictor(MetaNetDef&& net, Workspace* parent = nullptr,
                     const PredictorOptions& options = {});
  // The same, keeping the parent workspace alive.
  Predictor(const MetaNetDef& net, std::shared_ptr<Workspace> parent,
            const PredictorOptions& options);
  explicit Predictor(const PredictorConfig& config);
  // What LoadModel gives (model_file.h). Inputs are those that no init net fills.
  explicit Predictor(Model&& model, const PredictorOptions& options = {});
  // Copies share everything.
  Predictor(const Predictor&) = default;
  Predictor& operator=(const Predictor&) = default;
  virtual ~Predictor();

  // Inputs by position (at most as many as there are; the others keep what they had), or by name
  // (THROWS for an unknown one). Thread safe. True, or THROWS.
  virtual bool operator()(const TensorList& inputs, TensorList* outputs);
  bool operator()(const TensorMap& inputs, TensorList* outputs);
  bool operator()(const TensorMap& inputs, TensorMap* outputs);

  // Caffe2's older form: the pointers stay valid, and their contents unchanged, until the next run
  // of this form. One thread at a time.
  bool run(const TensorVector& inputs, TensorVector* outputs);
  bool run_map(const TensorPointerMap& inputs, TensorVector* outputs);
  bool run_map(const TensorMap& inputs, TensorVector* outputs);

  const NetDef& def() const;
  // The workspace of the older form's net; weights are in its parent.
  Workspace* ws();
  const Workspace* ws() const;
  const std::vector<std::string>& input_names() const;
  const std::vector<std::string>& output_names() const;
  // Instances made so far.
  int num_instances() const;

 private:
  class Instances;
  Predictor(std::shared_ptr<Workspace> parent, PredictorNets&& nets,
            const PredictorOptions& options);

  std::shared_ptr<Instances> shared_;  // shared: copies and calls in flight
};

// A predictor saved by predictor_exporter into a database of any type, under the key
// "!!META_NET_DEF", or "!!META_NET_DEF_<name>" (the only one there, when `name` is empty and the
// plain key is missing). THROWS when there is none.
Predictor LoadPredictor(const std::string& path, const std::string& db_type,
                        const std::string& name = "", const PredictorOptions& options = {});

}  // namespace caffe2rt
