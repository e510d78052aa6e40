#include "caffe2_core/import/onnx/onnx_translator.h"

#include <absl/strings/str_join.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/text.h"
#include "caffe2_core/base/utf8.h"
#include "caffe2_core/import/onnx/folding.h"
#include "caffe2_core/import/onnx/node_facts.h"
#include "caffe2_core/import/onnx/node_table.h"
#include "caffe2_core/import/onnx/upgrades.h"

namespace caffe2rt {
namespace {

constexpr int kMaxDepth = 64;  // of graphs in graphs, and functions in functions
constexpr size_t kMaxListed = 100;
// Nodes in functions that call functions, and in bodies of loops, are translated more than once.
constexpr int64_t kMaxInnerNodes = int64_t{1} << 16;
// Elements that are computed here, in all worlds. What goes beyond is left to operators.
constexpr int64_t kMaxFolded = int64_t{1} << 26;

std::string DomainOf(const std::string& domain) { return domain == "ai.onnx" ? "" : domain; }

std::string NameOf(const onnx::NodeProto& node) {
  if (!node.name().empty()) return node.name();
  for (const std::string& output : node.output()) {
    if (!output.empty()) return output;
  }
  return node.op_type();
}

}  // namespace

std::map<std::string, int64_t> OnnxOpsetsOf(
    const google::protobuf::RepeatedPtrField<onnx::OperatorSetIdProto>& imports) {
  std::map<std::string, int64_t> opsets;
  for (const onnx::OperatorSetIdProto& import : imports) {
    opsets[DomainOf(import.domain())] = import.version();
  }
  return opsets;
}

OnnxTranslator::OnnxTranslator(OnnxNets* nets) : nets_(*nets) {
  for (const onnx::FunctionProto& function : nets->file().model().functions()) {
    functions_[{DomainOf(function.domain()), function.name()}] = &function;
  }
}

const std::string& OnnxTranslator::Find(const OnnxScope& scope, const std::string& name) {
  for (const OnnxScope* at = &scope; at != nullptr; at = at->parent) {
    const auto found = at->blobs.find(name);
    if (found != at->blobs.end()) return found->second;
  }
  CAFFE_THROW("it reads \"", Shortened(name),
              "\", which is no input, and no node before it writes it");
}

void OnnxTranslator::AddInitializers(const onnx::GraphProto& graph, OnnxScope* scope) {
  for (const onnx::TensorProto& tensor : graph.initializer()) {
    if (scope->blobs.contains(tensor.name())) continue;
    const std::string wanted = scope->prefix + tensor.name();
    const std::string blob = scope->prefix.empty() && !nets_.IsOutput(wanted)
                                 ? nets_.NameOfValue(wanted)
                                 : nets_.UniqueName(wanted + "/value");
    nets_.DefineTensor(blob, tensor);
    scope->blobs[tensor.name()] = blob;
  }
  CAFFE_ENFORCE_EQ(graph.sparse_initializer_size(), 0,
                   "sparse initializers, which are not supported");
}

// --- which nodes are supported ---

namespace {

class SupportCheck {
 public:
  SupportCheck(const onnx::ModelProto& model, bool tolerant) : model_(model), tolerant_(tolerant) {
    for (const onnx::FunctionProto& function : model.functions()) {
      functions_.insert({DomainOf(function.domain()), function.name()});
    }
  }

  void Check(const std::map<std::string, int64_t>& opsets) {
    CheckNodes(model_.graph().node(), opsets, 0);
    for (const onnx::FunctionProto& function : model_.functions()) {
      CheckNodes(function.node(), OnnxOpsetsOf(function.opset_import()), 0);
    }
    if (missing_.empty()) return;
    std::vector<std::string> lines;
    for (const auto& [type, nodes] : missing_) {
      const std::string more =
          nodes.count > 1 ? MakeString(" and ", nodes.count - 1, " more") : std::string();
      lines.push_back(MakeString(type, " (node \"", Shortened(nodes.first), "\"", more, ")"));
    }
    const size_t count = lines.size();
    if (count > kMaxListed) lines.resize(kMaxListed);
    CAFFE_THROW(CountText(count, "operator of the model is", "operators of the model are"),
                " not supported: ", absl::StrJoin(lines, ", "), count > kMaxListed ? ", ..." : "");
  }

