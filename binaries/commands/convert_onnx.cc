#include "binaries/commands/convert_onnx.h"

#include <algorithm>
#include <iostream>

#include "binaries/commands/command.h"
#include "binaries/commands/imported_model.h"
#include "binaries/commands/model.h"
#include "caffe2_core/base/utf8.h"
#include "caffe2_core/export/onnx_export.h"
#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/io/standard_streams.h"
#include "caffe2_core/model/model_inputs.h"
#include "caffe2_core/runtime/workspace.h"
#include "caffe2_core/tensor/tensor.h"

namespace caffe2rt {
namespace {

// The shapes of the inputs: those that --input-shape states, else those of the files.
ShapeMap InputShapes(const CommandLine& line, const Model& model, const Workspace& ws) {
  ShapeMap shapes;
  const auto set = [&](const std::string& name, const std::vector<int64_t>& dims) {
    const auto type = model.input_types.find(name);
    shapes.emplace(name,
                   CreateTensorShape(
                       dims, type != model.input_types.end() ? type->second : TensorProto::FLOAT));
  };
  for (const auto& [name, dims] : CaffeImportOptionsOf(line).input_shapes) {
    CheckInputName({&model.predict_net}, name);
    set(name, dims);
  }
  for (const auto& [name, dims] : model.input_shapes) set(name, dims);
  for (const ZeroPlaceholder& placeholder : model.zero_placeholders) {
    if (placeholder.HasInputShape()) set(placeholder.name, placeholder.dims);
  }
  // Without other inputs, the data go into a blob that an init net fills with a constant.
  if (!shapes.empty() || !model.inputs.empty()) return shapes;
  for (const std::string& name : model.placeholders) {
    const auto blob = ws.FindBlob(name);
    if (blob != nullptr && blob->IsType<Tensor>()) set(name, blob->Get<Tensor>().dims());
  }
  return shapes;
}

std::map<std::string, const Tensor*> WeightsOf(const Workspace& ws, const ShapeMap& inputs) {
  std::map<std::string, const Tensor*> weights;
  for (const std::string& name : ws.Blobs()) {
    const auto blob = ws.FindBlob(name);
    if (blob == nullptr || inputs.contains(name) || !blob->IsType<Tensor>()) continue;
    const auto& tensor = blob->Get<Tensor>();
    if (tensor.numel() == 0 || tensor.dtype_initialized()) weights[name] = &tensor;
  }
  return weights;
}

}  // namespace

void ConvertToOnnx(const CommandLine& line, const std::string& path) {
  if (!line.Has("output") || IsStandardStream(line.Text("output"))) {
    throw UsageError("want --output FILE.onnx");
  }
  Model model = LoadModel({.init_nets = line.All("init-net"),
                           .predict_net = path,
                           .weights = line.Text("weights"),
                           .caffe = CaffeImportOptionsOf(line),
                           .onnx = OnnxImportOptionsOf(line),
                           .device = DeviceOption()});
  for (const std::string& warning : model.warnings) Warn(warning);
  PrintNotes(model.notes);
  const std::unique_ptr<Workspace> ws = MakeWorkspace(line, ".", &model);
  OnnxExportOptions options{.inputs = InputShapes(line, model, *ws),
                            .outputs = model.outputs,
                            .output_dims = model.output_dims};
  options.weights = WeightsOf(*ws, options.inputs);
  options.opset = static_cast<int>(line.Integer("opset", kMinOnnxExportOpset, kMaxOnnxExportOpset));
  const OnnxExport exported = ExportOnnx(model.predict_net, options);
  PrintNotes(exported.notes);
  for (const std::string& file : WriteOnnx(exported, line.Text("output"))) {
    std::cout << OneLine(file) << "\n";
  }
}

}  // namespace caffe2rt
