#include "caffe2_core/export/onnx_graph.h"

#include <absl/strings/str_join.h>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/graph/nested_nets.h"
#include "caffe2_core/graph/net_blobs.h"
#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/tensor/data_type.h"

namespace caffe2rt {
namespace {

void SetAttribute(const OnnxAttribute& from, onnx::AttributeProto* to) {
  to->set_name(from.name);
  if (const auto* i = std::get_if<int64_t>(&from.value)) {
    to->set_type(onnx::AttributeProto::INT);
    to->set_i(*i);
  } else if (const auto* f = std::get_if<float>(&from.value)) {
    to->set_type(onnx::AttributeProto::FLOAT);
    to->set_f(*f);
  } else if (const auto* s = std::get_if<std::string>(&from.value)) {
    to->set_type(onnx::AttributeProto::STRING);
    to->set_s(*s);
  } else if (const auto* floats = std::get_if<OnnxFloats>(&from.value)) {
    to->set_type(onnx::AttributeProto::FLOATS);
    to->mutable_floats()->Assign(floats->begin(), floats->end());
  } else if (const auto* texts = std::get_if<std::vector<std::string>>(&from.value)) {
    to->set_type(onnx::AttributeProto::STRINGS);
    for (const std::string& text : *texts) to->add_strings(text);
  } else {
    to->set_type(onnx::AttributeProto::INTS);
    const auto& ints = std::get<std::vector<int64_t>>(from.value);
    to->mutable_ints()->Assign(ints.begin(), ints.end());
  }
}

void SetType(const std::string& name, const TensorShape& shape, onnx::ValueInfoProto* info,
             const OnnxDims& dims_if_unknown = {}) {
  info->set_name(name);
  auto* type = info->mutable_type()->mutable_tensor_type();
  type->set_elem_type(ExportedTypeOf(shape.data_type()));
  auto* dims = type->mutable_shape();
  const OnnxDims known = shape.unknown_shape() ? dims_if_unknown : GetDimsVector(shape);
  for (const int64_t dim : known) {
    auto* written = dims->add_dim();
    if (dim >= 0) written->set_dim_value(dim);
  }
}

}  // namespace

int32_t ExportedTypeOf(TensorProto_DataType type) {
  switch (type) {
    case TensorProto::FLOAT:
      return onnx::TensorProto::FLOAT;
    case TensorProto::INT32:
      return onnx::TensorProto::INT32;
    case TensorProto::BYTE:
    case TensorProto::UINT8:
      return onnx::TensorProto::UINT8;
    case TensorProto::STRING:
      return onnx::TensorProto::STRING;
    case TensorProto::BOOL:
      return onnx::TensorProto::BOOL;
    case TensorProto::INT8:
      return onnx::TensorProto::INT8;
    case TensorProto::UINT16:
      return onnx::TensorProto::UINT16;
    case TensorProto::INT16:
      return onnx::TensorProto::INT16;
    case TensorProto::INT64:
      return onnx::TensorProto::INT64;
    case TensorProto::FLOAT16:
      return onnx::TensorProto::FLOAT16;
    case TensorProto::DOUBLE:
      return onnx::TensorProto::DOUBLE;
    case TensorProto::UINT32:
      return onnx::TensorProto::UINT32;
    case TensorProto::UINT64:
      return onnx::TensorProto::UINT64;
    case TensorProto::BFLOAT16:
      return onnx::TensorProto::BFLOAT16;
    default:
      CAFFE_THROW("element type ", DataTypeName(type), " has no counterpart in ONNX");
  }
}

void SetGraph(const std::string& name, onnx::GraphProto* graph, onnx::NodeProto* node) {
  onnx::AttributeProto* const attribute = node->add_attribute();
  attribute->set_name(name);
  attribute->set_type(onnx::AttributeProto::GRAPH);
  attribute->mutable_g()->Swap(graph);
}

OnnxGraph::OnnxGraph(const NetDef& net, const OnnxExportOptions& options)
    : net_(net), options_(options), target_(result_.model.mutable_graph()) {
  for (const auto& [name, shape] : options.inputs) {
    names_.insert(name);
    values_[name] = name;
  }
  for (const std::string& output : options.outputs) read_.insert(output);
  AddReads(net);
  for (const OperatorDef& op : net.op()) {
    for (const std::string& output : op.output()) ++writes_left_[output];
  }
}

void OnnxGraph::AddReads(const NetDef& net) {
  for (const OperatorDef& op : net.op()) {
    read_.insert(op.input().begin(), op.input().end());
    for (const Argument& arg : op.arg()) {
      if (!arg.has_n()) continue;
      AddReads(arg.n());
      read_.insert(arg.n().external_output().begin(), arg.n().external_output().end());
    }
    if (HasNestedNets(op)) read_.insert(op.output().begin(), op.output().end());
  }
}

void OnnxGraph::WriteInside(onnx::GraphProto* graph, const NetDef& net,
                            const std::function<void()>& write) {
  const std::map<std::string, std::string> values = values_;
  const std::map<std::string, int> writes_left = writes_left_;
  onnx::GraphProto* const target = std::exchange(target_, graph);
  const OperatorDef* const op = op_;
  for (const OperatorDef& inner : net.op()) {
    for (const std::string& output : inner.output()) ++writes_left_[output];
  }
  write();
  op_ = op;
  target_ = target;
  values_ = values;
  writes_left_ = writes_left;
}

std::string OnnxGraph::AddInput(const std::string& blob) {
  return values_[blob] = NewName(writes_left_.contains(blob) ? blob + "_initial" : blob);
}

std::string OnnxGraph::NewName(const std::string& stem) {
  if (names_.insert(stem).second) return stem;
  while (true) {
    std::string name = MakeString(stem, "_", ++repetitions_[stem]);
    if (!writes_left_.contains(name) && !options_.weights.contains(name) &&
        names_.insert(name).second) {
      return name;
    }
  }
}

const Tensor* OnnxGraph::Weight(const std::string& blob) const {
  if (values_.contains(blob) || writes_left_.contains(blob)) return nullptr;
  const auto weight = options_.weights.find(blob);
  return weight == options_.weights.end() ? nullptr : weight->second;
}

std::string OnnxGraph::Value(const std::string& blob) {
  const auto value = values_.find(blob);
  if (value != values_.end()) return value->second;
  if (const auto given = weight_values_.find(blob); given != weight_values_.end())
    return given->second;
  const auto weight = options_.weights.find(blob);
  CAFFE_ENFORCE(
      weight != options_.weights.end(), "blob \"", blob,
      "\" has no value: no input or weight has this name, and the operator that writes it "
      "has no counterpart of this output in ONNX");
  // A weight that the net writes later leaves its name to the last value.
  const std::string stem = writes_left_.contains(blob) ? blob + "_initial" : blob;
  return weight_values_[blob] = AddWeight(blob, NewName(stem), weight->second->dims());
}

std::string OnnxGraph::Write(const std::string& blob) {
  const bool is_last = --writes_left_[blob] == 0;
  const bool is_free = is_last && !names_.contains(blob);
  // A name that an earlier value has is not used again before the last one.
  std::string stem = is_free ? blob : MakeString(blob, "_value");
  return values_[blob] = NewName(stem);
}

std::string OnnxGraph::AddWeight(const std::string& blob, const std::string& name,
                                 const OnnxDims& dims) {
  const Tensor* weight = options_.weights.at(blob);
  AddInitializer(name, ExportedTypeOf(TypeMetaToDataType(weight->dtype())), dims);
  result_.weights.back() = weight;
  return name;
}

std::string OnnxGraph::ReshapedWeight(const std::string& blob, const OnnxDims& dims) {
  const Tensor* weight = Weight(blob);
  CAFFE_ENFORCE(weight != nullptr, "blob \"", blob, "\" is not a weight");
  if (weight->dims() == dims) return Value(blob);
  const std::string key = MakeString(blob, ":", absl::StrJoin(dims, ","));
  const auto found = constants_.find(key);
  if (found != constants_.end()) return found->second;
  const bool is_free =
      !values_.contains(blob) && !weight_values_.contains(blob) && !names_.contains(blob);
  const std::string name = NewName(is_free ? blob : blob + "_reshaped");
  // The original shape gets another name if it is wanted, too.
  return constants_[key] = AddWeight(blob, name, dims);
}

onnx::TensorProto* OnnxGraph::AddInitializer(const std::string& name, int32_t type,
                                             const OnnxDims& dims) {
  onnx::TensorProto* tensor = result_.model.mutable_graph()->add_initializer();
  tensor->set_name(name);
  tensor->set_data_type(type);
  tensor->mutable_dims()->Assign(dims.begin(), dims.end());
  result_.weights.push_back(nullptr);
  return tensor;
}

std::string OnnxGraph::Constant(const std::vector<int64_t>& values) {
  std::string& name = constants_[MakeString("ints:", absl::StrJoin(values, ","))];
  if (!name.empty()) return name;
  name = NewName("const");
  auto* tensor =
      AddInitializer(name, onnx::TensorProto::INT64, {static_cast<int64_t>(values.size())});
  tensor->mutable_int64_data()->Assign(values.begin(), values.end());
  return name;
}

std::string OnnxGraph::Scalar(int64_t value) {
  std::string& name = constants_[MakeString("int:", value)];
  if (!name.empty()) return name;
  name = NewName("const");
  AddInitializer(name, onnx::TensorProto::INT64, {})->add_int64_data(value);
  return name;
}

std::string OnnxGraph::Scalar(float value) {
  // Not shared: a key would have to print every bit.
  const std::string name = NewName("const");
  AddInitializer(name, onnx::TensorProto::FLOAT, {})->add_float_data(value);
  return name;
}

std::string OnnxGraph::Floats(const OnnxFloats& values) {
  const std::string name = NewName("const");
  auto* tensor =
      AddInitializer(name, onnx::TensorProto::FLOAT, {static_cast<int64_t>(values.size())});
  tensor->mutable_float_data()->Assign(values.begin(), values.end());
  return name;
}

std::string OnnxGraph::Filled(const OnnxDims& dims, float value, TensorProto_DataType type) {
  const std::string name = NewName("const");
  const bool is_double = type == TensorProto::DOUBLE;
  auto* tensor =
      AddInitializer(name, is_double ? onnx::TensorProto::DOUBLE : onnx::TensorProto::FLOAT, dims);
  int64_t count = 1;
  for (const int64_t dim : dims) count *= dim;
  for (int64_t i = 0; i < count; ++i) {
    if (is_double) {
      tensor->add_double_data(value);
    } else {
      tensor->add_float_data(value);
    }
  }
  return name;
}

onnx::NodeProto* OnnxGraph::AddNode(const std::string& type, const std::vector<std::string>& inputs,
                                    const std::vector<std::string>& outputs,
                                    const OnnxAttributes& attributes) {
  onnx::NodeProto* node = target_->add_node();
  node->set_op_type(type);
  for (const std::string& input : inputs) node->add_input(input);
  for (const std::string& output : outputs) node->add_output(output);
  for (const OnnxAttribute& attribute : attributes) SetAttribute(attribute, node->add_attribute());
  if (op_ == nullptr) return node;
  const std::string stem = op_->name().empty() ? outputs.at(0) : op_->name();
  std::string name = stem;
  while (!node_names_.insert(name).second) name = MakeString(stem, "/", ++repetitions_["/" + stem]);
  node->set_name(name);
  if (op_->has_debug_info()) node->set_doc_string(op_->debug_info());
  return node;
}

void OnnxGraph::AddOutput(const std::string& blob, const ShapeMap& shapes) {
  std::string name = Value(blob);
  op_ = nullptr;
  // An output has its own name, which is not that of an input or a weight.
  const bool is_made = name == blob && !options_.inputs.contains(blob) && Weight(blob) == nullptr;
  if (!is_made) {
    const std::string from = name;
    name = NewName(names_.contains(blob) ? blob + "_out" : blob);
    AddNode("Identity", {from}, {name}, {});
    if (name != blob) {
      result_.notes.push_back(MakeString("output \"", blob, "\" is called \"", name,
                                         "\", because an input or a weight has its name"));
    }
  }
  const auto shape = shapes.find(blob);
  const auto stated = options_.output_dims.find(blob);
  const bool has_rank = shape != shapes.end() &&
                        (!shape->second.unknown_shape() || stated != options_.output_dims.end());
  const bool has_type = has_rank && shape->second.data_type() != TensorProto::UNDEFINED;
  CAFFE_ENFORCE(has_type, "the ", has_rank ? "element type" : "shape", " of output \"", blob,
                "\" is not known; state the shapes of the inputs with --input-shape BLOB=DIMS");
  SetType(name, shape->second, result_.model.mutable_graph()->add_output(),
          stated == options_.output_dims.end() ? OnnxDims() : stated->second);
}

OnnxExport OnnxGraph::Finish(const ShapeMap& shapes) {
  onnx::GraphProto* graph = result_.model.mutable_graph();
  graph->set_name(net_.name().empty() ? "net" : net_.name());
  // In the order of the net.
  std::set<std::string> stated;
  for (const std::string& input : net_.external_input()) {
    const auto shape = options_.inputs.find(input);
    if (shape == options_.inputs.end() || !stated.insert(input).second) continue;
    SetType(input, shape->second, graph->add_input());
  }
  for (const auto& [input, shape] : options_.inputs) {
    if (stated.insert(input).second) SetType(input, shape, graph->add_input());
  }
  for (const std::string& output : options_.outputs) AddOutput(output, shapes);
  return std::move(result_);
}

}  // namespace caffe2rt
