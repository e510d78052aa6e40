#include "caffe2_core/export/onnx_export.h"

#include <absl/strings/str_join.h>

#include <algorithm>
#include <set>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/export/operator_export.h"
#include "caffe2_core/export/stated_weights.h"
#include "caffe2_core/graph/element_types.h"
#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/tensor/data_type.h"
#include "caffe2_core/tensor/tensor.h"

namespace caffe2rt {
namespace {

// The version of the file format that belongs to an opset.
int64_t IrVersion(int opset) {
  if (opset <= 18) return 8;
  if (opset <= 20) return 9;
  if (opset <= 22) return 10;
  return 11;
}

// One error for all operators without an ONNX form: each type, how often, and the first two names.
void CheckTypes(const NetDef& net) {
  std::map<std::string, std::vector<std::string>> missing;
  for (const OperatorDef& op : net.op()) {
    if (FindOnnxExportRow(op.type()) != nullptr) continue;
    const bool has_output = op.output_size() > 0;
    missing[op.type()].push_back(!op.name().empty() ? op.name()
                                 : has_output       ? op.output(0)
                                                    : std::string("without outputs"));
  }
  if (missing.empty()) return;
  std::vector<std::string> parts;
  for (const auto& [type, names] : missing) {
    std::string part = MakeString(type, " (");
    if (names.size() > 1) part += MakeString(names.size(), " times, the first is ");
    parts.push_back(part + "\"" + names[0] + "\")");
  }
  CAFFE_THROW("cannot export net \"", net.name(),
              "\": these operators have no ONNX form: ", absl::StrJoin(parts, ", "));
}

ShapeMap KnownShapes(const OnnxExportOptions& options) {
  ShapeMap shapes = options.inputs;
  for (const auto& [name, weight] : options.weights) {
    shapes[name] = CreateTensorShape(weight->dims(), TypeMetaToDataType(weight->dtype()));
  }
  return shapes;
}

void CheckInputs(const NetDef& net, const OnnxExportOptions& options) {
  std::set<std::string> known;
  for (const auto& [name, shape] : options.inputs) known.insert(name);
  for (const auto& [name, weight] : options.weights) known.insert(name);
  std::vector<std::string> missing;
  for (const OperatorDef& op : net.op()) {
    for (const std::string& input : op.input()) {
      if (known.insert(input).second) missing.push_back(MakeString("\"", input, "\""));
    }
    known.insert(op.output().begin(), op.output().end());
  }
  if (missing.empty()) return;
  constexpr size_t kMostNamed = 5;
  std::string names = absl::StrJoin(
      missing.begin(),
      missing.begin() + static_cast<ptrdiff_t>(std::min(missing.size(), kMostNamed)), ", ");
  if (missing.size() > kMostNamed)
    names += MakeString(" and ", missing.size() - kMostNamed, " more");
  CAFFE_THROW("the shapes of inputs ", names,
              " are not known; state them with --input-shape BLOB=DIMS, or give the weights with "
              "--init-net");
}

void SetHeader(int opset, onnx::ModelProto* model) {
  model->set_ir_version(IrVersion(opset));
  model->set_producer_name("caffe2rt");
  auto* version = model->add_opset_import();
  version->set_domain("");
  version->set_version(opset);
}

}  // namespace

OnnxExport ExportOnnx(const NetDef& original, const OnnxExportOptions& options) {
  CAFFE_ENFORCE(options.opset >= kMinOnnxExportOpset && options.opset <= kMaxOnnxExportOpset,
                "opset is ", options.opset, ", want ", kMinOnnxExportOpset, " to ",
                kMaxOnnxExportOpset);
  CheckTypes(original);
  const NetDef net = StateWeightsAsArguments(original, options);
  CheckInputs(net, options);
  ShapeMap shapes = KnownShapes(options);
  std::vector<OpShapes> of_operators = InferOpShapes({&net}, &shapes);
  StateElementTypes(net, &of_operators, &shapes);
  OnnxGraph graph(net, options);
  for (int i = 0; i < net.op_size(); ++i) {
    const OperatorDef& def = net.op(i);
    const OpShapes& op_shapes = of_operators.at(static_cast<size_t>(i));
    graph.StartOperator(def);
    try {
      const OnnxExportRow& row = *FindOnnxExportRow(def.type());
      OperatorExport op(row, def, op_shapes, &graph);
      row.write(&op);
    } catch (...) {
      RethrowWithFrame(
          MakeString("export of operator ", i, " (", def.type(), ") of net \"", net.name(), "\""));
    }
  }
  OnnxExport result = graph.Finish(shapes);
  SetHeader(options.opset, &result.model);
  return result;
}

}  // namespace caffe2rt
