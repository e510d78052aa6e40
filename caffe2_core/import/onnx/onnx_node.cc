#include "caffe2_core/import/onnx/onnx_node.h"

#include <absl/strings/ascii.h>
#include <absl/strings/str_join.h>

#include <algorithm>
#include <optional>

#include "caffe2_core/base/checked_math.h"
#include "caffe2_core/base/utf8.h"
#include "caffe2_core/graph/accepted_inputs.h"
#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/import/onnx/node_table.h"
#include "caffe2_core/import/onnx/onnx_translator.h"

namespace caffe2rt {

using AttributeProto = onnx::AttributeProto;

// --- attributes ---

AttributeProto OnnxInt(const std::string& name, int64_t value) {
  AttributeProto attribute;
  attribute.set_name(name);
  attribute.set_type(AttributeProto::INT);
  attribute.set_i(value);
  return attribute;
}

AttributeProto OnnxInts(const std::string& name, const std::vector<int64_t>& values) {
  AttributeProto attribute;
  attribute.set_name(name);
  attribute.set_type(AttributeProto::INTS);
  attribute.mutable_ints()->Add(values.begin(), values.end());
  return attribute;
}

AttributeProto OnnxFloat(const std::string& name, float value) {
  AttributeProto attribute;
  attribute.set_name(name);
  attribute.set_type(AttributeProto::FLOAT);
  attribute.set_f(value);
  return attribute;
}

AttributeProto OnnxText(const std::string& name, const std::string& value) {
  AttributeProto attribute;
  attribute.set_name(name);
  attribute.set_type(AttributeProto::STRING);
  attribute.set_s(value);
  return attribute;
}

void OnnxNodeData::Set(const AttributeProto& attribute) {
  own.push_back(std::make_shared<AttributeProto>(attribute));
  attributes[attribute.name()] = own.back().get();
}

void OnnxNodeData::SetInt(const std::string& name, int64_t value) { Set(OnnxInt(name, value)); }

const AttributeProto* OnnxNode::Attr(std::string_view name, int type) const {
  const auto found = data_.attributes.find(name);
  if (found == data_.attributes.end()) return nullptr;
  // Files before IR version 3 do not state the type.
  const AttributeProto& attribute = *found->second;
  CAFFE_ENFORCE(
      !attribute.has_type() || attribute.type() == AttributeProto::UNDEFINED ||
          attribute.type() == type,
      "attribute \"", std::string(name), "\" has type ",
      AttributeProto::AttributeType_Name(attribute.type()), ", want ",
      AttributeProto::AttributeType_Name(static_cast<AttributeProto::AttributeType>(type)));
  return &attribute;
}

int64_t OnnxNode::Int(std::string_view name, int64_t missing) const {
  const AttributeProto* found = Attr(name, AttributeProto::INT);
  return found == nullptr ? missing : found->i();
}

float OnnxNode::Float(std::string_view name, float missing) const {
  const AttributeProto* found = Attr(name, AttributeProto::FLOAT);
  return found == nullptr ? missing : found->f();
}

std::string OnnxNode::Text(std::string_view name, const std::string& missing) const {
  const AttributeProto* found = Attr(name, AttributeProto::STRING);
  return found == nullptr ? missing : found->s();
}

std::vector<int64_t> OnnxNode::IntList(std::string_view name,
                                       const std::vector<int64_t>& missing) const {
  const AttributeProto* found = Attr(name, AttributeProto::INTS);
  if (found == nullptr) return missing;
  return {found->ints().begin(), found->ints().end()};
}

std::vector<float> OnnxNode::FloatList(std::string_view name,
                                       const std::vector<float>& missing) const {
  const AttributeProto* found = Attr(name, AttributeProto::FLOATS);
  if (found == nullptr) return missing;
  return {found->floats().begin(), found->floats().end()};
}

std::vector<std::string> OnnxNode::TextList(std::string_view name) const {
  const AttributeProto* found = Attr(name, AttributeProto::STRINGS);
  if (found == nullptr) return {};
  return {found->strings().begin(), found->strings().end()};
}

const onnx::TensorProto* OnnxNode::TensorAttr(std::string_view name) const {
  const AttributeProto* found = Attr(name, AttributeProto::TENSOR);
  return found == nullptr || !found->has_t() ? nullptr : &found->t();
}

const onnx::GraphProto* OnnxNode::GraphAttr(std::string_view name) const {
  const AttributeProto* found = Attr(name, AttributeProto::GRAPH);
  return found == nullptr || !found->has_g() ? nullptr : &found->g();
}

// --- inputs and outputs ---

const std::string& OnnxNode::In(size_t i) const {
  CAFFE_ENFORCE(Has(i), "it has no input ", i, ", want one");
  return data_.inputs[i];
}

std::string OnnxNode::Out(size_t i) {
  if (HasOut(i)) return data_.outputs[i];
  return NewName(MakeString("unused", i));
}

std::vector<std::string> OnnxNode::Outs() {
  std::vector<std::string> outs;
  for (size_t i = 0; i < outputs(); ++i) outs.push_back(Out(i));
  return outs;
}

std::string OnnxNode::NewName(const std::string& label) {
  return nets_.UniqueName(MakeString(data_.name, "/", label));
}

// --- shapes ---

int OnnxNode::Type(const std::string& blob) const {
  const int type = nets_.At(blob).type;
  return type == 0 ? static_cast<int>(onnx::TensorProto::FLOAT) : type;
}

int64_t OnnxNode::Rank(const std::string& blob) const {
  CAFFE_ENFORCE(KnowsRank(blob), "it needs the rank of blob \"", Shortened(blob),
                "\", which is not known; give the shapes of the inputs");
  const OnnxBlob& found = nets_.At(blob);
  return found.has_dims ? static_cast<int64_t>(found.dims[0].size()) : found.rank;
}

const OnnxDims& OnnxNode::DimsIn(const std::string& blob, size_t world) const {
  CAFFE_ENFORCE(HasRank(blob), "it needs the dims of blob \"", Shortened(blob),
                "\", which are not known; give the shapes of the inputs");
  return nets_.At(blob).dims[world];
}

OnnxDims OnnxNode::Dims(const std::string& blob) const {
  (void)DimsIn(blob, 0);
  const OnnxBlob& found = nets_.At(blob);
  for (size_t i = 0; i < found.dims[0].size(); ++i) {
    if (found.IsFixedDim(i)) continue;
    const std::string symbol = nets_.symbols.NameOf(found.dims[0][i], found.dims[1][i]);
    CAFFE_THROW("it needs dim ", i, " of blob \"", Shortened(blob), "\", which ",
                symbol.empty() ? "depends on the inputs; give the shapes of the inputs"
                               : MakeString("is \"", Shortened(symbol), "\"; give it a number"));
  }
  return found.dims[0];
}

OnnxDims OnnxNode::FixedDims(const std::string& blob) {
  if (nets_.fixed_size_node.empty()) nets_.fixed_size_node = data_.name;
  return Dims(blob);
}

int64_t OnnxNode::FixedDim(const std::string& blob, int64_t axis) {
  (void)DimsIn(blob, 0);
  const OnnxBlob& found = nets_.At(blob);
  const auto at = static_cast<size_t>(Axis(blob, axis));
  if (!found.IsFixedDim(at)) return FixedDims(blob)[at];
  return found.dims[0][at];
}

int64_t OnnxNode::AxisOf(int64_t axis, int64_t rank) {
  CAFFE_ENFORCE(axis >= -rank && axis < rank, "axis ", axis, " is out of range for ", rank,
                " axes");
  return axis < 0 ? axis + rank : axis;
}

int64_t OnnxNode::Axis(const std::string& blob, int64_t axis) const {
  return AxisOf(axis, Rank(blob));
}

void OnnxNode::SetDims(const std::string& blob, const OnnxDims& dims) {
  SetDims(blob, InAllOnnxWorlds(dims));
}

void OnnxNode::SetDims(const std::string& blob, const InOnnxWorlds<OnnxDims>& dims) {
  nets_.At(blob).SetDims(dims);
}

// --- contents ---

bool OnnxNode::IsKnown(size_t i) const {
  if (!Has(i)) return false;
  const OnnxContent* content = nets_.ContentAt(In(i));
  return content != nullptr && content->IsFixed();
}

std::vector<int64_t> OnnxNode::Ints(size_t i) const {
  CAFFE_ENFORCE(IsKnown(i), "input ", i, " (\"", Shortened(In(i)),
                "\") is computed when the net runs, want a constant");
  const OnnxContent& content = *nets_.ContentAt(In(i));
  if (!content.real) return content.ints[0];
  return {content.reals[0].begin(), content.reals[0].end()};
}

std::vector<double> OnnxNode::Reals(size_t i) const {
  CAFFE_ENFORCE(IsKnown(i), "input ", i, " (\"", Shortened(In(i)),
                "\") is computed when the net runs, want a constant");
  const OnnxContent& content = *nets_.ContentAt(In(i));
  if (content.real) return content.reals[0];
  return {content.ints[0].begin(), content.ints[0].end()};
}

std::vector<float> OnnxNode::Floats(size_t i) const {
  const std::vector<double> reals = Reals(i);
  return {reals.begin(), reals.end()};
}

int64_t OnnxNode::IntAt(size_t i) const {
  const std::vector<int64_t> values = Ints(i);
  CAFFE_ENFORCE_EQ(values.size(), size_t{1}, "elements of input ", i);
  return values[0];
}

float OnnxNode::FloatAt(size_t i) const {
  const std::vector<float> values = Floats(i);
  CAFFE_ENFORCE_EQ(values.size(), size_t{1}, "elements of input ", i);
  return values[0];
}

std::vector<int64_t> OnnxNode::IntsOr(size_t i, const std::vector<int64_t>& missing) const {
  return Has(i) ? Ints(i) : missing;
}

// --- operators ---

void OnnxNode::Emit(const std::string& type, const std::vector<std::string>& inputs,
                    const std::vector<std::string>& outputs, const std::vector<Argument>& args) {
  OperatorDef op = CreateOperatorDef(type, data_.name, inputs, outputs, args);
  op.set_debug_info(data_.name);
  nets_.Append(std::move(op));
}

void OnnxNode::EmitHere(const std::string& type, const std::vector<std::string>& inputs,
                        const std::vector<std::string>& outputs,
                        const std::vector<Argument>& args) {
  OperatorDef op = CreateOperatorDef(type, data_.name, inputs, outputs, args);
  op.set_debug_info(data_.name);
  nets_.Append(std::move(op), /*in_target=*/true);
}

void OnnxNode::Forward(size_t i, const std::string& blob) {
  if (HasOut(i)) data_.forwards[i] = blob;
}

std::string OnnxNode::Value(const std::string& type, const std::vector<std::string>& inputs,
                            const std::vector<Argument>& args, int more) {
  const std::string label = absl::AsciiStrToLower(type);
  std::vector<std::string> outputs = {NewName(label)};
  for (int i = 0; i < more; ++i) outputs.push_back(NewName(label + "/unused"));
  Emit(type, inputs, outputs, args);
  return outputs[0];
}

std::string OnnxNode::Const(const std::string& label, const OnnxDims& dims, int type,
                            const std::vector<double>& values) {
  auto content = std::make_shared<OnnxContent>();
  content->real = IsOnnxReal(type);
  if (content->real) {
    content->reals = InAllOnnxWorlds(values);
  } else {
    content->ints = InAllOnnxWorlds(std::vector<int64_t>(values.begin(), values.end()));
  }
  return nets_.Constant(MakeString(data_.name, "/", label), dims, type, std::move(content));
}

std::string OnnxNode::FloatConst(const std::string& label, const OnnxDims& dims,
                                 const std::vector<float>& values) {
  return Const(label, dims, onnx::TensorProto::FLOAT, {values.begin(), values.end()});
}

std::string OnnxNode::IntConst(const std::string& label, const std::vector<int64_t>& values) {
  auto content = std::make_shared<OnnxContent>();
  content->ints = InAllOnnxWorlds(values);
  return nets_.Constant(MakeString(data_.name, "/", label), {static_cast<int64_t>(values.size())},
                        onnx::TensorProto::INT64, std::move(content));
}

std::string OnnxNode::ScalarConst(const std::string& label, double value, int type) {
  return Const(label, {}, type, {value});
}

// --- steps ---

namespace {

bool Accepts(const std::string& type, int onnx_type) {
  const TensorProto::DataType wanted = Caffe2TypeOf(onnx_type);
  const std::optional<AcceptedInput> listed = FindAcceptedInput(type, 0);
  if (listed.has_value()) {
    // An operator that accepts all types that were tried looks at no element.
    return listed->types.size() == TriedTypes().size() ||
           std::find(listed->types.begin(), listed->types.end(), wanted) != listed->types.end();
  }
  const OpSchema* schema = OpSchemaRegistry::Schema(type);
  const InputTypes* declared = schema == nullptr ? nullptr : schema->types_of_input(0);
  return declared == nullptr || declared->accepted.empty() ||
         std::find(declared->accepted.begin(), declared->accepted.end(), wanted) !=
             declared->accepted.end();
}

// Operators whose result has the same bits for signed and unsigned integers.
bool IsModular(const std::string& type) {
  constexpr const char* kTypes[] = {"Add",       "Sub",        "Mul", "BitwiseAnd",
                                    "BitwiseOr", "BitwiseXor", "EQ",  "NE"};
  return std::find(std::begin(kTypes), std::end(kTypes), type) != std::end(kTypes);
}

bool IsOrder(const std::string& type) {
  return type == "LT" || type == "LE" || type == "GT" || type == "GE";
}

// The types that hold all values of an element type, or serve the operator, the smallest first.
std::vector<int> WiderTypes(const std::string& op_type, int type) {
  using Proto = onnx::TensorProto;
  if (type == Proto::UINT64 && IsModular(op_type)) return {Proto::INT64};
  switch (type) {
    case Proto::BOOL:
    case Proto::UINT8:
    case Proto::INT8:
    case Proto::UINT16:
    case Proto::INT16:
      return {Proto::INT32, Proto::INT64, Proto::FLOAT, Proto::DOUBLE};
    case Proto::INT32:
    case Proto::UINT32:
      return {Proto::INT64, Proto::DOUBLE};
    case Proto::FLOAT:
      return {Proto::DOUBLE};
    default:
      return {};
  }
}

}  // namespace

void OnnxNode::EmitTyped(const std::string& type, const std::vector<std::string>& inputs,
                         const std::string& output, const std::vector<Argument>& args) {
  const int from = Type(inputs.at(0));
  if (Accepts(type, from)) return Emit(type, inputs, {output}, args);
  // An operator for ONNX's types beside Caffe2's.
  const std::string for_onnx = "ONNX" + type;
  if (OpSchemaRegistry::Schema(for_onnx) != nullptr && Accepts(for_onnx, from)) {
    return Emit(for_onnx, inputs, {output}, args);
  }
  if (from == onnx::TensorProto::UINT64 && IsOrder(type)) {
    return Emit(type, OrderedAsSigned(inputs), {output}, args);
  }
  for (const int to : WiderTypes(type, from)) {
    if (!Accepts(type, to)) continue;
    std::vector<std::string> wide;
    for (const std::string& input : inputs) wide.push_back(Cast(input, to));
    const std::string result = Value(type, wide, args);
    if (Type(result) == to) {
      Emit("Cast", {result}, {output}, {MakeArgument("to", static_cast<int>(Caffe2TypeOf(from)))});
      SetType(output, from);
    } else {
      Emit("Alias", {result}, {output});
      SetType(output, Type(result));
    }
    return;
  }
  CAFFE_THROW("operator ", type, " has no kernel for elements of type ", OnnxTypeName(from));
}

std::vector<std::string> OnnxNode::OrderedAsSigned(const std::vector<std::string>& inputs) {
  const std::string lowest = ScalarConst("lowest", -0x1p63, onnx::TensorProto::INT64);
  std::vector<std::string> moved;
  for (const std::string& input : inputs) {
    moved.push_back(Value("Add", {Cast(input, onnx::TensorProto::INT64), lowest}));
  }
  return moved;
}

std::string OnnxNode::TypedValue(const std::string& type, const std::vector<std::string>& inputs,
                                 const std::vector<Argument>& args) {
  std::string name = NewName("value");
  EmitTyped(type, inputs, name, args);
  return name;
}

std::string OnnxNode::Cast(const std::string& blob, int onnx_type) {
  const int from = Type(blob);
  if (KnowsType(blob) && Caffe2TypeOf(from) == Caffe2TypeOf(onnx_type)) return blob;
  std::string cast =
      Value("Cast", {blob}, {MakeArgument("to", static_cast<int>(Caffe2TypeOf(onnx_type)))});
  SetType(cast, onnx_type);
  return cast;
}

std::string OnnxNode::Moved(const std::string& from, std::string to) {
  const int type = nets_.At(from).type;
  if (IsRoundedOnnxType(type) || NarrowFormatOf(type).has_value()) SetType(to, type);
  return to;
}

std::string OnnxNode::Reshape(const std::string& blob, const OnnxDims& dims) {
  return Moved(blob, Value("Reshape", {blob}, {MakeArgument("shape", dims)}, 1));
}

void OnnxNode::EmitReshape(const std::string& blob, const OnnxDims& dims, const std::string& out) {
  Emit("Reshape", {blob}, {out, NewName("old_shape")}, {MakeArgument("shape", dims)});
}

std::string OnnxNode::Transpose(const std::string& blob, const std::vector<int64_t>& axes) {
  return Moved(blob, Value("Transpose", {blob}, {MakeArgument("axes", axes)}));
}

std::vector<std::string> OnnxNode::CallAll(const std::string& type,
                                           const std::vector<std::string>& inputs,
                                           const std::vector<AttributeProto>& attributes,
                                           size_t outputs) {
  OnnxNodeData data = {
      .type = type, .name = data_.name, .version = kNewestOnnxOpset, .inputs = inputs};
  for (const AttributeProto& attribute : attributes) data.Set(attribute);
  for (size_t i = 0; i < outputs; ++i) data.outputs.push_back(NewName(type));
  return translator_->TranslateCall(&data);
}

void OnnxNode::Note(const std::string& text) {
  nets_.notes.push_back(MakeString("node \"", Shortened(data_.name), "\": ", text));
}

}  // namespace caffe2rt
