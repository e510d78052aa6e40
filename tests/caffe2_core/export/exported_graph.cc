#include "tests/caffe2_core/export/exported_graph.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>

#include <numeric>

#include "caffe2_core/graph/op_schema.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test {
namespace {

// The values of an initializer; its name if it is a weight.
std::string ValueText(const onnx::TensorProto& tensor, const Tensor* weight) {
  if (weight != nullptr) return tensor.name();
  if (tensor.float_data_size() == 1) return absl::StrCat(tensor.float_data(0));
  if (tensor.float_data_size() > 0)
    return absl::StrCat("[", absl::StrJoin(tensor.float_data(), ", "), "]");
  if (tensor.double_data_size() == 1) return absl::StrCat(tensor.double_data(0), " (double)");
  if (tensor.int32_data_size() > 0) return absl::StrCat(tensor.int32_data(0), " (int32)");
  const std::string values = absl::StrJoin(tensor.int64_data(), ", ");
  return tensor.dims_size() == 0 ? values : absl::StrCat("[", values, "]");
}

std::string AttributeText(const onnx::AttributeProto& attribute) {
  switch (attribute.type()) {
    case onnx::AttributeProto::INT:
      return absl::StrCat(" ", attribute.name(), "=", attribute.i());
    case onnx::AttributeProto::FLOAT:
      return absl::StrCat(" ", attribute.name(), "=", attribute.f());
    case onnx::AttributeProto::STRING:
      return absl::StrCat(" ", attribute.name(), "=", attribute.s());
    default:
      return absl::StrCat(" ", attribute.name(), "=[", absl::StrJoin(attribute.ints(), ","), "]");
  }
}

}  // namespace

OnnxExport Export(const ExportedNet& net,
                  const std::map<std::string, std::vector<int64_t>>& output_dims) {
  OnnxExportOptions options{.outputs = net.outputs, .output_dims = output_dims, .opset = net.opset};
  for (const auto& [name, input] : net.inputs) {
    options.inputs[name] = CreateTensorShape(input.dims, input.type);
  }
  for (const auto& [name, weight] : net.weights) options.weights[name] = &weight;
  return ExportOnnx(ParseNet(net.net), options);
}

std::string GraphText(const OnnxExport& exported) {
  const onnx::GraphProto& graph = exported.model.graph();
  std::map<std::string, std::string> values;
  for (int i = 0; i < graph.initializer_size(); ++i) {
    values[graph.initializer(i).name()] =
        ValueText(graph.initializer(i), exported.weights.at(static_cast<size_t>(i)));
  }
  std::string text;
  for (const onnx::NodeProto& node : graph.node()) {
    std::vector<std::string> inputs;
    for (const std::string& input : node.input()) {
      const auto value = values.find(input);
      inputs.push_back(value == values.end() ? input : value->second);
    }
    absl::StrAppend(&text, absl::StrJoin(node.output(), ", "), " = ", node.op_type(), "(",
                    absl::StrJoin(inputs, ", "), ")");
    for (const onnx::AttributeProto& attribute : node.attribute()) {
      absl::StrAppend(&text, AttributeText(attribute));
    }
    text += "\n";
  }
  return text;
}

Tensor IntWeight(const std::vector<int64_t>& values) {
  Tensor weight(CPU);
  weight.Resize(static_cast<int64_t>(values.size()));
  std::copy(values.begin(), values.end(), weight.mutable_data<int64_t>());
  return weight;
}

Tensor FloatWeight(const std::vector<int64_t>& dims) {
  Tensor weight(CPU);
  weight.Resize(dims);
  float* values = weight.mutable_data<float>();
  std::iota(values, values + weight.numel(), 0.f);
  return weight;
}

}  // namespace caffe2rt::test
