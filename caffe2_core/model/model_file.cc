#include "caffe2_core/model/model_file.h"

#include <absl/strings/str_join.h>

#include <algorithm>
#include <filesystem>
#include <new>
#include <set>
#include <utility>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/memory_budget.h"
#include "caffe2_core/base/text.h"
#include "caffe2_core/base/utf8.h"
#include "caffe2_core/device/device_type.h"
#include "caffe2_core/graph/arguments.h"
#include "caffe2_core/graph/device_fallback.h"
#include "caffe2_core/graph/net_check.h"
#include "caffe2_core/graph/net_file.h"
#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/graph/stated_inputs.h"
#include "caffe2_core/io/atomic_file.h"
#include "caffe2_core/io/file_kind.h"
#include "caffe2_core/io/proto_file.h"
#include "caffe2_core/model/caffe_model.h"
#include "caffe2_core/model/device_placement.h"
#include "caffe2_core/model/init_net.h"
#include "caffe2_core/model/meta_net.h"
#include "caffe2_core/model/model_inputs.h"
#include "caffe2_core/model/onnx_model.h"
#include "caffe2_core/model/packed_model.h"
#include "caffe2_core/runtime/workspace.h"

namespace caffe2rt {
namespace {

std::string FolderOf(const std::string& path) {
  const std::string folder = std::filesystem::path(path).parent_path().string();
  return folder.empty() ? "." : folder;
}

std::vector<NetDef*> AllNets(Model* model) {
  std::vector<NetDef*> nets;
  for (NetDef& net : model->init_nets) nets.push_back(&net);
  nets.push_back(&model->predict_net);
  return nets;
}

NetDef LoadNetFile(const std::string& file, const std::string& root, Model* model) {
  NetDef net = LoadNet(file);
  FindDatabases(&net, root, FolderOf(file));
  model->files.push_back(file);
  return net;
}

void LoadInitNet(const std::string& file, const std::string& root, Model* model) {
  std::optional<NetWithWeights> read = ReadNetWithWeights(file);
  if (!read.has_value()) {
    model->init_nets.push_back(LoadNetFile(file, root, model));
    model->init_weights.emplace_back();
    return;
  }
  NameNet(&read->net, FileStem(file));
  FindDatabases(&read->net, root, FolderOf(file));
  model->files.push_back(file);
  model->init_nets.push_back(std::move(read->net));
  model->init_weights.push_back(std::move(read->weights));
}

void LoadPacked(const ModelFileOptions& options, Model* model) {
  CAFFE_ENFORCE(options.init_nets.empty(), "init_nets are given with the packed model \"",
                options.predict_net, "\", which has its weights");
  CAFFE_ENFORCE(!options.device.has_value() || options.device->device_type() == CPU,
                "packed model \"", options.predict_net, "\" runs on the CPU only, got device ",
                DeviceTypeName(options.device->device_type()),
                "; load the nets that it was packed from");
  model->packed = PackedModel::Open(options.predict_net);
  if (options.verify_packed) model->packed->Verify();
  if (std::string note = model->packed->Note(); !note.empty()) {
    model->warnings.push_back(std::move(note));
  }
  model->predict_net = model->packed->predict_net();
  FindDatabases(&model->predict_net, options.root, FolderOf(options.predict_net));
  NameNet(&model->predict_net, FileStem(options.predict_net));
  model->files.push_back(options.predict_net);
  model->inputs = model->packed->inputs();
  model->outputs = model->packed->outputs();
  model->placeholders = model->packed->placeholders();
}

// THROWS if the init net reads blobs that nothing but the predict net fills.
void CheckNotSwapped(const ModelFileOptions& options, const Model& model) {
  if (model.init_nets.size() != 1) return;
  const std::vector<std::string> filled = NamesWrittenBy(model.predict_net);
  const std::set<std::string> by_predict_net(filled.begin(), filled.end());
  for (const std::string& input : UnfilledInputsOf(model.init_nets[0], {})) {
    CAFFE_ENFORCE(
        !by_predict_net.contains(input) || !UnfilledInputsOf(model.predict_net, {}).empty(),
        "the init net and the predict net are swapped: init net \"", options.init_nets[0],
        "\" reads blob \"", Shortened(input), "\", which predict net \"", options.predict_net,
        "\" fills");
  }
}

void LoadFiles(const ModelFileOptions& options, Model* model) {
  if (IsPackedModel(options.predict_net)) return LoadPacked(options, model);
  if (IsCaffeNetFile(options.predict_net)) return LoadCaffeModel(options, model);
  if (IsOnnxFile(options.predict_net)) return LoadOnnxModel(options, model);
  CAFFE_ENFORCE(options.weights.empty(), "weights \"", options.weights, "\" are given with \"",
                options.predict_net, "\", which is not a net of Caffe");
  for (const std::string& file : options.init_nets) LoadInitNet(file, options.root, model);
  model->predict_net = LoadNetFile(options.predict_net, options.root, model);
  CheckNotSwapped(options, *model);
  model->outputs = OutputsOf(model->predict_net);
}

std::string DatabaseType(const ModelFileOptions& options, const std::string& path) {
  if (!options.db_type.empty()) return options.db_type;
  const FileKindResult found = DetectFileKind(path);
  std::string type = DBTypeOfKind(found.kind);
  if (!type.empty()) return type;
  std::error_code ignored;
  if (!std::filesystem::is_directory(path, ignored))
    (void)OpenForReading(path);  // THROWS if absent
  CAFFE_ENFORCE(found.kind == FileKind::kUnknown, "cannot read \"", path,
                "\" as a database: it is ", FileKindDescription(found.kind));
  CAFFE_THROW("cannot read \"", path, "\" as a database: ", found.reason, "; ",
              options.db_type_remedy);
}

void LoadDatabase(const ModelFileOptions& options, Model* model) {
  model->db_path = options.predictor_db;
  // FileStem needs the path of a folder without trailing slashes.
  while (model->db_path.size() > 1 && model->db_path.ends_with('/')) model->db_path.pop_back();
  model->files.push_back(model->db_path);
  model->db_type = DatabaseType(options, model->db_path);
  PredictorNets nets = TakeNets(LoadMetaNetDef(model->db_path, model->db_type));
  model->init_nets = std::move(nets.init_nets);
  model->predict_net = std::move(nets.predict_net);
  model->inputs = std::move(nets.inputs);
  model->outputs = std::move(nets.outputs);
  model->image = std::move(nets.image);
  if (model->outputs.empty()) model->outputs = OutputsOf(model->predict_net);
  const std::string stem = FileStem(model->db_path);
  for (NetDef& net : model->init_nets) NameNet(&net, stem + "_init");
  NameNet(&model->predict_net, stem);
}

// The names of the nets in a workspace must be distinct.
void MakeNamesDiffer(Model* model) {
  std::set<std::string> names;
  for (NetDef* net : AllNets(model)) {
    while (!names.insert(net->name()).second) net->set_name(net->name() + "_");
  }
}

std::set<std::string> AsSet(const std::vector<std::string>& names) {
  return {names.begin(), names.end()};
}

void Warn(std::string text, Model* model) {
  if (!text.empty()) model->warnings.push_back(std::move(text));
}

// A warning about operators that run on the CPU; empty if there are none.
std::string OnCpuText(const std::string& device, const std::set<std::string>& types) {
  if (types.empty()) return "";
  return MakeString("operators without an implementation for ", device,
                    " run on the CPU: ", absl::StrJoin(types, ", "));
}

void PlaceNets(const DeviceOption& device, Model* model) {
  std::set<std::string> on_cpu;
  for (NetDef* net : AllNets(model)) on_cpu.merge(AsSet(PlaceNet(net, device)));
  Warn(OnCpuText(DeviceTypeName(device.device_type()), on_cpu), model);
}

// Lets the CPU run what the machine or the library cannot run on the devices that the nets name.
void FallBack(Model* model) {
  std::set<std::string> missing;
  for (NetDef* net : AllNets(model)) missing.merge(AsSet(FallBackToCPU(net)));
  if (!missing.empty()) {
    Warn(MakeString("net \"", model->predict_net.name(), "\" asks for ",
                    absl::StrJoin(missing, ", "), ", which is not available: it runs on the CPU"),
         model);
  }
  std::set<std::string> on_cpu;
  for (NetDef* net : AllNets(model)) on_cpu.merge(AsSet(MoveUnsupportedToCPU(net)));
  Warn(OnCpuText("the device that they name", on_cpu), model);
}

void SetDevices(const ModelFileOptions& options, Model* model) {
  if (options.device.has_value() && options.device->device_type() != CPU)
    return PlaceNets(*options.device, model);
  if (options.device.has_value()) {
    for (NetDef* net : AllNets(model)) {
      MoveToCPU(net);
      (void)MoveUnsupportedToCPU(net);  // of operators that IDEEP lacks
    }
  } else if (options.device_fallback) {
    FallBack(model);
  }
  // Inputs and weights may be on other devices than the operators that read them.
  const std::vector<NetDef*> nets = AllNets(model);
  if (std::none_of(nets.begin(), nets.end(), [](const NetDef* net) { return NamesADevice(*net); }))
    return;
  for (NetDef* net : nets) RequestDeviceCopies(net);
}

void SetArguments(const ModelFileOptions& options, Model* model) {
  model->seed = options.seed;
  for (NetDef* net : AllNets(model)) {
    for (const Argument& argument : options.net_arguments) {
      *GetMutableArgument(argument.name(), true, net) = argument;
    }
  }
}

// The blobs that the init nets fill with one value.
std::set<std::string> ConstantsOf(const std::vector<NetDef>& init_nets) {
  std::set<std::string> constants;
  for (const NetDef& net : init_nets) {
    for (const OperatorDef& op : net.op()) {
      if (op.output_size() != 1 || TraitsOf(op.type()).fill != FillForm::kConstant) continue;
      constants.insert(op.output(0));
    }
  }
  return constants;
}

// Nets that were imported from ONNX state their inputs.
void TakeStatedInputs(Model* model) {
  for (const auto& [name, input] : StatedInputs(model->predict_net)) {
    model->input_types.emplace(name, input.type);
    if (input.has_dims) model->input_dims.emplace(name, input.dims);
  }
  for (const auto& [name, dims] : StatedOutputs(model->predict_net)) {
    model->output_dims.emplace(name, dims);
  }
}

void FindInputs(Model* model) {
  if (model->packed != nullptr) return;
  if (model->is_onnx) return;  // the file lists its inputs: one without any computes constants
  std::vector<const NetDef*> init_nets;
  for (const NetDef& net : model->init_nets) init_nets.push_back(&net);
  model->placeholders = PlaceholdersOf(model->predict_net, model->init_nets);
  model->zero_placeholders =
      ZeroPlaceholdersOf(model->predict_net, init_nets, model->init_weights, model->inputs);
  if (model->inputs.empty()) model->inputs = UnfilledInputsOf(model->predict_net, init_nets);
}

// What remains to be done when the nets have been read.
void Finish(const ModelFileOptions& options, Model* model) {
  MakeNamesDiffer(model);
  SetDevices(options, model);
  SetArguments(options, model);
  TakeStatedInputs(model);
  FindInputs(model);
}

// --- models in memory ---

void CheckNamesNoFiles(const ModelFileOptions& options) {
  CAFFE_ENFORCE(options.init_nets.empty() && options.predict_net.empty() &&
                    options.predictor_db.empty() && options.db_type.empty() &&
                    options.weights.empty(),
                "the options of a model in memory name files, want none");
}

void CheckIsNoCaffeNet(std::string_view predict_net) {
  const FileKindResult found =
      DetectContentKind(predict_net, static_cast<int64_t>(predict_net.size()));
  const bool is_caffe = found.kind == FileKind::kCaffeText || found.kind == FileKind::kCaffeModel;
  CAFFE_ENFORCE(!is_caffe || found.weak, "cannot read \"predict net\" as NetDef: it is ",
                FileKindDescription(found.kind),
                "; load it with LoadCaffeModelFromMemory (caffe2rt_load_caffe_from_memory in C)");
}

void ReadInitNet(std::string_view bytes, const std::string& subject, Model* model) {
  std::optional<NetWithWeights> read = ReadNetWithWeightsFromMemory(bytes);
  if (!read.has_value()) ParseProto(bytes, subject, &read.emplace().net);
  NameNet(&read->net, "init_net");
  model->init_nets.push_back(std::move(read->net));
  model->init_weights.push_back(std::move(read->weights));
}

}  // namespace

std::vector<std::string> PlaceholdersOf(const NetDef& net, const std::vector<NetDef>& init_nets) {
  const std::set<std::string> constants = ConstantsOf(init_nets);
  std::vector<std::string> found;
  std::set<std::string> made;
  std::string first;
  for (const OperatorDef& op : net.op()) {
    for (int i = 0; i < op.input_size(); ++i) {
      if (!made.insert(op.input(i)).second || i > 0) continue;
      if (constants.contains(op.input(i))) found.push_back(op.input(i));
      if (first.empty()) first = op.input(i);
    }
    made.insert(op.output().begin(), op.output().end());
  }
  if (found.empty() && !first.empty() && net.external_input_size() > 0 &&
      net.external_input(0) == first) {
    found.push_back(first);
  }
  return found;
}

Model LoadModel(const ModelFileOptions& options) try {
  CAFFE_ENFORCE(options.predict_net.empty() != options.predictor_db.empty(),
                "a model is loaded from predict_net or from predictor_db, want one of them, got \"",
                options.predict_net, "\" and \"", options.predictor_db, "\"");
  Model model;
  if (options.predict_net.empty()) {
    CAFFE_ENFORCE(options.init_nets.empty(), "init_nets are given with predictor_db \"",
                  options.predictor_db, "\", which has its own");
    LoadDatabase(options, &model);
  } else {
    CAFFE_ENFORCE(options.db_type.empty(), "db_type \"", options.db_type,
                  "\" is given without predictor_db");
    LoadFiles(options, &model);
  }
  Finish(options, &model);
  return model;
} catch (const std::bad_alloc&) {
  ThrowOutOfMemory();
}

Model LoadModelFromMemory(const std::vector<std::string_view>& init_nets,
                          std::string_view predict_net, const ModelFileOptions& options) try {
  CheckNamesNoFiles(options);
  Model model;
  if (IsOnnxContent(predict_net)) {
    CAFFE_ENFORCE(init_nets.empty(),
                  CountText(init_nets.size(), "init net is given", "init nets are given"),
                  " with a model of ONNX, which has its weights");
    LoadOnnxBytes(predict_net, options, &model);
    Finish(options, &model);
    return model;
  }
  for (const std::string_view bytes : init_nets) {
    ReadInitNet(bytes, MakeString("init net ", model.init_nets.size()), &model);
  }
  CheckIsNoCaffeNet(predict_net);
  ParseProto(predict_net, "predict net", &model.predict_net);
  NameNet(&model.predict_net, "predict_net");
  model.outputs = OutputsOf(model.predict_net);
  Finish(options, &model);
  return model;
} catch (const std::bad_alloc&) {
  ThrowOutOfMemory();
}

Model LoadCaffeModelFromMemory(std::string_view net, std::string_view weights,
                               const ModelFileOptions& options) try {
  CheckNamesNoFiles(options);
  CAFFE_ENFORCE(!net.empty(), "the net of Caffe in memory is empty, want the bytes of a prototxt");
  Model model;
  LoadCaffeBytes(net, weights, options, &model);
  Finish(options, &model);
  return model;
} catch (const std::bad_alloc&) {
  ThrowOutOfMemory();
}

std::vector<NetWithWeights> TakeInitNets(Model* model) {
  CAFFE_ENFORCE(model != nullptr, "argument model of TakeInitNets is null");
  std::vector<NetDef> nets = std::exchange(model->init_nets, {});
  std::vector<std::vector<OperatorWeights>> weights = std::exchange(model->init_weights, {});
  weights.resize(nets.size());
  std::vector<NetWithWeights> taken;
  for (size_t i = 0; i < nets.size(); ++i) {
    taken.push_back({.net = std::move(nets[i]), .weights = std::move(weights[i])});
  }
  return taken;
}

void RunInitNets(Model* model, Workspace* ws) try {
  CAFFE_ENFORCE(model != nullptr && ws != nullptr, "an argument of RunInitNets is null");
  if (model->seed.has_value()) ws->SetRandomSeed(model->seed);
  if (!model->db_path.empty()) OpenParameterReader(model->db_path, model->db_type, ws);
  if (model->packed != nullptr) model->packed->CreateBlobs(ws);
  for (NetWithWeights& net : TakeInitNets(model)) RunInitNet(std::move(net), ws);
} catch (const std::bad_alloc&) {
  ThrowOutOfMemory();
}

std::vector<std::string> UnfilledInputs(const NetDef& net, const Workspace& ws) {
  return UnfilledInputs(net, [&](const std::string& name) { return ws.HasBlob(name); });
}

std::vector<std::string> InputsThatAreOutputs(const Model& model) {
  const std::vector<std::string> written = NamesWrittenBy(model.predict_net);
  std::vector<std::string> found;
  for (const std::string& name : model.inputs) {
    const auto is_in = [&](const std::vector<std::string>& names) {
      return std::find(names.begin(), names.end(), name) != names.end();
    };
    if (is_in(model.outputs) && !is_in(written)) found.push_back(name);
  }
  return found;
}

NetBase* CreatePredictNet(const Model& model, Workspace* ws) try {
  CAFFE_ENFORCE(ws != nullptr, "argument ws of CreatePredictNet is null");
  NetBase* net = ws->CreateNet(model.predict_net);
  CAFFE_ENFORCE(net != nullptr, "net \"", model.predict_net.name(), "\" has type \"",
                model.predict_net.type(), "\", which is not known");
  return net;
} catch (const std::bad_alloc&) {
  ThrowOutOfMemory();
}

}  // namespace caffe2rt
