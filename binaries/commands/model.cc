#include "binaries/commands/model.h"

#include <algorithm>
#include <filesystem>
#include <iostream>

#include "binaries/commands/command.h"
#include "binaries/commands/file_policy.h"
#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/utf8.h"
#include "caffe2_core/device/context.h"
#include "caffe2_core/graph/arguments.h"
#include "caffe2_core/graph/device_fallback.h"
#include "caffe2_core/graph/net_check.h"
#include "caffe2_core/graph/net_file.h"
#include "caffe2_core/io/db.h"
#include "caffe2_core/io/file_kind.h"
#include "caffe2_core/runtime/device_placement.h"
#include "caffe2_core/runtime/predictor.h"
#include "caffe2_core/tensor/data_type.h"
#include "caffe2rt/predictor_consts.pb.h"

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

void LoadFiles(const CommandLine& line, Model* model) {
  const std::string root = line.Text("root");
  for (const std::string& file : line.All("init-net")) {
    model->init_nets.push_back(LoadNet(file));
    FindDatabases(&model->init_nets.back(), root, FolderOf(file));
    model->files.push_back(file);
  }
  model->predict_net = LoadNet(line.Text("predict-net"));
  FindDatabases(&model->predict_net, root, FolderOf(line.Text("predict-net")));
  model->files.push_back(line.Text("predict-net"));
  model->outputs = OutputsOf(model->predict_net);
}

void LoadDatabase(const CommandLine& line, Model* model) {
  model->db_path = line.Text("predictor");
  // A folder has its name and its own folder without the slash behind it.
  while (model->db_path.size() > 1 && model->db_path.ends_with('/')) model->db_path.pop_back();
  model->files.push_back(model->db_path);
  model->db_type = line.Text("db-type");
  if (model->db_type.empty()) {
    const FileKindResult found = DetectFileKind(model->db_path);
    model->db_type = DBTypeOfKind(found.kind);
    CAFFE_ENFORCE(!model->db_type.empty(), "cannot read \"", model->db_path,
                  "\" as a database: ", found.reason, "; --db-type says which it is");
  }
  const MetaNetDef meta = LoadMetaNetDef(model->db_path, model->db_type);
  for (const char* key : {"GLOBAL_INIT_NET_TYPE", "PREDICT_INIT_NET_TYPE"}) {
    for (const NetsMap& entry : meta.nets()) {
      if (entry.key() == key) model->init_nets.push_back(entry.value());
    }
  }
  model->predict_net = GetNet(meta, "PREDICT_NET_TYPE");
  model->inputs = GetBlobs(meta, "INPUTS_BLOB_TYPE");
  model->outputs = GetBlobs(meta, "OUTPUTS_BLOB_TYPE");
  if (model->outputs.empty()) model->outputs = OutputsOf(model->predict_net);
  const std::string stem = FileStem(model->db_path);
  for (NetDef& net : model->init_nets) NameNet(&net, stem + "_init");
  NameNet(&model->predict_net, stem);
}

// Names must differ within a workspace.
void MakeNamesDiffer(Model* model) {
  std::set<std::string> names;
  for (NetDef* net : AllNets(model)) {
    while (!names.insert(net->name()).second) net->set_name(net->name() + "_");
  }
}

void SetDevices(const CommandLine& line, Model* model) {
  const std::string device = line.Text("device");
  if (DeviceOption cuda; ParseDevice(device, &cuda)) {
    std::set<std::string> on_cpu;
    for (NetDef* net : AllNets(model)) {
      for (const std::string& type : PlaceNet(net, cuda)) on_cpu.insert(type);
    }
    if (!on_cpu.empty()) {
      Warn(MakeString("no form for CUDA, so on the CPU: ", Join(", ", on_cpu)));
    }
    return;
  }
  if (device != "auto" && device != "cpu") {
    throw UsageError("option --device is \"" + device + "\", want auto, cpu, cuda or cuda:N" +
                     DidYouMean(device, {"auto", "cpu", "cuda"}));
  }
  std::set<std::string> missing;
  for (NetDef* net : AllNets(model)) {
    for (const std::string& name : FallBackToCPU(net)) missing.insert(name);
  }
  if (!missing.empty() && device == "auto") {
    Warn(MakeString("net \"", model->predict_net.name(), "\" asks for ", Join(", ", missing),
                    ", which is not here: it runs on the CPU"));
  }
}

