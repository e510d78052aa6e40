#pragma once
// Loads models from files: init nets and a predict net, or a predictor database.
//
//   Model model = LoadModel({.init_nets = {"init_net.pb"}, .predict_net = "predict_net.pb"});
//   Workspace ws;
//   RunInitNets(&model, &ws);        // fills the weights and frees the init nets
//   NetBase* net = CreatePredictNet(model, &ws);
//
// For use by several threads:
//
//   Predictor predictor(LoadModel({.predictor_db = "model.minidb"}));
//
// A net of Caffe is imported (import/caffe):
//
//   Model model = LoadModel({.predict_net = "deploy.prototxt", .weights = "net.caffemodel"});
//
// and so is a model of ONNX (import/onnx):
//
//   Model model = LoadModel({.predict_net = "model.onnx"});
//
// The weights are never copied: those in a binary file are read straight into their tensors
// (caffe2_core/io/net_weights.h), those of a packed model (packed_model.h) stay in the mapped file.
// Nothing is printed; warnings are returned in Model::warnings.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "caffe2_core/import/caffe/caffe_import.h"
#include "caffe2_core/import/onnx/onnx_import.h"
#include "caffe2_core/io/net_weights.h"
#include "caffe2_core/model/image_preparation.h"
#include "caffe2rt/caffe2.pb.h"

#pragma GCC visibility push(default)
namespace caffe2rt {

class NetBase;
class PackedModel;
class Workspace;

struct ModelFileOptions {
  // Files with NetDefs, binary or text, that fill the weights. They run in this order. Must be
  // empty if predictor_db is set.
  std::vector<std::string> init_nets = {};
  // The file with the net to run: a NetDef, a net of Caffe, or a model that has its weights: one of ONNX,
  // or one that `caffe2 pack` wrote. Set either this or predictor_db.
  std::string predict_net = {};
  // The caffemodel, also in HDF5, with the weights of predict_net, a prototxt of Caffe. Without it such
  // a net is filled as its layers say for training.
  std::string weights = {};
  // How a net of Caffe is imported: shapes of inputs, phase, level and stages. The names of its files
  // are not used.
  CaffeImportOptions caffe = {};
  // How a model of ONNX is imported: shapes of inputs, numbers for its symbols. The name of its file is
  // not used.
  OnnxImportOptions onnx = {};
  // A database that Caffe2's predictor_exporter wrote. It holds all nets and the parameters.
  std::string predictor_db = {};
  // The type of predictor_db: minidb, leveldb or lmdb. If empty, it is detected from the content.
  std::string db_type = {};
  // The remedy that ends the error message if the type cannot be detected.
  std::string db_type_remedy = "set ModelFileOptions::db_type";
  // The folder in which relative database paths of the nets are searched first; the folder of the
  // net's file comes second. Must be the root folder of the workspace that runs the nets.
  std::string root = ".";
  // The device on which the nets run:
  //   - not set: the devices that the nets name. The inputs may be elsewhere: if a net names a
  //     device other than the CPU, copies between devices are inserted into all nets;
  //   - the CPU: the CPU, whatever the nets name (MoveToCPU); operators that name IDEEP stay there if it has them;
  //   - another device: that device; operators without an implementation for it run on the CPU
  //     (PlaceNet).
  std::optional<DeviceOption> device = {};
  // Used only if `device` is not set. If true, the CPU replaces, with a warning, a missing device
  // and a device without an implementation of an operator. If false, creating such a net fails,
  // because a silent change of device would be a surprise.
  bool device_fallback = false;
  // Whether to compare the checksums of a packed model, which reads its file once, at nearly the
  // speed of memory. If false, damage of weights that stay in the mapped file is not noticed. No
  // effect on other models, which have no checksums.
  bool verify_packed = false;
  // Set on every net. They replace arguments of the same name.
  std::vector<Argument> net_arguments = {};
  // The seed of the nets' random numbers (Workspace::SetRandomSeed). Seeds in device options of the
  // nets go first.
  std::optional<uint64_t> seed = {};
};

// An input that an init net fills with zeros only, so that its blob exists (model_inputs.h).
struct ZeroPlaceholder {
  std::string name;
  std::vector<int64_t> dims;  // of the zeros
  // Whether `dims` can be the shape of the input: exporters that did not know it wrote one element.
  bool HasInputShape() const;
};

// A model whose nets are ready to run: they have distinct names, their databases have been located,
// and their devices are set. Not copyable, because the init nets hold the weights until they have
// run.
struct Model {
  Model() = default;
  Model(Model&&) = default;
  Model& operator=(Model&&) = default;
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;

