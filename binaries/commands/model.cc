#include "binaries/commands/model.h"

#include <absl/strings/str_join.h>

#include <algorithm>
#include <iostream>

#include "binaries/commands/command.h"
#include "binaries/commands/file_policy.h"
#include "binaries/commands/imported_model.h"
#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/utf8.h"
#include "caffe2_core/executors/net_types.h"
#include "caffe2_core/graph/arguments.h"
#include "caffe2_core/inspect/shape_inference_workspace.h"
#include "caffe2_core/model/device_placement.h"
#include "caffe2_core/model/fetched_blobs.h"
#include "caffe2_core/model/model_inputs.h"
#include "caffe2_core/tensor/data_type.h"
#include "caffe2_core/tensor/int8_tensor.h"

namespace caffe2rt {

std::optional<DeviceOption> DeviceOf(const std::string& text, const char* option) {
  DeviceOption device;
  if (text == "auto") return std::nullopt;
  if (text == "cpu" || ParseDevice(text, &device)) return device;
  throw UsageError(MakeString("option --", option, " is \"", text,
                              "\", want auto, cpu, cuda or cuda:N",
                              DidYouMean(text, {"auto", "cpu", "cuda"})));
}

namespace {

ModelFileOptions FileOptionsOf(const CommandLine& line) {
  const std::string predict_net = PredictNetOf(line);
  if (line.Has("predictor") == !predict_net.empty()) {
    throw UsageError(line.Has("predictor")
                         ? "--predictor and --predict-net are both given, want only one"
                         : "want --predict-net FILE or --predictor DB, see --help");
  }
  if (line.Has("predictor") && line.Has("init-net"))
    throw UsageError("--init-net is given with --predictor, which contains its own init net");
  if (!line.Has("predictor") && line.Has("db-type"))
    throw UsageError("--db-type is given without --predictor");
  ModelFileOptions options{.init_nets = line.All("init-net"),
                           .predict_net = predict_net,
                           .weights = line.Text("weights"),
                           .caffe = CaffeImportOptionsOf(line),
                           .predictor_db = line.Text("predictor"),
                           .db_type = line.Text("db-type"),
                           .db_type_remedy = "--db-type specifies it",
                           .root = line.Text("root"),
                           .device = DeviceOf(line.Text("device")),
                           .device_fallback = true,
                           .verify_packed = line.Has("verify-packed")};
  if (IsOnnxModelFile(predict_net)) options.onnx = OnnxImportOptionsOf(line);
  if (line.Has("cuda-sync")) options.net_arguments.push_back(MakeArgument("cuda_sync", 1));
  if (line.Has("cuda-graph")) options.net_arguments.push_back(MakeArgument("cuda_graph", 1));
  if (line.Has("seed")) options.seed = static_cast<uint64_t>(line.Integer("seed", 0, UINT32_MAX));
  return options;
}

}  // namespace

void Warn(const std::string& text) {
  std::cout.flush();
  std::cerr << "caffe2: warning: " << OneLine(text) << std::endl;
}

void WarnOfWorkers(const NetDef& net, const std::string& executor) {
  const std::string problem = TooManyWorkers(net, executor);
  if (!problem.empty()) Warn(problem);
}

namespace {

Model WithWarnings(Model model) {
  for (const std::string& warning : model.warnings) Warn(warning);
  PrintNotes(model.notes);
  return model;
}

}  // namespace

Model ReloadModel(const CommandLine& line) { return LoadModel(FileOptionsOf(line)); }

Model LoadModel(const CommandLine& line) { return WithWarnings(ReloadModel(line)); }

Model LoadModelForCPU(const CommandLine& line, bool has_weights_file) {
  ModelFileOptions options = FileOptionsOf(line);
  if (!has_weights_file) options.weights.clear();
  if (!options.device.has_value()) options.device.emplace();
  return WithWarnings(LoadModel(options));
}

std::unique_ptr<Workspace> MakeWorkspace(const CommandLine& line, Model* model) {
  return MakeWorkspace(line, line.Text("root"), model);
}

std::unique_ptr<Workspace> MakeWorkspace(const CommandLine& line, const std::string& root,
                                         Model* model) {
  auto ws = std::make_unique<Workspace>(root);
  ws->SetFileAccess(FileAccessOf(line, root, model->files));
  RunInitNets(model, ws.get());
  RemoveZeroPlaceholders(model, ws.get());
  return ws;
}

std::shared_ptr<ArenaStock> ArenasOf(const CommandLine& line) {
  return line.Has("no-memory-plan") ? nullptr : std::make_shared<ArenaStock>();
}

bool LacksWeights(const Model& model) {
  return model.files.size() == 1 && model.db_path.empty() && model.packed == nullptr;
}

std::string FirstNames(const std::vector<std::string>& names) {
  constexpr size_t kMost = 10;
  std::vector<std::string> shown;
  for (size_t i = 0; i < std::min(names.size(), kMost); ++i) {
    shown.push_back("\"" + Shortened(names[i]) + "\"");
  }
  const std::string text = absl::StrJoin(shown, ", ");
  return names.size() > kMost ? MakeString(text, " and ", names.size() - kMost, " more") : text;
}

void CheckInputsAreThere(const Model& model, const Workspace& ws) {
  CheckImportedShapes(model, ws);
  std::vector<std::string> missing = UnfilledInputs(model.predict_net, ws);
  for (const std::string& name : InputsThatAreOutputs(model)) {
    const bool is_listed = std::find(missing.begin(), missing.end(), name) != missing.end();
    if (!is_listed && !ws.HasBlob(name)) missing.push_back(name);
  }
  if (missing.empty()) return;
  const std::string blob = missing.size() == 1 ? Shortened(missing[0]) : "BLOB";
  const bool is_imported = !model.layer_blobs.empty();
  std::vector<ZeroPlaceholder> stated = model.zero_placeholders;
  for (const auto& [name, dims] : model.input_shapes)
    stated.push_back({.name = name, .dims = dims});
  const std::string remedy =
      !is_imported && (ws.Blobs().empty() || (LacksWeights(model) && missing.size() > 1))
          ? "; want --init-net FILE for weights, --input BLOB=FILE or --image FILE for data"
          : MakeString("; want --input ", blob, "=FILE, --input ", blob, "=SHAPE or --image FILE");
  CAFFE_THROW("net \"", model.predict_net.name(),
              "\": ", InputsNotGivenText(model.predict_net, missing, stated, ShapesOfWorkspace(ws)),
              remedy);
}

void CheckFetchedNames(const CommandLine& line, const std::vector<const NetDef*>& nets,
                       const std::vector<std::string>& existing) {
  const auto check = [&](const std::string& name, const char* option) {
    const std::string why = WhyNotFetchable(nets, name, existing);
    if (!why.empty()) throw UsageError(MakeString("option --", option, ": ", why));
  };
  for (const std::string& name : line.All("fetch")) {
    if (name != "all") check(name, "fetch");
  }
  std::set<std::string> blobs = BlobNames(nets);
  blobs.insert(existing.begin(), existing.end());
  for (const std::string& text : line.All("save-image")) {
    if (const auto assignment = SplitAssignment("save-image", text, blobs))
      check(assignment->first, "save-image");
  }
}

std::string BlobText(const Blob& blob) {
  const Tensor* tensor = FindTensor(blob);
  if (tensor == nullptr) return blob.meta().IsSet() ? std::string(blob.meta().name()) : "empty";
  if (!tensor->IsShaped()) return "tensor without shape";
  const std::string text =
      DataTypeName(tensor->meta()) + " [" + absl::StrJoin(tensor->dims(), ", ") + "]";
  if (!blob.IsType<Int8TensorCPU>()) return text;
  const auto& quantized = blob.Get<Int8TensorCPU>();
  return MakeString("quantized ", text, ", scale ", quantized.scale, ", zero point ",
                    quantized.zero_point);
}

}  // namespace caffe2rt
