#include "binaries/commands/inspect_context.h"

#include <filesystem>

#include "binaries/commands/file_policy.h"
#include "binaries/commands/model.h"
#include "binaries/commands/optimizing.h"
#include "caffe2_core/base/enforce.h"
#include "caffe2_core/graph/net_check.h"
#include "caffe2_core/graph/net_file.h"
#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/inspect/model_check.h"
#include "caffe2_core/model/model_inputs.h"

namespace caffe2rt {
namespace {

// Adds the shapes of the blobs that Load operators of an init net read, if the database is
// readable.
void AddLoadedShapes(const NetDef& init, const FileAccess& access, InspectContext* context) {
  for (const OperatorDef& op : init.op()) {
    try {
      for (const auto& [name, shape] : LoadedShapes(op, access)) {
        context->shapes[name] = shape;
        context->loaded.insert(name);
      }
    } catch (const std::exception&) {  // the table reports the shapes as unknown
    }
  }
}

void AddPackedShapes(const PackedModel& model, InspectContext* context) {
  for (const auto& [name, shape] : ShapesOf(model)) {
    context->shapes[name] = shape;
    context->parameters.insert(name);
  }
}

}  // namespace

InspectContext ContextOf(const CommandLine& line, const std::string& path, FileKind kind,
                         const NetsOfFile& found) {
  InspectContext context;
  for (const std::string& file : line.All("init-net")) {
    context.init_nets.push_back(LoadNet(file));
    FindDatabases(&context.init_nets.back(), ".",
                  std::filesystem::path(file).parent_path().string());
    AddLoadedShapes(context.init_nets.back(), FileAccessOf(line, ".", {file}), &context);
  }
  if (!found.nets.empty() && !DBTypeOfKind(kind).empty())
    context.shapes = ShapesInDatabase(path, DBTypeOfKind(kind));
  if (found.init_net.op_size() > 0) context.init_nets.push_back(found.init_net);
  for (const auto& [name, shape] : found.input_shapes) {
    if (!shape.unknown_shape()) context.shapes[name] = shape;
  }
  if (found.packed != nullptr) AddPackedShapes(*found.packed, &context);
  // Init nets in the same file fill weights too.
  for (const TitledNet& net : found.nets) {
    if (net.role.find("INIT") != std::string::npos) context.init_nets.push_back(net.net);
  }
  for (const BlobsMap& blobs : found.meta.blobs()) {
    if (blobs.key() == "PARAMETERS_BLOB_TYPE") {
      context.parameters.insert(blobs.value().begin(), blobs.value().end());
    }
  }
  if (!context.loaded.empty() && context.parameters.empty()) {
    context.parameters = context.loaded;
    for (const NetDef& init : context.init_nets) {
      for (std::string& name : NamesWrittenBy(init)) context.parameters.insert(std::move(name));
    }
  }
  for (const std::string& text : line.All("input")) {
    const size_t equals = text.rfind('=');
    std::vector<int64_t> dims;
    if (equals == std::string::npos || equals == 0 || !ParseDims(text.substr(equals + 1), &dims)) {
      throw UsageError("option --input is \"" + text + "\", want BLOB=SHAPE, SHAPE as 1,3,224,224");
    }
    context.parameters.erase(text.substr(0, equals));
    context.shapes[text.substr(0, equals)] = CreateTensorShape(dims, TensorProto::FLOAT);
  }
  return context;
}

std::vector<const NetDef*> InitNetsOf(const TitledNet& net, const InspectContext& context) {
  std::vector<const NetDef*> init_nets;
  if (net.role.find("INIT") == std::string::npos) {
    for (const NetDef& init : context.init_nets) init_nets.push_back(&init);
  }
  return init_nets;
}

void CheckGivenShapes(const CommandLine& line, const NetsOfFile& found,
                      const InspectContext& context) {
  if (!line.Has("input")) return;
  std::vector<const NetDef*> nets;
  for (const TitledNet& net : found.nets) nets.push_back(&net.net);
  for (const std::string& text : line.All("input")) {
    CheckInputName(nets, text.substr(0, text.rfind('=')));
  }
  for (const TitledNet& net : found.nets) {
    const std::vector<NetFinding> findings = ValidateShapes(
        net.net,
        {.init_nets = InitNetsOf(net, context), .given = context.shapes, .types_are_known = false});
    if (findings.empty()) continue;
    CAFFE_THROW("net \"", net.net.name(), "\", operator ", findings[0].ops[0], ": ",
                findings[0].text);
  }
}

NetSummary SummaryOf(const TitledNet& net, const InspectContext& context) {
  return SummarizeNet(InitNetsOf(net, context), net.net, context.shapes, context.parameters);
}

void CheckMemoryOptions(const CommandLine& line, const NetsOfFile& found) {
  if (!line.Has("memory")) {
    std::vector<std::string> options = {"fetch"};
    for (const Option& option : OptimizeOptions()) options.emplace_back(option.name);
    for (const std::string& name : options) {
      if (line.Has(name)) throw UsageError("option --" + name + " is given without --memory");
    }
  }
  std::vector<const NetDef*> nets;
  std::vector<std::string> inputs;
  for (const TitledNet& net : found.nets) {
    nets.push_back(&net.net);
    inputs.insert(inputs.end(), net.net.external_input().begin(), net.net.external_input().end());
    for (const OperatorDef& op : net.net.op())
      inputs.insert(inputs.end(), op.input().begin(), op.input().end());
  }
  CheckFetchedNames(line, nets, inputs);
}

}  // namespace caffe2rt
