#include "caffe2_core/model/exported_model.h"

#include <algorithm>
#include <memory>
#include <optional>

#include "caffe2_core/graph/accepted_inputs.h"
#include "caffe2_core/graph/input_types.h"
#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/model/model_file.h"
#include "caffe2_core/model/model_inputs.h"
#include "caffe2_core/runtime/workspace.h"
#include "caffe2_core/tensor/tensor.h"

namespace caffe2rt {
namespace {

// Empty if nothing states them.
std::vector<TensorProto_DataType> AcceptedTypes(const std::string& type, int input) {
  const OpSchema* const schema = OpSchemaRegistry::Schema(type);
  const InputTypes* const declared = schema == nullptr ? nullptr : schema->types_of_input(input);
  if (declared != nullptr && !declared->accepted.empty()) return declared->accepted;
  const std::optional<AcceptedInput> tried = FindAcceptedInput(type, input);
  return tried.has_value() ? tried->types : std::vector<TensorProto_DataType>();
}

// The element type of an input that the model does not state: the first one that the operator which reads
// it first accepts, or float.
TensorProto_DataType TypeByReader(const NetDef& net, const std::string& name) {
  for (const OperatorDef& op : net.op()) {
    const auto found = std::find(op.input().begin(), op.input().end(), name);
    if (found == op.input().end()) continue;
    const std::vector<TensorProto_DataType> types =
        AcceptedTypes(op.type(), static_cast<int>(found - op.input().begin()));
    if (types.empty()) break;
    const bool can_be_float =
        std::find(types.begin(), types.end(), TensorProto::FLOAT) != types.end();
    return can_be_float ? TensorProto::FLOAT : types[0];
  }
  return TensorProto::FLOAT;
}

bool IsFixed(const std::vector<int64_t>& dims) {
  return std::find(dims.begin(), dims.end(), -1) == dims.end();
}

// The shapes of the inputs: those that the options state, else those of the files.
ShapeMap InputShapes(const Model& model, const Workspace& ws, const ModelExportOptions& options) {
  ShapeMap shapes;
  const auto set = [&](const std::string& name, const std::vector<int64_t>& dims) {
    const auto type = model.input_types.find(name);
    shapes.emplace(name, CreateTensorShape(dims, type != model.input_types.end()
                                                     ? type->second
                                                     : TypeByReader(model.predict_net, name)));
  };
  for (const auto& [name, dims] : options.input_shapes) {
    if (!model.input_types.contains(name)) CheckInputName({&model.predict_net}, name);
    set(name, dims);
  }
  for (const auto& [name, dims] : model.input_shapes) set(name, dims);
  for (const auto& [name, dims] : model.input_dims) {
    if (IsFixed(dims)) set(name, dims);
  }
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

OnnxExport ExportModel(const Model& model, const Workspace& ws, const ModelExportOptions& options) {
  OnnxExportOptions onnx{.inputs = InputShapes(model, ws, options),
                         .outputs = model.outputs,
                         .output_dims = model.output_dims};
  onnx.weights = WeightsOf(ws, onnx.inputs);
  onnx.opset = options.opset;
  return ExportOnnx(model.predict_net, onnx);
}

}  // namespace caffe2rt
