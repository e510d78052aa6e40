#pragma once
// Models in files: init nets and a predict net, or the database of a predictor.
//
//   Model model = LoadModel({.init_nets = {"init_net.pb"}, .predict_net = "predict_net.pb"});
//   Workspace ws;
//   RunInitNets(&model, &ws);                       // fills the weights, releases the init nets
//   NetBase* net = CreatePredictNet(model, &ws);
//
//   Predictor predictor(LoadModel({.predictor_db = "model.minidb"}));   // the same for threads
//
// Nothing is printed, and nothing copies the weights. What a person should know comes back as
// Model::warnings.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "caffe2rt/caffe2.pb.h"

namespace caffe2rt {

class NetBase;
class Workspace;

struct ModelFileOptions {
  // Files of NetDefs, binary or text, run in this order to fill the weights. Not with predictor_db.
  std::vector<std::string> init_nets = {};
  // The file of the net to run. Either this or predictor_db is needed.
  std::string predict_net = {};
  // A database that predictor_exporter wrote: all nets and the parameters.
  std::string predictor_db = {};
  // The type of predictor_db: minidb, leveldb, lmdb. Empty: as its content shows.
  std::string db_type = {};
  // Ends the error when the content shows no type: how the caller's user gives it.
  std::string db_type_remedy = "ModelFileOptions::db_type says which it is";
  // Where the nets' relative database paths are looked for first; then beside the net's file. The
  // root folder of the workspace that runs them.
  std::string root = ".";
  // Where the nets run. Unset: as they ask. The CPU: as they ask, and on the CPU, without a
  // warning, where a device is missing. Another device: there, as far as it has the operators.
  std::optional<DeviceOption> device = {};
  // With `device` unset, nets that ask for a missing device run on the CPU, with a warning.
  // Otherwise making them fails: a silent change of device is a surprise.
  bool device_fallback = false;
  // Set on every net, in place of an argument of the same name.
  std::vector<Argument> net_arguments = {};
  // Of the nets' random generators. Unset: as the nets say.
  std::optional<uint32_t> seed = {};
};

// Nets that are ready to run: named, names differ, databases found, devices decided. Moved only:
// the init nets hold the weights until they have run.
struct Model {
  Model() = default;
  Model(Model&&) = default;
  Model& operator=(Model&&) = default;
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;

  std::vector<NetDef> init_nets;  // in the order to run them
  NetDef predict_net;
  std::vector<std::string> inputs;   // of the predict net that no init net fills
  std::vector<std::string> outputs;  // that it declares, or makes last
  // Inputs that an init net fills with a constant in place of data, as exporters for phones did:
  // the candidates for data when `inputs` is empty.
  std::vector<std::string> placeholders;
  std::string db_path, db_type;       // of a predictor database; empty otherwise
  std::vector<std::string> files;     // from which the nets come
  std::vector<std::string> warnings;  // one line each
};

// THROWS when the options name no model or two, when a file or database cannot be read, and when
// `device` is not available.
Model LoadModel(const ModelFileOptions& options);

// Runs the init nets in `ws`, with the reader of a predictor database open in it, and releases them
// while they run (init_net.h): model->init_nets is empty afterwards. THROWS when a net fails.
void RunInitNets(Model* model, Workspace* ws);

// What the operators of the net read that nothing fills: no blob of `ws`, no operator before. In
// the order of first use.
std::vector<std::string> UnfilledInputs(const NetDef& net, const Workspace& ws);

// Makes the predict net, which belongs to `ws`. THROWS also when its type is unknown.
NetBase* CreatePredictNet(const Model& model, Workspace* ws);

}  // namespace caffe2rt
