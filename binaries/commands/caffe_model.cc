#include "binaries/commands/caffe_model.h"

#include <absl/strings/str_join.h>

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <utility>

#include "binaries/commands/command.h"
#include "binaries/commands/images.h"
#include "binaries/commands/input_values.h"
#include "binaries/commands/model.h"
#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/utf8.h"
#include "caffe2_core/graph/net_check.h"
#include "caffe2_core/graph/net_file.h"
#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/io/atomic_file.h"
#include "caffe2_core/io/npy.h"
#include "caffe2_core/io/proto_file.h"
#include "caffe2_core/io/standard_streams.h"
#include "caffe2_core/tensor/tensor.h"

namespace caffe2rt {
namespace {

// The shape that an --input option tells without being fed: dims, or those of an array.
bool ShapeOfValue(const std::string& value, std::vector<int64_t>* dims) {
  if (PathExists(value)) {
    if (IsFolderOfInputs(value) || DetectFileKind(value).kind != FileKind::kNpy) return false;
    *dims = ReadNpy(value).dims();
    return true;
  }
  return ParseDims(value, dims);
}

}  // namespace

bool IsCaffeNet(FileKind kind) {
  return kind == FileKind::kCaffeText || kind == FileKind::kCaffeModel;
}

std::string PredictNetOf(const CommandLine& line) {
  if (line.Has("predict-net") || line.Has("predictor") || line.positional().empty()) {
    return line.Text("predict-net");
  }
  return line.positional()[0];
}

void CheckNetArgument(const CommandLine& line) {
  const bool named = line.Has("predict-net") || line.Has("predictor");
  CheckPositional(line, 0, named ? 0 : 1, named ? "no files" : "at most one net");
  if (line.positional().empty()) return;
  const std::string& path = line.positional()[0];
  const bool is_named_so = path.ends_with(".prototxt") || path.ends_with(".caffemodel") ||
                           path.ends_with(".solverstate");
  if (is_named_so || IsCaffeNet(DetectFileKind(path).kind)) return;
  throw UsageError("argument \"" + path +
                   "\" is not a net of Caffe (prototxt); want --predict-net FILE for other nets");
}

CaffeImportOptions CaffeImportOptionsOf(const CommandLine& line) {
  CaffeImportOptions options;
  for (const std::string& text : line.All("input")) {
    const auto assignment = SplitAssignment(text);
    std::vector<int64_t> dims;
    if (!assignment.has_value() || !ShapeOfValue(assignment->second, &dims)) continue;
    options.given_shapes[assignment->first] = dims;
  }
  for (const std::string& text : line.All("input-shape")) {
    const auto assignment = SplitAssignment(text);
    std::vector<int64_t> dims;
    if (!assignment.has_value() || !ParseDims(assignment->second, &dims)) {
      throw UsageError("option --input-shape is \"" + text +
                       "\", want BLOB=DIMS, DIMS as 1,3,224,224");
    }
    options.input_shapes[assignment->first] = dims;
  }
  const std::string phase = line.Text("phase");
  if (!phase.empty() && phase != "test" && phase != "train") {
    throw UsageError("option --phase is \"" + phase + "\", want test or train");
  }
  options.train = phase == "train";
  if (line.Has("level")) options.level = line.Integer("level", INT32_MIN, INT32_MAX);
  options.stages = line.All("stage");
  options.weights = line.Text("weights");
  return options;
}

NetsOfFile LoadCaffeNets(const CommandLine& line, const std::string& path) {
  CaffeImportOptions options = CaffeImportOptionsOf(line);
  options.net = path;
  CaffeModel model = ImportCaffe(options);
  PrintNotes(model.notes);
  NetWithWeights init = {.net = std::move(model.init_net), .weights = std::move(model.weights)};
  RestoreWeights(&init);
  NameNet(&init.net, FileStem(path) + "_init");
  NameNet(&model.predict_net, FileStem(path));
  NetsOfFile found;
  for (const CaffeInput& input : model.inputs) {
    found.input_shapes[input.name] =
        input.dims.empty() ? UnknownShape() : CreateTensorShape(input.dims, TensorProto::FLOAT);
  }
  found.init_net = std::move(init.net);
  found.nets.push_back({.title = MakeString("net \"", model.predict_net.name(), "\""),
                        .role = "",
                        .net = std::move(model.predict_net)});
  return found;
}

void PrintNotes(const std::vector<std::string>& notes) {
  std::cout.flush();
  for (const std::string& note : notes) std::cerr << "caffe2: note: " << OneLine(note) << "\n";
}

void ConvertCaffeNet(const CommandLine& line, const std::string& path) {
  if (!line.Has("output")) {
    throw UsageError("want --output FOLDER for init_net.pb and predict_net.pb");
  }
  const std::filesystem::path folder = line.Text("output");
  const bool text = line.Text("to") == "text";
  if (line.Has("to") && !text && line.Text("to") != "binary") {
    throw UsageError("option --to is \"" + line.Text("to") +
                     "\", want text or binary for a net of Caffe");
  }
  const NetsOfFile found = LoadCaffeNets(line, path);
  std::filesystem::create_directories(folder);
  for (const auto& [name, net] :
       {std::pair("init_net", &found.init_net), {"predict_net", &found.nets[0].net}}) {
    const std::string file = (folder / name).string() + (text ? ".pbtxt" : ".pb");
    WriteFileAtomically(file, text ? ProtoToText(*net) : ProtoToBinary(*net));
    std::cout << OneLine(file) << ": " << net->op_size() << " operators\n";
  }
}

std::vector<std::string> BlobsOfLayers(const std::vector<std::string>& names, const Model& model) {
  const std::vector<std::string> written = NamesWrittenBy(model.predict_net);
  std::vector<std::string> blobs;
  for (const std::string& name : names) {
    const auto layer = model.layer_blobs.find(name);
    const bool is_layer = layer != model.layer_blobs.end() &&
                          std::find(written.begin(), written.end(), name) == written.end();
    blobs.push_back(is_layer ? layer->second : name);
  }
  return blobs;
}

void CheckImportedShapes(const Model& model, const Workspace& ws) {
  if (model.fixed_size_layer.empty()) return;
  for (const auto& [name, dims] : model.input_shapes) {
    const std::shared_ptr<const Blob> blob = ws.FindBlob(name);
    if (blob == nullptr || !blob->IsType<Tensor>()) continue;
    const std::vector<int64_t> got = blob->Get<Tensor>().dims();
    const bool same = got.size() == dims.size() &&
                      (got.empty() || std::equal(got.begin() + 1, got.end(), dims.begin() + 1));
    CAFFE_ENFORCE(same, "input \"", name, "\" has shape [", absl::StrJoin(got, ", "),
                  "], but layer \"", model.fixed_size_layer, "\" was imported for [",
                  absl::StrJoin(dims, ", "), "]; want --input-shape ", name, "=",
                  absl::StrJoin(got, ","));
  }
}

}  // namespace caffe2rt
