// Operators that move, select and join elements.

#include <algorithm>
#include <array>
#include <optional>

#include "caffe2_core/base/checked_math.h"
#include "caffe2_core/import/onnx/node_table.h"
#include "caffe2_core/import/onnx/run_time_parameters.h"

namespace caffe2rt {
namespace {

using Proto = onnx::TensorProto;

// The dims as Reshape takes them: 0 copies, -1 is computed. Returns false if more than one dimension
// depends on symbols.
bool ReshapeDims(const OnnxNode& n, const std::string& x, const OnnxContent& shape,
                 OnnxDims* dims) {
  size_t open = 0;
  *dims = shape.ints[0];
  for (size_t i = 0; i < dims->size(); ++i) {
    if (shape.IsFixedAt(i)) {
      open += static_cast<size_t>((*dims)[i] == -1);
      continue;
    }
    bool copies = n.HasRank(x) && i < n.DimsIn(x, 0).size();
    for (size_t world = 0; copies && world < kOnnxWorlds; ++world) {
      const OnnxDims& wanted = shape.ints[world];
      copies = i < wanted.size() && n.DimsIn(x, world)[i] == wanted[i];
    }
    (*dims)[i] = copies ? 0 : -1;
    open += static_cast<size_t>(!copies);
  }
  return open <= 1;
}

// The dims of the result in a world, without 0 and -1; nothing if they do not fit those of x.
std::optional<OnnxDims> ResultDims(const OnnxDims& x, OnnxDims dims, bool allow_zero) {
  int64_t* open = nullptr;
  int64_t known = 1;
  for (size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] == 0 && !allow_zero) {
      if (i >= x.size()) return std::nullopt;
      dims[i] = x[i];
    }
    if (dims[i] < 0) {
      open = &dims[i];
    } else {
      known = CheckedMultiply(known, dims[i]);
    }
  }
  const int64_t elements = CheckedProduct(x);
  if (open != nullptr) {
    if (known == 0) return std::nullopt;
    *open = elements / known;
    known = CheckedMultiply(known, *open);
  }
  return known == elements ? std::optional(dims) : std::nullopt;
}

std::optional<OnnxDims> ResultDimsIn(size_t world, const OnnxDims& x, const OnnxDims& dims,
                                     bool allow_zero) try {
  return ResultDims(x, dims, allow_zero);
} catch (const EnforceNotMet&) {
  if (IsPlainOnnxWorld(world)) throw;
  return std::nullopt;
}

// In all worlds. `fits` is whether x can have the dims of a world.
std::optional<InOnnxWorlds<OnnxDims>> ResultDims(const OnnxNode& n, const std::string& x,
                                                 const OnnxContent& shape, bool allow_zero,
                                                 InOnnxWorlds<bool>* fits) {
  if (!n.HasRank(x)) return std::nullopt;
  InOnnxWorlds<OnnxDims> result;
  for (size_t world = 0; world < kOnnxWorlds; ++world) {
    const auto dims = ResultDimsIn(world, n.DimsIn(x, world), shape.ints[world], allow_zero);
    if (!dims && IsPlainOnnxWorld(world)) return std::nullopt;
    (*fits)[world] = dims.has_value();
    result[world] = dims.value_or(result[0]);
  }
  return result;
}

// The operator that wrote the blob, if it is one of the last few, or null.
const OperatorDef* RecentWriter(const NetDef& net, const std::string& blob) {
  constexpr int kMost = 8;
  for (int i = net.op_size() - 1; i >= 0 && i >= net.op_size() - kMost; --i) {
    if (net.op(i).output_size() > 0 && net.op(i).output(0) == blob) return &net.op(i);
  }
  return nullptr;
}

// PyTorch's exporter swaps the last two of four axes in three dimensions: a Reshape that merges the first
// two, a Transpose, and this Reshape, which divides them again. Emits one Transpose instead.
bool EmitAxesSwap(OnnxNode* n, const InOnnxWorlds<OnnxDims>& result,
                  const InOnnxWorlds<bool>& fits) {
  const NetDef& net = *n->nets().target();
  const OperatorDef* const transpose = RecentWriter(net, n->In(0));
  if (result[0].size() != 4 || transpose == nullptr || transpose->type() != "Transpose")
    return false;
  const OnnxDims axes = ArgumentHelper(*transpose).GetRepeatedArgument<int64_t>("axes");
  const OperatorDef* const merge = RecentWriter(net, transpose->input(0));
  if (axes != OnnxDims{0, 2, 1} || merge == nullptr || merge->type() != "Reshape") return false;
  const std::string x = merge->input(0);
  if (!n->HasRank(x)) return false;
  for (size_t world = 0; world < kOnnxWorlds; ++world) {
    if (!fits[world]) continue;
    const OnnxDims &d = n->DimsIn(x, world), &moved = n->DimsIn(n->In(0), world);
    if (d.size() != 4 || result[world] != OnnxDims{d[0], d[1], d[3], d[2]}) return false;
    if (moved.at(1) != d[3] || moved.at(2) != d[2]) return false;
  }
  n->Emit("Transpose", {x}, {n->Out(0)}, {MakeArgument<OnnxDims>("axes", {0, 1, 3, 2})});
  return true;
}