  std::vector<NetDef> init_nets;  // in execution order
  // Element i: weights of init_nets[i] that were read directly. The operators do not have them;
  // RunInitNets and Predictor combine both, and RestoreWeights puts them back.
  std::vector<std::vector<OperatorWeights>> init_weights;
  std::shared_ptr<const PackedModel> packed;  // the mapped file; null for other models
  NetDef predict_net;
  std::vector<std::string> inputs;   // inputs of the predict net that no init net fills
  std::vector<std::string> outputs;  // declared outputs; if none, the blobs that no operator reads
  // Inputs that an init net fills with a constant instead of data, as exporters for mobile devices
  // did. If `inputs` is empty, the data probably goes into one of these.
  std::vector<std::string> placeholders;
  // Those inputs whose constant certainly stands for no data. The net should not run on it.
  std::vector<ZeroPlaceholder> zero_placeholders;
  std::string db_path, db_type;       // of the predictor database; empty if there is none
  std::optional<uint64_t> seed;       // of the options
  std::vector<std::string> files;     // the files from which the nets were read
  std::vector<std::string> warnings;  // one line each
  // Of a model of Caffe or ONNX: the shapes of its inputs that the file states, the blob that each layer
  // or node writes, how its file prepares images, and what was left out of it or assumed.
  std::map<std::string, std::vector<int64_t>> input_shapes;
  std::map<std::string, std::string> layer_blobs;
  std::optional<CaffeTransform> caffe_transform;
  std::vector<std::string> notes;
  bool is_onnx = false;                                     // a model of ONNX
  // Of a model of ONNX, or of nets that were imported from one.
  std::map<std::string, TensorProto_DataType> input_types;
  // Of the same: of inputs and outputs whose rank is known, -1 for dims without a number.
  std::map<std::string, std::vector<int64_t>> input_dims, output_dims;
  ImagePreparation image;        // of a predictor's database that states it
  std::string fixed_size_layer;  // a layer or node that fits only input_shapes, or ""
};

// THROWS if the options name no model or two models, if a file or database cannot be read, or if
// `device` is not available.
Model LoadModel(const ModelFileOptions& options);

// The same for nets whose files are in memory, binary or text, each of less than 2 GB. Errors name them
// "init net 0" and so on, and "predict net". The weights are copied out of the bytes, straight into
// their tensors as from files; the bytes are not used after the call. They are trusted as little as
// files. `predict_net` may be a model of ONNX, without init nets. THROWS if `options` names files, and for
// models of another kind (packed).
Model LoadModelFromMemory(const std::vector<std::string_view>& init_nets,
                          std::string_view predict_net, const ModelFileOptions& options = {});

// The same for a net of Caffe: the bytes of a prototxt or a binary net, and those of its caffemodel. If
// `weights` is empty, the layers are filled as they say for training. Errors name them "net" and
// "weights". Options that do not concern files, such as ModelFileOptions::caffe, have their effects.
Model LoadCaffeModelFromMemory(std::string_view net, std::string_view weights,
                               const ModelFileOptions& options = {});

// The inputs of the net that an init net fills with a constant instead of data (Model::placeholders):
// blobs of ConstantFill that are the first input of an operator and that no earlier operator uses. If
// there are none, the first external input, provided that it is also the first input of the first
// operator.
std::vector<std::string> PlaceholdersOf(const NetDef& net, const std::vector<NetDef>& init_nets);
// Moves the init nets, with their weights, out of the model.
std::vector<NetWithWeights> TakeInitNets(Model* model);

// Sets the model's seed, if it has one, in `ws`. Runs the init nets there and frees them while they run
// (init_net.h); afterwards,
// model->init_nets is empty. For a packed model, creates its blobs instead. For a predictor
// database, first opens the reader of the parameters in `ws` (OpenParameterReader). THROWS if a net
// fails.
void RunInitNets(Model* model, Workspace* ws);

// The blobs that operators of the net read and that neither exist in `ws` nor are written by an
// earlier operator, in order of first use.
std::vector<std::string> UnfilledInputs(const NetDef& net, const Workspace& ws);

// The inputs of the model that are outputs, too, and that no operator of its net writes.
std::vector<std::string> InputsThatAreOutputs(const Model& model);

// Creates the predict net in `ws`, which owns it. THROWS if its type is unknown, or if it cannot be
// built.
NetBase* CreatePredictNet(const Model& model, Workspace* ws);

}  // namespace caffe2rt
#pragma GCC visibility pop
