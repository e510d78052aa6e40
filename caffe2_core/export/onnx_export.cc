#include "caffe2_core/export/onnx_export.h"

#include <absl/strings/str_join.h>

#include <algorithm>
#include <set>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/export/operator_export.h"
#include "caffe2_core/export/operator_writer.h"
#include "caffe2_core/export/stated_weights.h"
#include "caffe2_core/graph/element_types.h"
#include "caffe2_core/graph/nested_nets.h"
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

using NamesByType = std::map<std::string, std::vector<std::string>>;

// Adds the operators without an ONNX form, also those in nets inside of others.
void FindMissing(const NetDef& net, int depth, NamesByType* missing) {
  CAFFE_ENFORCE_LE(depth, kMaxNetDepth, "nets inside of operators of net \"", net.name(), "\"");
  for (const OperatorDef& op : net.op()) {
    if (FindOnnxExportRow(op.type()) != nullptr) {
      for (const Argument& arg : op.arg()) {
        if (arg.has_n()) FindMissing(arg.n(), depth + 1, missing);
      }
      continue;
    }
    const bool has_output = op.output_size() > 0;
    (*missing)[op.type()].push_back(!op.name().empty() ? op.name()
                                    : has_output       ? op.output(0)
                                                       : std::string("without outputs"));
  }
}

// One error for all operators without an ONNX form: each type, how often, and the first two names.
void CheckTypes(const NetDef& net) {
  NamesByType missing;
  FindMissing(net, 0, &missing);
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

void WriteOperator(const NetDef& net, int i, const OpShapes& op_shapes, OnnxGraph& graph,
                   ShapeMap* shapes) {
  const OperatorDef& def = net.op(i);
  graph.StartOperator(&def);
  try {
    const OnnxExportRow& row = *FindOnnxExportRow(def.type());
    OperatorExport op(row, def, op_shapes, shapes, &graph);
    row.write(&op);
  } catch (...) {
    RethrowWithFrame(
        MakeString("export of operator ", i, " (", def.type(), ") of net \"", net.name(), "\""));
  }
}

}  // namespace

void WriteOperators(const NetDef& net, OnnxGraph& graph, ShapeMap* shapes) {
  // Operators with nets end a part: what they write is known when they have been written.
  NetDef part;
  part.set_name(net.name());
  for (int i = 0; i < net.op_size(); ++i) {
    *part.add_op() = net.op(i);
    if (i + 1 < net.op_size() && !HasNestedNets(net.op(i))) continue;
    std::vector<OpShapes> of_operators = InferOpShapes({&part}, shapes);
    StateElementTypes(part, &of_operators, shapes);
    const int first = i + 1 - part.op_size();
    for (int k = 0; k < part.op_size(); ++k) {
      WriteOperator(net, first + k, of_operators.at(static_cast<size_t>(k)), graph, shapes);
    }
    part.clear_op();
  }
}

OnnxExport ExportOnnx(const NetDef& original, const OnnxExportOptions& options) {
  CAFFE_ENFORCE(options.opset >= kMinOnnxExportOpset && options.opset <= kMaxOnnxExportOpset,
                "opset is ", options.opset, ", want ", kMinOnnxExportOpset, " to ",
                kMaxOnnxExportOpset);
  CheckTypes(original);
  const NetDef net = StateWeightsAsArguments(original, options);
  CheckInputs(net, options);
  ShapeMap shapes = KnownShapes(options);
  OnnxGraph graph(net, options);
  WriteOperators(net, graph, &shapes);
  OnnxExport result = graph.Finish(shapes);
  SetHeader(options.opset, &result.model);
  return result;
}

}  // namespace caffe2rt