void TranslateReshape(OnnxNode* n) {
  const std::string &x = n->In(0), &shape = n->In(1);
  const OnnxContent* content = n->Content(shape);
  const bool same_rank = content != nullptr && content->ints[0].size() == content->ints[1].size();
  const bool allow_zero = n->Int("allowzero", 0) != 0;
  const bool zeros = allow_zero && (content == nullptr ||
                                    std::find(content->ints[0].begin(), content->ints[0].end(),
                                              0) != content->ints[0].end());
  std::optional<InOnnxWorlds<OnnxDims>> result;
  InOnnxWorlds<bool> fits = {};
  if (same_rank) result = ResultDims(*n, x, *content, allow_zero, &fits);
  if (result) {
    bool same = true;
    for (size_t world = 0; world < kOnnxWorlds; ++world) {
      same &= !fits[world] || (*result)[world] == n->DimsIn(x, world);
    }
    if (same) return n->Forward(0, x);
    if (EmitAxesSwap(n, *result, fits)) return;
  }
  OnnxDims dims;
  if (same_rank && !zeros && ReshapeDims(*n, x, *content, &dims)) {
    return n->EmitReshape(x, dims, n->Out(0));
  }
  const std::string y = n->Out(0);
  n->Emit("Reshape", {x, shape}, {y, n->NewName("old_shape")},
          {MakeArgument("allowzero", allow_zero)});
  n->SetType(y, n->Type(x));
  if (result) return n->SetDims(y, *result);
  const auto is_open = [](int64_t dim) { return dim < 0; };
  if (allow_zero && same_rank &&
      std::none_of(content->ints[0].begin(), content->ints[0].end(), is_open)) {
    n->SetDims(y, content->ints);
  }
}

void TranslateFlatten(OnnxNode* n) {
  const int64_t axis = n->Int("axis", 1);
  const int64_t rank = axis < 0 ? n->Rank(n->In(0)) : 0;
  n->Emit("Flatten", {n->In(0)}, {n->Out(0)},
          {MakeArgument("axis", axis < 0 ? axis + rank : axis)});
}

void TranslateConcat(OnnxNode* n) {
  if (n->inputs() == 1) return n->Forward(0, n->In(0));
  n->Emit("Concat", n->Ins(), {n->Out(0), n->NewName("sizes")},
          {MakeArgument("axis", n->Int("axis", 1))});
}

void TranslateTranspose(OnnxNode* n) {
  std::vector<Argument> args;
  if (n->HasAttr("perm")) args.push_back(MakeArgument("axes", n->IntList("perm")));
  n->EmitTyped("Transpose", {n->In(0)}, n->Out(0), args);
}

void TranslateSqueeze(OnnxNode* n) {
  const std::string& x = n->In(0);
  const bool known = !n->Has(1) || n->IsKnown(1);
  if (!known || !n->KnowsRank(x) || (!n->Has(1) && !n->HasDims(x)))
    return EmitWithParameters(n, "ONNXSqueeze", 1, {{1, "axes"}});
  std::vector<int64_t> axes;
  if (n->Has(1)) {
    for (const int64_t axis : n->Ints(1)) axes.push_back(n->Axis(x, axis));
  } else {
    const OnnxDims dims = n->FixedDims(x);
    for (size_t i = 0; i < dims.size(); ++i) {
      if (dims[i] == 1) axes.push_back(static_cast<int64_t>(i));
    }
  }
  if (axes.empty()) return n->Forward(0, x);
  n->Emit("Squeeze", {x}, {n->Out(0)}, {MakeArgument("dims", axes)});
}