 private:
  struct Nodes {
    std::string first;
    int64_t count = 0;
  };

  void CheckNodes(const google::protobuf::RepeatedPtrField<onnx::NodeProto>& nodes,
                  const std::map<std::string, int64_t>& opsets, int depth) {
    CAFFE_ENFORCE_LE(depth, kMaxDepth, "levels of graphs in graphs");
    for (const onnx::NodeProto& node : nodes) {
      const std::string domain = DomainOf(node.domain());
      if (!IsSupported(domain, node.op_type(), opsets)) Add(domain, node, opsets);
      for (const onnx::AttributeProto& attribute : node.attribute()) {
        if (attribute.has_g()) CheckNodes(attribute.g().node(), opsets, depth + 1);
      }
    }
  }

  static int64_t VersionOf(const std::string& domain,
                           const std::map<std::string, int64_t>& opsets) {
    const auto found = opsets.find(domain);
    return found == opsets.end() ? 1 : found->second;
  }

  bool IsSupported(const std::string& domain, const std::string& type,
                   const std::map<std::string, int64_t>& opsets) const {
    if (functions_.contains({domain, type})) return true;
    const bool too_new = domain.empty() && VersionOf(domain, opsets) > kNewestOnnxOpset;
    const std::string_view newest = domain.empty() ? NewestOnnxType(type) : type;
    return FindOnnxRow(domain, newest) != nullptr && (!too_new || tolerant_);
  }

  void Add(const std::string& domain, const onnx::NodeProto& node,
           const std::map<std::string, int64_t>& opsets) {
    const std::string type = domain.empty() ? node.op_type() : domain + "::" + node.op_type();
    const bool known = FindOnnxRow(domain, node.op_type()) != nullptr;
    const std::string text =
        known ? MakeString(Shortened(type), " of opset ", VersionOf(domain, opsets),
                           ", known are up to ", kNewestOnnxOpset)
              : Shortened(type);
    Nodes& nodes = missing_[text];
    if (nodes.count++ == 0) nodes.first = NameOf(node);
  }

