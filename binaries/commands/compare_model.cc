#include "binaries/commands/compare_model.h"

#include "binaries/commands/file_argument.h"
#include "binaries/commands/images.h"
#include "binaries/commands/imported_model.h"
#include "binaries/commands/optimizing.h"
#include "caffe2_core/graph/passes/user_operators.h"
#include "caffe2_core/inspect/blob_watch.h"
#include "caffe2_core/io/file_kind.h"

namespace caffe2rt {
namespace {

bool IsOptimized(const CommandLine& line, bool second) {
  const std::string which = line.Text("optimize");
  if (which != "first" && which != "second" && which != "both" && which != "none") {
    throw UsageError("option --optimize is \"" + which + "\", want first, second, both or none" +
                     DidYouMean(which, {"first", "second", "both", "none"}));
  }
  return which == "both" || which == (second ? "second" : "first");
}

ModelFileOptions FileOptionsOf(const CommandLine& line, const std::string& path, bool second) {
  const char* const device = second && line.Has("device2") ? "device2" : "device";
  ModelFileOptions options{.root = line.Text("root"),
                           .device = DeviceOf(line.Text(device), device),
                           .device_fallback = true};
  const FileKind kind = DetectFileKind(path).kind;
  if (IsPredictorDatabase(path, kind)) {
    options.predictor_db = path;
  } else {
    options.predict_net = path;
  }
  if (IsImportedNet(kind)) {
    options.caffe = CaffeImportOptionsOf(line);
    if (kind == FileKind::kOnnxModel) options.onnx = OnnxImportOptionsOf(line);
    if (kind != FileKind::kOnnxModel) {
      options.weights = line.Text(second && line.Has("weights2") ? "weights2" : "weights");
    }
  }
  if (kind == FileKind::kNetDef) {
    options.init_nets = line.All(second && line.Has("init-net2") ? "init-net2" : "init-net");
  }
  if (line.Has("seed")) options.seed = static_cast<uint64_t>(line.Integer("seed", 0, UINT32_MAX));
  return options;
}

}  // namespace

bool ContainsNet(const std::string& path) {
  const FileKind kind = DetectFileKind(path).kind;
  return kind == FileKind::kNetDef || IsImportedNet(kind) || kind == FileKind::kPackedModel ||
         IsPredictorDatabase(path, kind);
}

ComparedModel LoadComparedModel(const CommandLine& line, const std::string& path, bool second) {
  ComparedModel loaded;
  loaded.model = LoadModel(FileOptionsOf(line, path, second));
  for (const std::string& warning : loaded.model.warnings) Warn(warning);
  PrintNotes(loaded.model.notes);
  loaded.ws = MakeWorkspace(line, &loaded.model);
  return loaded;
}

void FeedFirst(const CommandLine& line, ComparedModel* to) {
  const std::vector<FedInput> inputs = FeedInputs(line, to->model, to->ws.get());
  for (const FedInput& input : inputs) to->fed.insert(input.blob);
  const InputImages images = FindInputImages(line, to->model, inputs);
  if (images.several) throw UsageError("option --image gives several images, want one");
  if (images.files.empty()) return;
  to->fed.insert(FeedImage(line, images, images.files[0], to->ws.get()).blob);
}

void FeedSame(const ComparedModel& from, ComparedModel* to) {
  to->fed = from.fed;
  for (const std::string& name : from.fed) {
    const std::shared_ptr<Blob> blob = from.ws->FindBlob(name);
    if (blob != nullptr) CopyBlobToCpu(*blob, to->ws->CreateBlob(name));
  }
}

void ReportCompared(const CommandLine& line, const ComparedModel& model) {
  WriteReport(line, model.preparation, model.ws->GetNet(model.model.predict_net.name()));
}

void PrepareComparison(const CommandLine& line, bool second, ComparedModel* model) {
  CheckInputsAreThere(model->model, *model->ws);
  NetDef& net = model->model.predict_net;
  if (IsOptimized(line, second)) {
    RemoveUserOperators(&net);
    const NetDef written = net;
    const PreparationOptions options =
        PreparationOptionsOf(line, model->model, model->fed, model->fed);  // of the net, too
    model->preparation = PrepareNet(std::move(net), options, model->ws.get());
    net = std::exchange(model->preparation.net, NetDef());
    model->left_out = ValuesOfPasses(written, net);
    model->from_last = CountsFromLast(written, net);
  }
  net = NetToWatch(std::move(net));
}

}  // namespace caffe2rt
