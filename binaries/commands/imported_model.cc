#include "binaries/commands/imported_model.h"

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
#include "caffe2_core/base/text.h"
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
bool ShapeOfValue(const std::string& value, bool for_onnx, std::vector<int64_t>* dims) {
  if (PathExists(value)) {
    if (for_onnx && IsOnnxTensorFile(value)) {
      *dims = ReadOnnxTensor(value).dims();
      return true;
    }
    if (IsFolderOfInputs(value) || DetectFileKind(value).kind != FileKind::kNpy) return false;
    *dims = ReadNpy(value).dims();
    return true;
  }
  return ParseDims(value, dims);
}

}  // namespace

bool IsImportedNet(FileKind kind) {
  return kind == FileKind::kCaffeText || kind == FileKind::kCaffeModel ||
         kind == FileKind::kOnnxModel;
}

bool IsOnnxModelFile(const std::string& path) {
  if (path.empty()) return false;
  const FileKind kind = DetectFileKind(path).kind;
  return kind == FileKind::kOnnxModel || (kind == FileKind::kUnknown && path.ends_with(".onnx"));
}

bool IsOnnxTensorFile(const std::string& path) {
  const FileKind kind = DetectFileKind(path).kind;
  const bool possible =
      kind == FileKind::kUnknown || kind == FileKind::kOnnxTensor || kind == FileKind::kTensorProto;
  return kind == FileKind::kOnnxTensor || (path.ends_with(".pb") && possible);
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
                           path.ends_with(".solverstate") || path.ends_with(".onnx");
  const FileKind kind = DetectFileKind(path).kind;
  if (is_named_so || IsImportedNet(kind) || kind == FileKind::kPackedModel) return;
  CAFFE_ENFORCE(PathExists(path), "cannot open \"", path, "\": no such file");
  throw UsageError("argument \"" + path +
                   "\" is not a net of Caffe (prototxt), a model of ONNX or a packed model; want "
                   "--predict-net FILE for other nets");
}

namespace {

using Shapes = std::map<std::string, std::vector<int64_t>>;

Shapes GivenShapes(const CommandLine& line, bool for_onnx) {
  Shapes shapes;
  for (const std::string& text : line.All("input")) {
    // The names of the model's inputs are not known before it is imported; others have no effect.
    for (size_t at = text.find('=', 1); at != std::string::npos; at = text.find('=', at + 1)) {
      std::vector<int64_t> dims;
      if (ShapeOfValue(text.substr(at + 1), for_onnx, &dims)) shapes[text.substr(0, at)] = dims;
    }
  }
  return shapes;
}

Shapes InputShapes(const CommandLine& line) {
  Shapes shapes;
  for (const std::string& text : line.All("input-shape")) {
    const auto assignment = SplitAtLastEquals(text);
    std::vector<int64_t> dims;
    const bool is_scalar = assignment.has_value() && assignment->second.empty();
    if (!assignment.has_value() || (!is_scalar && !ParseDims(assignment->second, &dims))) {
      throw UsageError("option --input-shape is \"" + text +
                       "\", want BLOB=DIMS, DIMS as 1,3,224,224");
    }
    if (is_scalar) dims.clear();
    shapes[assignment->first] = dims;
  }
  return shapes;
}

}  // namespace

OnnxImportOptions OnnxImportOptionsOf(const CommandLine& line) {
  OnnxImportOptions options = {.input_shapes = InputShapes(line),
                               .given_shapes = GivenShapes(line, true)};
  for (const std::string& text : line.All("dim")) {
    const auto assignment = SplitAtLastEquals(text);
    std::vector<int64_t> number;
    if (!assignment.has_value() || !ParseDims(assignment->second, &number) || number.size() != 1) {
      throw UsageError("option --dim is \"" + text + "\", want NAME=NUMBER, such as batch=8");
    }
    options.dims[assignment->first] = number[0];
  }
  options.tolerant = line.Has("opset-tolerant");
  return options;
}

CaffeImportOptions CaffeImportOptionsOf(const CommandLine& line) {
  CaffeImportOptions options = {.input_shapes = InputShapes(line),
                                .given_shapes = GivenShapes(line, false)};
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

namespace {

NetsOfFile NetsOf(const std::string& path, NetDef init, std::vector<OperatorWeights> weights,
                  NetDef predict) {
  NetWithWeights filled = {.net = std::move(init), .weights = std::move(weights)};
  RestoreWeights(&filled);
  NameNet(&filled.net, FileStem(path) + "_init");
  NameNet(&predict, FileStem(path));
  NetsOfFile found;
  found.init_net = std::move(filled.net);
  const std::string title = MakeString("net \"", predict.name(), "\"");
  found.nets.push_back({.title = title, .role = "", .net = std::move(predict)});
  return found;
}

NetsOfFile LoadOnnxNets(const CommandLine& line, const std::string& path) {
  OnnxImportOptions options = OnnxImportOptionsOf(line);
  options.net = path;
  OnnxModel model = ImportOnnx(options);
  PrintNotes(model.notes);
  NetsOfFile found = NetsOf(path, std::move(model.init_net), std::move(model.weights),
                            std::move(model.predict_net));
  for (const OnnxInput& input : model.inputs) {
    found.input_shapes[input.name] =
        HasFixedDims(input) ? CreateTensorShape(input.dims, input.type) : UnknownShape();
  }
  found.is_onnx = true;
  return found;
}

}  // namespace

NetsOfFile LoadImportedNets(const CommandLine& line, const std::string& path, FileKind kind) {
  if (kind == FileKind::kOnnxModel) return LoadOnnxNets(line, path);
  CaffeImportOptions options = CaffeImportOptionsOf(line);
  options.net = path;
  CaffeModel model = ImportCaffe(options);
  PrintNotes(model.notes);
  NetsOfFile found = NetsOf(path, std::move(model.init_net), std::move(model.weights),
                            std::move(model.predict_net));
  for (const CaffeInput& input : model.inputs) {
    found.input_shapes[input.name] =
        input.dims.empty() ? UnknownShape() : CreateTensorShape(input.dims, TensorProto::FLOAT);
  }
  return found;
}

void PrintNotes(const std::vector<std::string>& notes) {
  std::cout.flush();
  for (const std::string& note : notes) std::cerr << "caffe2: note: " << OneLine(note) << "\n";
}

void WriteFolderOfNets(const CommandLine& line, const NetDef& init, const NetDef& predict) {
  if (!line.Has("output")) {
    throw UsageError("want --output FOLDER for init_net.pb and predict_net.pb");
  }
  const std::filesystem::path folder = line.Text("output");
  const bool text = line.Text("to") == "text";
  std::filesystem::create_directories(folder);
  for (const auto& [name, net] : {std::pair("init_net", &init), {"predict_net", &predict}}) {
    const std::string file = (folder / name).string() + (text ? ".pbtxt" : ".pb");
    WriteFileAtomically(file, text ? ProtoToText(*net) : ProtoToBinary(*net));
    std::cout << OneLine(file) << ": " << CountText(net->op_size(), "operator") << "\n";
  }
}

void ConvertImportedNet(const CommandLine& line, const std::string& path, FileKind kind) {
  if (!line.Has("output")) {
    throw UsageError("want --output FOLDER for init_net.pb and predict_net.pb");
  }
  const std::string to = line.Text("to");
  if (line.Has("to") && to != "text" && to != "binary") {
    throw UsageError("option --to is \"" + to +
                     "\", want text or binary for a model of Caffe or ONNX");
  }
  const NetsOfFile found = LoadImportedNets(line, path, kind);
  WriteFolderOfNets(line, found.init_net, found.nets[0].net);
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