void TranslateUnsqueeze(OnnxNode* n) {
  const std::string& x = n->In(0);
  const auto is_negative = [](int64_t axis) { return axis < 0; };
  std::vector<int64_t> axes = n->IsKnown(1) ? n->Ints(1) : std::vector<int64_t>{-1};
  const bool negative = std::any_of(axes.begin(), axes.end(), is_negative);
  if (!n->IsKnown(1) || (negative && !n->KnowsRank(x)))
    return EmitWithParameters(n, "Unsqueeze", 1, {{1, "axes"}});
  const int64_t rank = negative ? n->Rank(x) + static_cast<int64_t>(axes.size()) : 0;
  for (int64_t& axis : axes) {
    if (axis < 0) axis += rank;
  }
  if (axes.empty()) return n->Forward(0, x);
  n->Emit("ExpandDims", {x}, {n->Out(0)}, {MakeArgument("dims", axes)});
}

void TranslateGather(OnnxNode* n) {
  int64_t axis = n->Int("axis", 0);
  if (axis < 0) axis = n->Axis(n->In(0), axis);
  n->Emit("Gather", {n->In(0), n->In(1)}, {n->Out(0)},
          {MakeArgument("axis", axis), MakeArgument("wrap_indices", 1),
           MakeArgument("dense_gradient", 1)});
  // The operator writes nothing where the axis is empty, which ONNX does not allow. The dims of the
  // indices do not depend on that.
  OnnxBlob& result = n->nets().At(n->Out(0));
  if (!result.has_dims) return;
  for (size_t world = 0; world < kOnnxWorlds; ++world) {
    OnnxDims dims = n->DimsIn(n->In(0), world);
    const OnnxDims& indices = n->DimsIn(n->In(1), world);
    const auto at = dims.erase(dims.begin() + axis);
    dims.insert(at, indices.begin(), indices.end());
    if (dims.size() == result.dims[world].size()) result.dims[world] = std::move(dims);
  }
}

void TranslateSplit(OnnxNode* n) {
  const std::string& x = n->In(0);
  int64_t axis = n->Int("axis", 0);
  if (n->KnowsRank(x)) axis = n->Axis(x, axis);
  if (n->outputs() == 1 && !n->Has(1)) return n->Forward(0, x);
  std::vector<Argument> args = {MakeArgument("axis", axis)};
  const std::vector<std::string> outputs = n->Outs();
  if (n->Has(1) && !n->IsKnown(1)) {
    n->Emit("Split", {x, n->In(1)}, outputs, args);
    for (const std::string& y : outputs) n->SetType(y, n->Type(x));
    return;
  }
  if (n->Has(1)) {
    args.push_back(MakeArgument("split", n->Ints(1)));
  } else if (!n->HasDims(x) ||
             n->Dims(x).at(static_cast<size_t>(axis)) % static_cast<int64_t>(n->outputs()) != 0) {
    args.push_back(MakeArgument("uneven", 1));
  }
  n->Emit("Split", {x}, outputs, args);
}

// The part of one dimension, in steps of 1, as Caffe2's Slice, which has kernels for devices. Returns
// false if the node is none.
bool SliceOneAxis(OnnxNode* n) {
  const std::string& x = n->In(0);
  if (!n->HasDims(x) || !n->IsKnown(1) || !n->IsKnown(2)) return false;
  const std::vector<int64_t> starts = n->Ints(1), ends = n->Ints(2);
  if (starts.size() != 1 || ends.size() != 1 || (n->Has(3) && !n->IsKnown(3))) return false;
  if (n->Has(4) && (!n->IsKnown(4) || n->Ints(4) != std::vector<int64_t>{1})) return false;
  const int64_t axis = n->Has(3) ? n->Axis(x, n->Ints(3).at(0)) : 0;
  const int64_t size = n->Dims(x).at(static_cast<size_t>(axis));
  const auto clamp = [&](int64_t at) {
    return std::clamp<int64_t>(at < 0 ? at + size : at, 0, size);
  };
  const int64_t first = clamp(starts[0]), last = std::max(clamp(ends[0]), first);
  OnnxDims from(n->Dims(x).size(), 0), to(n->Dims(x).size(), -1);
  from[static_cast<size_t>(axis)] = first;
  to[static_cast<size_t>(axis)] = last;
  (void)n->FixedDim(x, axis);
  n->Emit("Slice", {x}, {n->Out(0)}, {MakeArgument("starts", from), MakeArgument("ends", to)});
  return true;
}