  const onnx::ModelProto& model_;
  const bool tolerant_;
  std::set<std::pair<std::string, std::string>> functions_;
  std::map<std::string, Nodes> missing_;
};

}  // namespace

void OnnxTranslator::CheckSupported(const onnx::ModelProto& model,
                                    const std::map<std::string, int64_t>& opsets,
                                    bool tolerant) const {
  SupportCheck(model, tolerant).Check(opsets);
}

// --- nodes ---

void OnnxTranslator::TranslateNodes(
    const google::protobuf::RepeatedPtrField<onnx::NodeProto>& nodes, OnnxScope* scope) {
  CAFFE_ENFORCE_LE(depth_, kMaxDepth, "levels of graphs in graphs and of functions");
  struct Inside {  // a caller may go on after an error
    Inside(OnnxTranslator* t, OnnxScope* scope)
        : translator(t), outer(std::exchange(t->scope_, scope)) {
      ++translator->depth_;
    }
    ~Inside() {
      translator->scope_ = outer;
      --translator->depth_;
    }
    OnnxTranslator* const translator;
    OnnxScope* const outer;
  } const inside(this, scope);
  for (const onnx::NodeProto& node : nodes) {
    if (depth_ > 1) ++inner_nodes_;
    CAFFE_ENFORCE_LE(inner_nodes_, kMaxInnerNodes,
                     "nodes after the calls of functions and the bodies of loops are expanded");
    try {
      TranslateNode(node, scope);
    } catch (const OutOfMemory&) {
      throw;
    } catch (const EnforceNotMet& error) {
      CAFFE_THROW("node \"", Shortened(NameOf(node)), "\" of type ", Shortened(node.op_type()),
                  ": ", error.message());
    } catch (const std::out_of_range&) {
      CAFFE_THROW("node \"", Shortened(NameOf(node)), "\" of type ", Shortened(node.op_type()),
                  ": a list or a shape is shorter than the operator wants");
    }
  }
}

OnnxNodeData OnnxTranslator::DataOf(const onnx::NodeProto& node, const OnnxScope& scope) {
  OnnxNodeData data = {.type = node.op_type(),
                       .domain = DomainOf(node.domain()),
                       .name = scope.prefix + NameOf(node)};
  const auto opset = scope.opsets.find(data.domain);
  data.version = opset == scope.opsets.end() ? 1 : opset->second;
  for (const std::string& input : node.input()) {
    data.inputs.push_back(input.empty() ? "" : Find(scope, input));
  }
  while (!data.inputs.empty() && data.inputs.back().empty()) data.inputs.pop_back();
  for (const std::string& output : node.output()) {
    CAFFE_ENFORCE(output.empty() || !scope.blobs.contains(output), "its output \"",
                  Shortened(output), "\" exists before it");
    const bool of_model = scope.prefix.empty();
    data.outputs.push_back(output.empty() ? ""
                           : of_model     ? nets_.NameOfValue(output)
                                          : nets_.UniqueName(scope.prefix + output));
  }
  for (const onnx::AttributeProto& attribute : node.attribute()) {
    const onnx::AttributeProto* value = &attribute;
    if (!attribute.ref_attr_name().empty()) {
      if (scope.call == nullptr) continue;
      const auto found = scope.call->attributes.find(attribute.ref_attr_name());
      if (found == scope.call->attributes.end()) continue;
      value = found->second;
    }
    data.attributes[attribute.name()] = value;
  }
  return data;
}

bool OnnxTranslator::Fold(OnnxNode* node) {
  OnnxFolded folded;
  if (folded_ > kMaxFolded || !FoldOnnxNode(node, &folded)) return false;
  for (size_t world = 0; world < kOnnxWorlds; ++world) {
    folded_ += static_cast<int64_t>(folded.content->ints[world].size() +
                                    folded.content->reals[world].size());
  }
  if (folded.IsFixed()) {
    node->Forward(0, nets_.Constant(node->data().name + "/value", folded.dims[0], folded.type,
                                    folded.content));
    return true;
  }
  // The operator is needed, but what it computes is known up to the symbols.
  RunRow(node);
  const auto forward = node->data().forwards.find(0);
  const std::string& out =
      forward == node->data().forwards.end() ? node->data().outputs[0] : forward->second;
  OnnxBlob& blob = nets_.At(out);
  if (blob.content != nullptr) return true;  // one that was there before
  blob.content = folded.content;
  blob.type = folded.type;
  node->SetDims(out, folded.dims);
  return true;
}

void OnnxTranslator::RunRow(OnnxNode* node) {
  const OnnxRow* row = FindOnnxRow(node->data().domain, node->data().type);
  CAFFE_ENFORCE(row != nullptr, "operator type \"", node->data().type, "\" is not supported");
  if (row->translate != nullptr) {
    row->translate(node);
  } else {
    node->Emit(std::string(row->op.empty() ? row->type : row->op), node->Ins(), node->Outs());
  }
  StateOnnxFacts(node);
}

namespace {

// The type of output `i` of a node some of whose inputs have the rounded type `type`. It differs
// where inputs may have several types, and for statistics.
int TypeOfOutput(const OnnxNode& node, size_t i, int type) {
  const auto of_input = [&](size_t input) {
    return node.KnowsType(node.In(input)) ? node.Type(node.In(input)) : type;
  };
  const std::string& op = node.type();
  if (op == "BatchNormalization") return of_input(i == 0 ? 0 : 3);
  if (op == "LayerNormalization" && i > 0) return static_cast<int>(node.Int("stash_type", 1));
  if (op == "Resize") return of_input(0);
  return type;
}

}  // namespace

// Computes in float, and rounds what the operators write.
void OnnxTranslator::TranslateRounded(OnnxNode* node) {
  OnnxNodeData& data = node->data();
  int type = 0;
  for (const std::string& input : data.inputs) {
    if (!input.empty() && IsRoundedOnnxType(nets_.At(input).type)) type = nets_.At(input).type;
  }
  if (type == 0) return RunRow(node);
  const std::vector<std::string> outputs = data.outputs;
  for (std::string& output : data.outputs) {
    if (!output.empty()) output = nets_.UniqueName(output + "/float");
  }
  RunRow(node);
  const OnnxRow* row = FindOnnxRow(data.domain, data.type);
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (outputs[i].empty()) continue;
    const auto forward = data.forwards.find(i);
    const std::string wide = forward == data.forwards.end() ? data.outputs[i] : forward->second;
    OnnxBlob& blob = nets_.At(wide);
    const bool is_float = blob.type == onnx::TensorProto::FLOAT || blob.type == 0;
    const bool computed = forward == data.forwards.end();
    const int to = TypeOfOutput(*node, i, type);
    if (is_float && computed && data.type != "Cast") blob.type = to;
    if (!is_float || !computed || row->exact || data.type == "Cast" || !IsRoundedOnnxType(to)) {
      data.forwards[i] = wide;
      continue;
    }
    data.forwards[i] = nets_.Round(wide, to, outputs[i], data.name);
  }
  data.outputs = outputs;
}

