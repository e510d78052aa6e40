#include "caffe2_core/import/onnx/onnx_nets.h"

#include <algorithm>
#include <utility>

#include "caffe2_core/base/checked_math.h"
#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/utf8.h"
#include "caffe2_core/graph/element_types.h"
#include "caffe2_core/graph/nested_nets.h"
#include "caffe2_core/graph/op_schema.h"

namespace caffe2rt {
namespace {

using Proto = onnx::TensorProto;

// The operator that creates a constant, and the list of its argument `values` in a NetDef.
const char* FillOf(TensorProto::DataType type) {
  switch (type) {
    case TensorProto::FLOAT:
      return "GivenTensorFill";
    case TensorProto::DOUBLE:
      return "GivenTensorDoubleFill";
    case TensorProto::BOOL:
      return "GivenTensorBoolFill";
    case TensorProto::INT16:
      return "GivenTensorInt16Fill";
    case TensorProto::INT32:
      return "GivenTensorIntFill";
    case TensorProto::INT64:
      return "GivenTensorInt64Fill";
    case TensorProto::UINT8:
      return "GivenTensorByteStringToUInt8Fill";
    case TensorProto::STRING:
      return "GivenTensorStringFill";
    default:
      return nullptr;  // by Cast from int32 or int64
  }
}

template <class To, class From>
Tensor Converted(const Tensor& values) {
  Tensor converted(values.dims(), CPU);
  std::transform(values.data<From>(), values.data<From>() + values.numel(),
                 converted.mutable_data<To>(), [](From x) { return static_cast<To>(x); });
  return converted;
}

// Of a type without a fill, as a type that has one. Numbers of uint64 keep their bits.
Tensor ForFill(const Tensor& values) {
  if (values.IsType<int8_t>()) return Converted<int32_t, int8_t>(values);
  if (values.IsType<uint16_t>()) return Converted<int32_t, uint16_t>(values);
  if (values.IsType<uint32_t>()) return Converted<int64_t, uint32_t>(values);
  return Converted<int64_t, uint64_t>(values);
}

TensorShape ShapeIn(const OnnxBlob& blob, size_t world) {
  if (!blob.has_dims) {
    TensorShape shape = UnknownShape();
    if (blob.type != 0) shape.set_data_type(Caffe2TypeOf(blob.type));
    return shape;
  }
  return CreateTensorShape(blob.dims[world],
                           blob.type == 0 ? TensorProto::FLOAT : Caffe2TypeOf(blob.type));
}

bool HasShape(const TensorShape& shape) {
  return !shape.unknown_shape() && shape.unknown_dims_size() == 0;
}

// The dims of output `at`, which the plain worlds have.
InOnnxWorlds<OnnxDims> DimsIn(const InOnnxWorlds<std::vector<TensorShape>>& outputs, size_t at) {
  InOnnxWorlds<OnnxDims> dims = InAllOnnxWorlds(GetDimsVector(outputs[0][at]));
  for (size_t world = 1; world < kOnnxWorlds; ++world) {
    if (at < outputs[world].size() && HasShape(outputs[world][at]))
      dims[world] = GetDimsVector(outputs[world][at]);
  }
  return dims;
}

}  // namespace

std::string OnnxNets::UniqueName(const std::string& wanted) {
  std::string name = wanted;
  while (reserved_.contains(name) || !names_.insert(name).second) {
    name = MakeString(wanted, "_", ++repetitions_[wanted] + 1);
  }
  return name;
}

std::string OnnxNets::NameOfValue(const std::string& value) {
  if (half_outputs_.contains(value)) return UniqueName(value + "/float");
  return names_.insert(value).second ? value : UniqueName(value);
}

OnnxBlob& OnnxNets::At(const std::string& blob) {
  const auto found = blobs_.find(blob);
  CAFFE_ENFORCE(found != blobs_.end(), "blob \"", Shortened(blob), "\" does not exist");
  return found->second;
}

const OnnxBlob& OnnxNets::At(const std::string& blob) const {
  return const_cast<OnnxNets*>(this)->At(blob);  // NOLINT: does not change it
}

std::string OnnxNets::Constant(const std::string& wanted, const OnnxDims& dims, int type,
                               std::shared_ptr<const OnnxContent> content) {
  CAFFE_ENFORCE_EQ(static_cast<int64_t>(content->size()), CheckedProduct(dims), "elements of \"",
                   wanted, "\"");
  std::string name = UniqueName(wanted);
  blobs_[name] = {.type = type,
                  .has_dims = true,
                  .dims = InAllOnnxWorlds(dims),
                  .content = std::move(content),
                  .is_constant = true,
                  .is_written = false};
  return name;
}

void OnnxNets::DefineTensor(const std::string& blob, const Proto& tensor) {
  try {
    (void)OnnxElements(tensor);
  } catch (const EnforceNotMet& error) {
    CAFFE_THROW("tensor \"", Shortened(tensor.name()), "\": ", error.message());
  }
  const OnnxDims dims(tensor.dims().begin(), tensor.dims().end());
  blobs_[blob] = {.type = tensor.data_type(),
                  .has_dims = true,
                  .dims = InAllOnnxWorlds(dims),
                  .is_constant = true,
                  .is_written = false,
                  .tensor = &tensor};
}

const OnnxContent* OnnxNets::ContentAt(const std::string& name) {
  OnnxBlob& blob = At(name);
  const bool small = blob.tensor != nullptr && OnnxElements(*blob.tensor) <= kMaxOnnxContent;
  if (blob.content == nullptr && small) blob.content = ContentOf(file_->ReadTensor(*blob.tensor));
  return blob.content.get();
}

void OnnxNets::AddFill(const std::string& name, int type, Tensor values) {
  const OnnxDims dims = values.dims();
  const TensorProto::DataType stored = Caffe2TypeOf(type);
  const char* fill = FillOf(stored);
  std::string filled = name;
  if (fill == nullptr) {
    values = ForFill(values);
    fill = values.IsType<int64_t>() ? "GivenTensorInt64Fill" : "GivenTensorIntFill";
    filled = UniqueName(name + "/int");
  }
  values.Reshape({values.numel()});
  OperatorDef* op = init.add_op();
  *op = CreateOperatorDef(fill, "", std::vector<std::string>{}, std::vector<std::string>{filled},
                          {MakeArgument("shape", dims), MakeArgument("values", OnnxDims())});
  if (stored == TensorProto::STRING) {
    const auto* texts = values.data<std::string>();
    for (int64_t i = 0; i < values.numel(); ++i) op->mutable_arg(1)->add_strings(texts[i]);
  } else {
    weights.push_back({.op = init.op_size() - 1, .arg = 1, .values = std::move(values)});
  }
  if (filled == name) return;
  *init.add_op() = CreateOperatorDef("Cast", "", std::vector<std::string>{filled},
                                     std::vector<std::string>{name},
                                     {MakeArgument("to", static_cast<int>(stored))});
}

void OnnxNets::Write(const std::string& name) {
  OnnxBlob& blob = At(name);
  if (blob.is_written) return;
  blob.is_written = true;
  AddFill(name, blob.type,
          blob.tensor != nullptr ? file_->ReadTensor(*blob.tensor)
                                 : TensorOf(*blob.content, blob.dims[0], blob.type));
}

bool OnnxNets::IsConstant(const OperatorDef& op) const {
  for (const std::string& output : op.output()) {
    if (outputs_.contains(output)) return false;
  }
  for (const std::string& input : op.input()) {
    if (!At(input).is_constant) return false;
  }
  if (HasNestedNets(op)) return false;
  return !OpSchemaRegistry::Schema(op.type())->has_effect(Effect::kRandom, op);
}

void OnnxNets::Append(OperatorDef op, bool in_target) {
  CAFFE_ENFORCE(OpSchemaRegistry::Schema(op.type()) != nullptr, "operator type \"", op.type(),
                "\" is not known");
  const bool constant = !in_target && IsConstant(op);
  for (const std::string& input : op.input()) {
    CAFFE_ENFORCE(sequences.empty() || !sequences.contains(input), "input \"", input,
                  "\" is a sequence, want a tensor");
    Write(input);
  }
  Infer(op);
  for (const std::string& output : op.output()) blobs_[output].is_constant = constant;
  *(constant ? &init : target_)->add_op() = std::move(op);
}

// Infers in all worlds. Where a plain one cannot say, the shape is not known.
void OnnxNets::Infer(const OperatorDef& op) {
  const OpSchema* schema = OpSchemaRegistry::Schema(op.type());
  bool all_known = true, all_fixed = true;
  for (const std::string& input : op.input()) {
    all_known &= At(input).has_dims;
    all_fixed &= At(input).IsFixed();
  }
  InOnnxWorlds<std::vector<TensorShape>> outputs;
  for (size_t world = 0; world < kOnnxWorlds; ++world) {
    if (world > 0 && all_fixed) {
      outputs[world] = outputs[0];
      continue;
    }
    std::vector<TensorShape> inputs;
    for (const std::string& input : op.input()) inputs.push_back(ShapeIn(At(input), world));
    try {
      outputs[world] = schema->InferTensor(op, inputs);
    } catch (const EnforceNotMet&) {
      if (all_known && all_fixed) throw;
    }
  }
  for (int i = 0; i < op.output_size(); ++i) {
    OnnxBlob blob;
    const auto at = static_cast<size_t>(i);
    const bool known = at < outputs[0].size() && at < outputs[1].size();
    if (known && HasShape(outputs[0][at]) && HasShape(outputs[1][at])) {
      blob.SetDims(DimsIn(outputs, at));
      blob.type = OnnxTypeOf(outputs[0][at].data_type());
    } else if (known && outputs[0][at].has_data_type()) {
      blob.type = OnnxTypeOf(outputs[0][at].data_type());
    }
    blobs_[op.output(i)] = blob;
  }
  InferTypes(op);
}

void OnnxNets::InferTypes(const OperatorDef& op) {
  const auto is_open = [&](const std::string& output) { return At(output).type == 0; };
  if (std::none_of(op.output().begin(), op.output().end(), is_open)) return;
  std::vector<TensorShape> inputs;
  for (const std::string& input : op.input()) {
    const OnnxBlob& blob = At(input);
    TensorShape shape = ShapeIn(blob, 0);
    if (blob.type == 0) shape.clear_data_type();
    if (!blob.has_dims && blob.rank >= 0) {
      shape.clear_unknown_shape();
      shape.mutable_dims()->Resize(static_cast<int>(blob.rank), 1);
    }
    inputs.push_back(shape);
  }
  const std::vector<TensorProto::DataType> types = InferElementTypes(op, inputs);
  for (size_t i = 0; i < types.size(); ++i) {
    OnnxBlob& blob = At(op.output(static_cast<int>(i)));
    if (blob.type == 0 && types[i] != TensorProto::UNDEFINED) blob.type = OnnxTypeOf(types[i]);
  }
}

OperatorDef NarrowingOperator(int type, const std::string& from, const std::string& to) {
  const std::vector<std::string> input = {from}, output = {to};
  if (type == Proto::FLOAT16) return CreateOperatorDef("FloatToHalf", "", input, output);
  return CreateOperatorDef("Cast", "", input, output,
                           {MakeArgument("to", static_cast<int>(TensorProto::BFLOAT16))});
}

OperatorDef WideningOperator(int type, const std::string& from, const std::string& to) {
  const std::vector<std::string> input = {from}, output = {to};
  if (type == Proto::FLOAT16) return CreateOperatorDef("HalfToFloat", "", input, output);
  return CreateOperatorDef("Cast", "", input, output,
                           {MakeArgument("to", static_cast<int>(TensorProto::FLOAT))});
}

std::string OnnxNets::Round(const std::string& blob, int type, const std::string& wanted,
                            const std::string& node) {
  const std::string half = UniqueName(wanted + "/half");
  for (OperatorDef op :
       {NarrowingOperator(type, blob, half), WideningOperator(type, half, wanted)}) {
    op.set_name(node);
    op.set_debug_info(node);
    Append(std::move(op));
  }
  OnnxBlob& rounded = blobs_[wanted];
  rounded.type = type;
  if (!rounded.has_dims) rounded.rank = At(blob).rank;
  return wanted;
}

namespace {

void AddReads(const OperatorDef& op, std::unordered_set<std::string>* read) {
  read->insert(op.input().begin(), op.input().end());
  if (!HasNestedNets(op)) return;
  for (const std::string& name : NestedBlobsOf(op).read) read->insert(name);
}

// Which operators of the net write what is read, from the last to the first, or check something.
std::vector<bool> KeptOperators(const NetDef& net, std::unordered_set<std::string>* read) {
  std::vector<bool> kept(static_cast<size_t>(net.op_size()));
  for (int i = net.op_size() - 1; i >= 0; --i) {
    const OperatorDef& op = net.op(i);
    const auto is_read = [&](const std::string& name) { return read->contains(name); };
    kept[static_cast<size_t>(i)] =
        op.output_size() == 0 || std::any_of(op.output().begin(), op.output().end(), is_read);
    if (kept[static_cast<size_t>(i)]) AddReads(op, read);
  }
  return kept;
}

// Returns the new position of each operator, or -1.
std::vector<int> Keep(const std::vector<bool>& kept, NetDef* net) {
  std::vector<int> places(kept.size(), -1);
  int next = 0;
  for (int i = 0; i < net->op_size(); ++i) {
    if (!kept[static_cast<size_t>(i)]) continue;
    if (i != next) net->mutable_op()->SwapElements(i, next);
    places[static_cast<size_t>(i)] = next++;
  }
  net->mutable_op()->DeleteSubrange(next, net->op_size() - next);
  return places;
}

}  // namespace

void OnnxNets::Finish(const std::vector<std::string>& inputs,
                      const std::vector<std::string>& outputs) {
  std::unordered_set<std::string> read(outputs.begin(), outputs.end());
  Keep(KeptOperators(predict, &read), &predict);
  for (const std::string& input : inputs) predict.add_external_input(input);
  for (const OperatorDef& op : init.op()) {
    if (op.output_size() == 0 || !read.contains(op.output(0))) continue;
    for (const std::string& output : op.output()) {
      if (!read.contains(output)) continue;
      predict.add_external_input(output);
      init.add_external_output(output);
    }
  }
  const std::vector<int> places = Keep(KeptOperators(init, &read), &init);
  std::vector<OperatorWeights> kept;
  for (OperatorWeights& values : weights) {
    const int place = places[static_cast<size_t>(values.op)];
    if (place >= 0)
      kept.push_back({.op = place, .arg = values.arg, .values = std::move(values.values)});
  }
  weights = std::move(kept);
  for (const std::string& output : outputs) predict.add_external_output(output);
}

}  // namespace caffe2rt
