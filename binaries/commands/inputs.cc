// Reads the inputs of a net: arrays, protos, random values; images.cc reads images.

#include <absl/strings/str_join.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "binaries/commands/command.h"
#include "binaries/commands/images.h"
#include "binaries/commands/imported_model.h"
#include "binaries/commands/input_values.h"
#include "binaries/commands/model.h"
#include "caffe2_core/base/enforce.h"
#include "caffe2_core/graph/net_blobs.h"
#include "caffe2_core/io/blob_serialization.h"
#include "caffe2_core/io/file_kind.h"
#include "caffe2_core/io/npy.h"
#include "caffe2_core/io/proto_file.h"
#include "caffe2_core/io/standard_streams.h"
#include "caffe2_core/model/model_inputs.h"

namespace caffe2rt {
namespace {

namespace fs = std::filesystem;

// Random values in [0, 1). A seed gives the same values on every machine (Steele et al. 2014,
// splitmix64).
Tensor RandomTensor(const std::vector<int64_t>& dims, uint64_t seed) {
  Tensor tensor(dims, CPU);
  float* to = tensor.mutable_data<float>();
  uint64_t state = seed;
  for (int64_t i = 0; i < tensor.numel(); ++i) {
    uint64_t z = (state += 0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    to[i] = static_cast<float>((z ^ (z >> 31)) >> 40) * 0x1p-24f;
  }
  return tensor;
}

Tensor RandomInput(const std::string& option, const std::vector<int64_t>& dims, uint64_t seed) try {
  return RandomTensor(dims, seed);
} catch (EnforceNotMet& error) {
  error.AppendMessage("option --input " + option);
  throw;
}

Tensor Deserialized(const TensorProto& proto) {
  Tensor tensor(CPU);
  TensorDeserializer().Deserialize(proto, &tensor);
  return tensor;
}

// Reads all tensors of a file, with their names ("" if the format has none).
NamedTensors ReadTensors(const CommandLine& line, const std::string& file, bool for_onnx,
                         std::string* source) {
  *source = SourceName(file);
  if (for_onnx && IsOnnxTensorFile(file)) return {{"", ReadOnnxTensor(file)}};
  const FileKindResult found = DetectFileKind(file);
  switch (found.kind) {
    case FileKind::kNpy:
      return {{"", ReadNpy(file)}};
    case FileKind::kNpz:
    case FileKind::kZip:
      return ReadNpz(file);
    case FileKind::kJpeg:
    case FileKind::kPng:
      return {{"", ImageReader(line).Read(file, source)}};
    case FileKind::kTensorProto: {
      TensorProto proto;
      LoadProto(file, &proto);
      return {{proto.name(), Deserialized(proto)}};
    }
    case FileKind::kTensorProtos: {
      TensorProtos protos;
      LoadProto(file, &protos);
      NamedTensors tensors;
      for (const TensorProto& proto : protos.protos())
        tensors.emplace_back(proto.name(), Deserialized(proto));
      return tensors;
    }
    case FileKind::kBlobProto: {
      NamedTensors tensors;
      for (const BlobProto& proto : LoadBlobProtos(file)) {
        CAFFE_ENFORCE(proto.has_tensor(), "cannot read \"", file, "\" as an input: its blob \"",
                      proto.name(), "\" is a \"", proto.type(), "\"");
        tensors.emplace_back(proto.name(), Deserialized(proto.tensor()));
      }
      return tensors;
    }
    default:
      CAFFE_THROW("cannot read \"", file, "\" as an input: ",
                  found.kind == FileKind::kUnknown ? found.reason
                                                   : "it is " + FileKindDescription(found.kind),
                  "; want .npy, .npz, TensorProto(s), JPEG or PNG");
  }
}

// Returns the tensor named `blob`, or the only tensor of the file.
Tensor PickTensor(const NamedTensors& tensors, const std::string& blob, const std::string& file) {
  std::vector<std::string> names;
  for (const auto& [name, tensor] : tensors) {
    if (name == blob) return tensor;
    names.push_back(name);
  }
  if (tensors.size() == 1) return tensors[0].second;
  CAFFE_THROW("file \"", file, "\" contains ", tensors.size(), " tensors, none of them named \"",
              blob, "\": ", FirstNames(names));
}

}  // namespace

std::string SourceName(const std::string& path) {
  return IsStandardStream(path) ? "standard input" : fs::path(path).filename().string();
}

std::optional<std::pair<std::string, std::string>> SplitAssignment(
    const std::string& option, const std::string& text, const std::set<std::string>& blobs) {
  const size_t first = text.find('=', 1);
  if (first == std::string::npos) return std::nullopt;
  const auto split = [&](size_t at) { return std::pair(text.substr(0, at), text.substr(at + 1)); };
  std::optional<std::pair<std::string, std::string>> found;
  for (size_t at = first; at != std::string::npos; at = text.find('=', at + 1)) {
    if (!blobs.contains(text.substr(0, at))) continue;
    const auto reading = split(at);
    if (found) {
      throw UsageError(MakeString(
          "option --", option, " is \"", text, "\", which gives blob \"", found->first,
          "\" the value \"", found->second, "\", or blob \"", reading.first, "\" the value \"",
          reading.second, "\"; want another name for one of the blobs",
          option == "input" ? ", or a .npz file, whose arrays have the names of blobs" : ""));
    }
    found = reading;
  }
  return found ? found : split(first);
}

std::optional<std::pair<std::string, std::string>> SplitAtLastEquals(const std::string& text) {
  const size_t last = text.rfind('=');
  if (last == std::string::npos || last == 0) return std::nullopt;
  return std::pair(text.substr(0, last), text.substr(last + 1));
}

std::set<std::string> BlobNames(const std::vector<const NetDef*>& nets) {
  std::set<std::string> names;
  for (const NetDef* net : nets) {
    names.insert(net->external_input().begin(), net->external_input().end());
    names.insert(net->external_output().begin(), net->external_output().end());
    const NetBlobs blobs(*net);
    for (uint32_t blob = 0; blob < blobs.size(); ++blob) names.insert(blobs.name(blob));
  }
  return names;
}

void SetTensor(Workspace* ws, const std::string& blob, Tensor tensor) {
  *ws->CreateBlob(blob)->GetMutableTensor(CPU) = std::move(tensor);
}

namespace {

// `listed` are inputs that no operator needs to read.
std::vector<FedInput> FeedInputs(const CommandLine& line, const std::vector<const NetDef*>& nets,
                                 const std::set<std::string>& listed, bool for_onnx,
                                 Workspace* ws) {
  const auto check_name = [&](const std::string& name) {
    if (!listed.contains(name)) CheckInputName(nets, name);
  };
  std::vector<FedInput> fed;
  // A command without the option checks shapes only.
  const bool has_seed = !line.Text("seed").empty();
  uint64_t seed = has_seed ? static_cast<uint64_t>(line.Integer("seed", 0, UINT32_MAX)) << 32 : 0;
  std::set<std::string> seen;
  const auto add = [&](const std::string& blob, Tensor tensor, const std::string& source,
                       bool is_random = false) {
    if (!seen.insert(blob).second)
      throw UsageError("blob \"" + blob + "\" is given by more than one --input option");
    SetTensor(ws, blob, CastAsTold(line, blob, std::move(tensor)));
    fed.push_back({blob, source, is_random});
  };
  std::set<std::string> blobs = BlobNames(nets);
  blobs.insert(listed.begin(), listed.end());
  for (const std::string& text : line.All("input")) {
    auto assignment = SplitAssignment("input", text, blobs);
    if (assignment.has_value() && IsFolderOfInputs(assignment->second)) continue;
    // A file that names its tensors, whose path has an equals sign.
    if (assignment.has_value() && !blobs.contains(assignment->first) && PathExists(text))
      assignment.reset();
    std::string source;
    if (!assignment.has_value()) {
      if (!PathExists(text))
        throw UsageError("option --input is \"" + text +
                         "\", want BLOB=FILE or BLOB=SHAPE, SHAPE as 1,3,224,224");
      for (auto& [name, tensor] : ReadTensors(line, text, for_onnx, &source)) {
        if (name.empty())
          throw UsageError("file \"" + text +
                           "\" contains no blob name; want --input BLOB=" + text);
        check_name(name);
        add(name, std::move(tensor), source);
      }
      continue;
    }
    const auto& [blob, value] = *assignment;
    check_name(blob);
    std::vector<int64_t> dims;
    Tensor values(CPU);
    if (PathExists(value)) {
      Tensor tensor = PickTensor(ReadTensors(line, value, for_onnx, &source), blob, value);
      add(blob, std::move(tensor), source);
    } else if (ParseDims(value, &dims)) {
      add(blob, RandomInput(text, dims, ++seed), MakeString("random, seed ", line.Text("seed")),
          true);
    } else if (ParseInputValues(value, &values)) {
      add(blob, std::move(values), "given");
    } else {
      throw UsageError("option --input " + blob + " is \"" + value +
                       "\", which is neither a file that exists, a shape such as 1,3,224,224, nor "
                       "numbers such as 320,320,0.625");
    }
  }
  return fed;
}

// NumPy's files of uint32 and uint64 are read as int64.
void RestoreUnsigned(const std::vector<FedInput>& fed,
                     const std::map<std::string, TensorProto_DataType>& types, Workspace* ws) {
  for (const FedInput& input : fed) {
    const auto type = types.find(input.blob);
    if (type == types.end()) continue;
    if (type->second != TensorProto::UINT32 && type->second != TensorProto::UINT64) continue;
    const auto blob = ws->FindBlob(input.blob);
    if (blob == nullptr || !blob->IsType<Tensor>()) continue;
    const auto& tensor = blob->Get<Tensor>();
    if (tensor.IsType<int64_t>()) SetTensor(ws, input.blob, CastElements(tensor, type->second));
  }
}

}  // namespace

std::vector<FedInput> FeedInputs(const CommandLine& line, const Model& model, Workspace* ws) {
  // What a model of ONNX computes from shapes alone is computed when it is imported.
  std::set<std::string> listed;
  if (model.is_onnx) listed.insert(model.inputs.begin(), model.inputs.end());
  for (const auto& input : model.input_types) listed.insert(input.first);
  std::vector<FedInput> fed = FeedInputs(line, {&model.predict_net}, listed, model.is_onnx, ws);
  RestoreUnsigned(fed, model.input_types, ws);
  return fed;
}

std::vector<FedInput> FeedInputs(const CommandLine& line, const std::vector<const NetDef*>& nets,
                                 Workspace* ws, bool for_onnx) {
  return FeedInputs(line, nets, {}, for_onnx, ws);
}

}  // namespace caffe2rt