void OnnxTranslator::TakeForwards(OnnxNode* node, const onnx::NodeProto& proto, OnnxScope* scope) {
  OnnxNodeData& data = node->data();
  for (size_t i = 0; i < data.outputs.size(); ++i) {
    if (data.outputs[i].empty()) continue;
    const auto forward = data.forwards.find(i);
    const std::string& blob = forward == data.forwards.end() ? data.outputs[i] : forward->second;
    CAFFE_ENFORCE(nets_.Has(blob), "its output ", i, " is not supported");
    if (i == 0) node_blobs_.emplace(data.name, blob);
    scope->blobs[proto.output(static_cast<int>(i))] = blob;
  }
}

void OnnxTranslator::TranslateFunction(const onnx::FunctionProto& function, OnnxNode* node) {
  const OnnxNodeData& data = node->data();
  OnnxNodeData call = data;
  for (const onnx::AttributeProto& attribute : function.attribute_proto()) {
    call.attributes.emplace(attribute.name(), &attribute);
  }
  OnnxScope inner = {
      .prefix = data.name + "/", .opsets = OnnxOpsetsOf(function.opset_import()), .call = &call};
  // An input that the call leaves out is absent for the nodes that read it.
  for (int i = 0; i < function.input_size(); ++i) {
    const auto at = static_cast<size_t>(i);
    inner.blobs[function.input(i)] = node->Has(at) ? data.inputs[at] : "";
  }
  TranslateNodes(function.node(), &inner);
  for (int i = 0; i < function.output_size(); ++i) {
    const auto at = static_cast<size_t>(i);
    if (node->HasOut(at)) node->Forward(at, Find(inner, function.output(i)));
  }
}

std::vector<std::string> OnnxTranslator::TranslateCall(OnnxNodeData* data) {
  while (!data->inputs.empty() && data->inputs.back().empty()) data->inputs.pop_back();
  OnnxNode node(data, &nets_, this);
  if (!Fold(&node)) TranslateRounded(&node);
  std::vector<std::string> outputs = data->outputs;
  for (const auto& [i, blob] : data->forwards) outputs[i] = blob;
  for (const std::string& output : outputs) {
    CAFFE_ENFORCE(nets_.Has(output), "an output of ", data->type, " is not supported");
  }
  return outputs;
}

void OnnxTranslator::TranslateNode(const onnx::NodeProto& proto, OnnxScope* scope) {
  OnnxNodeData data = DataOf(proto, *scope);
  OnnxNode node(&data, &nets_, this);
  const auto function = functions_.find({data.domain, data.type});
  if (function != functions_.end()) {
    TranslateFunction(*function->second, &node);
  } else {
    UpgradeOnnxNode(&node);
    if (!Fold(&node)) TranslateRounded(&node);
  }
  TakeForwards(&node, proto, scope);
}

}  // namespace caffe2rt