// Options that are arguments of the nets.
void SetArguments(const CommandLine& line, Model* model) {
  for (NetDef* net : AllNets(model)) {
    if (line.Has("cuda-sync")) GetMutableArgument("cuda_sync", true, net)->set_i(1);
    if (line.Has("cuda-graph")) GetMutableArgument("cuda_graph", true, net)->set_i(1);
  }
}

}  // namespace

void Warn(const std::string& text) {
  std::cout.flush();
  std::cerr << "caffe2: warning: " << OneLine(text) << std::endl;
}

Model LoadModel(const CommandLine& line) {
  Model model;
  if (line.Has("predictor") == line.Has("predict-net")) {
    throw UsageError(line.Has("predictor")
                         ? "--predictor and --predict-net are both given, want one of them"
                         : "want --predict-net FILE or --predictor DB, see --help");
  }
  if (line.Has("predictor")) {
    if (line.Has("init-net"))
      throw UsageError("--init-net is given with --predictor, which has its own");
    LoadDatabase(line, &model);
  } else {
    if (line.Has("db-type")) throw UsageError("--db-type is given without --predictor");
    LoadFiles(line, &model);
  }
  MakeNamesDiffer(&model);
  SetDevices(line, &model);
  SetArguments(line, &model);
  if (line.Has("seed")) {
    const auto seed = static_cast<uint32_t>(line.Integer("seed", 0, UINT32_MAX));
    for (NetDef* net : AllNets(&model)) net->mutable_device_option()->set_random_seed(seed);
  }
  if (model.inputs.empty()) {
    std::set<std::string> filled;
    for (const NetDef& net : model.init_nets) {
      for (const OperatorDef& op : net.op()) filled.insert(op.output().begin(), op.output().end());
    }
    for (const std::string& name : InputsOf(model.predict_net)) {
      if (!filled.contains(name)) model.inputs.push_back(name);
    }
  }
  return model;
}

std::unique_ptr<Workspace> MakeWorkspace(const Model& model, const CommandLine& line) {
  auto ws = std::make_unique<Workspace>(line.Text("root"));
  ws->SetFileAccess(FileAccessOf(line, line.Text("root"), model.files));
  if (!model.db_path.empty()) {
    ws->CreateBlob(PredictorConsts::default_instance().predictor_dbreader())
        ->Reset(new db::DBReader(model.db_type, model.db_path));
  }
  for (const NetDef& net : model.init_nets) {
    CAFFE_ENFORCE(ws->RunNetOnce(net), "net \"", net.name(), "\" failed");
  }
  return ws;
}

std::string FirstNames(const std::vector<std::string>& names) {
  constexpr size_t kMost = 10;
  std::vector<std::string> shown;
  for (size_t i = 0; i < std::min(names.size(), kMost); ++i) {
    shown.push_back("\"" + Shortened(names[i]) + "\"");
  }
  const std::string text = Join(", ", shown);
  return names.size() > kMost ? MakeString(text, " and ", names.size() - kMost, " more") : text;
}

void CheckInputsAreThere(const Model& model, const Workspace& ws) {
  std::set<std::string> made;
  std::vector<std::string> missing;
  for (const OperatorDef& op : model.predict_net.op()) {
    for (const std::string& input : op.input()) {
      if (made.insert(input).second && !ws.HasBlob(input)) missing.push_back(input);
    }
    made.insert(op.output().begin(), op.output().end());
  }
  CAFFE_ENFORCE(missing.empty(), "net \"", model.predict_net.name(), "\" reads ",
                FirstNames(missing),
                ", which nothing fills; want --input BLOB=FILE, --image or --init-net");
}

NetBase* MakeNet(const Model& model, Workspace* ws) {
  NetBase* net = ws->CreateNet(model.predict_net);
  CAFFE_ENFORCE(net != nullptr, "net \"", model.predict_net.name(), "\" has type \"",
                model.predict_net.type(), "\", which is not known");
  return net;
}

std::string BlobText(const Blob& blob) {
  if (!blob.IsType<Tensor>())
    return blob.meta().IsSet() ? std::string(blob.meta().name()) : "empty";
  const Tensor& tensor = blob.Get<Tensor>();
  if (!tensor.IsShaped()) return "tensor without shape";
  return DataTypeName(tensor.meta()) + " [" + Join(", ", tensor.dims()) + "]";
}

}  // namespace caffe2rt