void TranslateSlice(OnnxNode* n) {
  if (SliceOneAxis(n)) return;
  EmitWithParameters(n, "ONNXSlice", 1, {{1, "starts"}, {2, "ends"}, {3, "axes"}, {4, "steps"}});
}

void TranslateExpand(OnnxNode* n) { EmitWithParameters(n, "ONNXExpand", 1, {{1, "shape"}}); }

void TranslateShape(OnnxNode* n) {
  std::vector<Argument> args;
  for (const char* name : {"start", "end"}) {
    if (n->HasAttr(name)) args.push_back(MakeArgument(name, n->Int(name, 0)));
  }
  const std::string y = n->Out(0);
  n->Emit("Shape", {n->In(0)}, {y}, args);
  n->SetType(y, Proto::INT64);
}

// ConstantFill has no unsigned integers of 32 bits and more, and its argument is a float.
void TranslateConstantOfShape(OnnxNode* n) {
  std::vector<Argument> args;
  int type = Proto::FLOAT;
  double real = 0;
  int64_t integer = 0;
  if (const Proto* tensor = n->TensorAttr("value"); tensor != nullptr) {
    type = tensor->data_type();
    CAFFE_ENFORCE(OnnxElements(*tensor) == 1, "its value has several elements, want one");
    if (type == Proto::DOUBLE || type == Proto::UINT32 || type == Proto::UINT64) {
      const std::string value = n->NewName("value");
      n->nets().DefineTensor(value, *tensor);
      return n->Forward(0, n->Call("Expand", {n->Reshape(value, {}), n->In(0)}));
    }
    const auto content = ContentOf(n->nets().file().ReadTensor(*tensor));
    CAFFE_ENFORCE(content != nullptr, "its value has type ", OnnxTypeName(type),
                  ", want numbers or booleans");
    if (content->real)
      real = content->reals[0][0];
    else
      integer = content->ints[0][0];
  }
  args.push_back(type == Proto::BOOL ? MakeArgument("value", integer != 0)
                 : IsOnnxReal(type)  ? MakeArgument("value", static_cast<float>(real))
                                     : MakeArgument("value", integer));
  args.push_back(MakeArgument("dtype", static_cast<int>(Caffe2TypeOf(type))));
  const std::string y = n->Out(0);
  if (n->IsKnown(0)) {
    args.push_back(MakeArgument("shape", n->Ints(0)));
    return n->Emit("ConstantFill", {}, {y}, args);
  }
  args.push_back(MakeArgument("input_as_shape", 1));
  n->Emit("ConstantFill", {n->In(0)}, {y}, args);
  n->SetType(y, type);
}

void TranslateDepthToSpace(OnnxNode* n) {
  n->Emit("DepthToSpace", {n->In(0)}, {n->Out(0)},
          {MakeArgument("blocksize", n->Int("blocksize", 1)),
           MakeArgument("mode", n->Text("mode", "DCR"))});
}

void TranslateSpaceToDepth(OnnxNode* n) {
  n->Emit("SpaceToDepth", {n->In(0)}, {n->Out(0)},
          {MakeArgument("blocksize", n->Int("blocksize", 1)),
           MakeArgument("mode", n->Text("mode", "DCR"))});
}

void TranslateTile(OnnxNode* n) { EmitWithParameters(n, "ONNXTile", 1, {{1, "repeats"}}); }

void TranslatePad(OnnxNode* n) {
  std::string mode = n->Text("mode", "constant");
  std::vector<Argument> args = {MakeArgument("mode", mode)};
  // The value stays an input, which holds any type exactly.
  const std::string value = n->Has(2) ? n->In(2) : "";
  EmitWithParameters(n, "Pad", 1, {{1, "pads"}, {2, "", value}, {3, "axes"}}, args);
}

void TranslateGatherElements(OnnxNode* n) {
  n->Emit("GatherElements", {n->In(0), n->In(1)}, {n->Out(0)},
          {MakeArgument("axis", n->Int("axis", 0))});
}

void TranslateScatterElements(OnnxNode* n) {
  n->Emit("ScatterElements", {n->In(0), n->In(1), n->In(2)}, {n->Out(0)},
          {MakeArgument("axis", n->Int("axis", 0)),
           MakeArgument("reduction", n->Text("reduction", "none"))});
}

void TranslateGatherND(OnnxNode* n) {
  n->Emit("GatherND", {n->In(0), n->In(1)}, {n->Out(0)},
          {MakeArgument("batch_dims", n->Int("batch_dims", 0))});
}

void TranslateScatterND(OnnxNode* n) {
  n->Emit("ScatterND", {n->In(0), n->In(1), n->In(2)}, {n->Out(0)},
          {MakeArgument("reduction", n->Text("reduction", "none"))});
}

void TranslateTrilu(OnnxNode* n) {
  EmitWithParameters(n, "Trilu", 1, {{1, "k"}}, {MakeArgument("upper", n->Int("upper", 1))});
}

void TranslateReverseSequence(OnnxNode* n) {
  n->Emit("ReverseSequence", {n->In(0), n->In(1)}, {n->Out(0)},
          {MakeArgument("batch_axis", n->Int("batch_axis", 1)),
           MakeArgument("time_axis", n->Int("time_axis", 0))});
}

void TranslateCol2Im(OnnxNode* n) {
  std::vector<Argument> args;
  for (const char* name : {"dilations", "pads", "strides"}) {
    if (n->HasAttr(name)) args.push_back(MakeArgument(name, n->IntList(name)));
  }
  EmitWithParameters(n, "ONNXCol2Im", 1, {{1, "image_shape"}, {2, "block_shape"}}, args);
}

void TranslateCenterCropPad(OnnxNode* n) {
  std::vector<Argument> args;
  if (n->HasAttr("axes")) args.push_back(MakeArgument("axes", n->IntList("axes")));
  EmitWithParameters(n, "CenterCropPad", 1, {{1, "shape"}}, args);
}

void TranslateTensorScatter(OnnxNode* n) {
  n->Emit(
      "TensorScatter", n->Ins(), {n->Out(0)},
      {MakeArgument("axis", n->Int("axis", -2)), MakeArgument("mode", n->Text("mode", "linear"))});
}

void TranslateEyeLike(OnnxNode* n) {
  const int type = static_cast<int>(n->Int("dtype", n->Type(n->In(0))));
  const std::string y = n->Out(0);
  n->Emit("EyeLike", {n->In(0)}, {y},
          {MakeArgument("k", n->Int("k", 0)),
           MakeArgument("dtype", static_cast<int64_t>(Caffe2TypeOf(type)))});
  n->SetType(y, type);
}

void TranslateBitCast(OnnxNode* n) {
  const int type = static_cast<int>(n->Int("to", 0));
  CAFFE_ENFORCE(!IsRoundedOnnxType(type) && !IsRoundedOnnxType(n->Type(n->In(0))),
                "BitCast of 16-bit floats is not supported: they are computed in float");
  const std::string y = n->Out(0);
  n->Emit("BitCast", {n->In(0)}, {y},
          {MakeArgument("to", static_cast<int64_t>(Caffe2TypeOf(type)))});
  n->SetType(y, type);
}

}  // namespace

std::vector<OnnxRow> OnnxShapeRows() {
  return {{"BitCast", &TranslateBitCast, "", true},
          {"CenterCropPad", &TranslateCenterCropPad, "", true},
          {"Col2Im", &TranslateCol2Im, "", false},
          {"Concat", &TranslateConcat, "", true},
          {"ConstantOfShape", &TranslateConstantOfShape, "", true},
          {"DepthToSpace", &TranslateDepthToSpace, "", true},
          {"Expand", &TranslateExpand, "", true},
          {"EyeLike", &TranslateEyeLike, "", true},
          {"Flatten", &TranslateFlatten, "", true},
          {"Gather", &TranslateGather, "", true},
          {"GatherElements", &TranslateGatherElements, "", true},
          {"GatherND", &TranslateGatherND, "", true},
          {"Pad", &TranslatePad, "", true},
          {"Reshape", &TranslateReshape, "", true},
          {"ReverseSequence", &TranslateReverseSequence, "", true},
          {"ScatterElements", &TranslateScatterElements, "", false},
          {"ScatterND", &TranslateScatterND, "", false},
          {"Shape", &TranslateShape, "", true},
          {"Size", nullptr, "Size", true},
          {"Slice", &TranslateSlice, "", true},
          {"SpaceToDepth", &TranslateSpaceToDepth, "", true},
          {"Split", &TranslateSplit, "", true},
          {"Squeeze", &TranslateSqueeze, "", true},
          {"TensorScatter", &TranslateTensorScatter, "", true},
          {"Tile", &TranslateTile, "", true},
          {"Transpose", &TranslateTranspose, "", true},
          {"Trilu", &TranslateTrilu, "", true},
          {"Unsqueeze", &TranslateUnsqueeze, "", true}};
}

}  // namespace caffe2rt
