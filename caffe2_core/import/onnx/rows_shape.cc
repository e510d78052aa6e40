// Operators that move, select and join elements.

#include <algorithm>

#include "caffe2_core/base/checked_math.h"
#include "caffe2_core/import/onnx/node_table.h"

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
    if (shape.ints[0][i] == shape.ints[1].at(i)) {
      open += static_cast<size_t>((*dims)[i] == -1);
      continue;
    }
    const bool copies = n.HasRank(x) && i < n.DimsIn(x, 0).size() &&
                        n.DimsIn(x, 0)[i] == shape.ints[0][i] &&
                        n.DimsIn(x, 1)[i] == shape.ints[1][i];
    (*dims)[i] = copies ? 0 : -1;
    open += static_cast<size_t>(!copies);
  }
  return open <= 1;
}

void TranslateReshape(OnnxNode* n) {
  const std::string &x = n->In(0), &shape = n->In(1);
  const OnnxContent* content = n->Content(shape);
  OnnxDims dims;
  const bool same_rank = content != nullptr && content->ints[0].size() == content->ints[1].size();
  const bool zeros =
      n->Int("allowzero", 0) != 0 && content != nullptr &&
      std::find(content->ints[0].begin(), content->ints[0].end(), 0) != content->ints[0].end();
  if (same_rank && !zeros && ReshapeDims(*n, x, *content, &dims)) {
    return n->EmitReshape(x, dims, n->Out(0));
  }
  CAFFE_ENFORCE(!zeros, "allowzero with a dim of 0 is not supported");
  n->Emit("Reshape", {x, shape}, {n->Out(0), n->NewName("old_shape")});
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
  std::vector<int64_t> axes;
  if (n->Has(1)) {
    for (const int64_t axis : n->Ints(1)) axes.push_back(axis < 0 ? n->Axis(x, axis) : axis);
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
  std::vector<int64_t> axes = n->Ints(1);
  const bool negative =
      std::any_of(axes.begin(), axes.end(), [](int64_t axis) { return axis < 0; });
  const int64_t rank = negative ? n->Rank(x) + static_cast<int64_t>(axes.size()) : 0;
  for (int64_t& axis : axes) {
    if (axis < 0) axis += rank;
  }
  if (axes.empty()) return n->Forward(0, x);
  n->Emit("ExpandDims", {x}, {n->Out(0)}, {MakeArgument("dims", axes)});
}

void TranslateGather(OnnxNode* n) {
  const int64_t axis = n->Int("axis", 0);
  n->Emit("Gather", {n->In(0), n->In(1)}, {n->Out(0)},
          {MakeArgument("axis", axis < 0 ? n->Axis(n->In(0), axis) : axis),
           MakeArgument("wrap_indices", 1)});
}

void TranslateSplit(OnnxNode* n) {
  const std::string& x = n->In(0);
  const int64_t axis = n->Axis(x, n->Int("axis", 0));
  if (n->outputs() == 1) return n->Forward(0, x);
  std::vector<int64_t> sizes;
  const auto parts = static_cast<int64_t>(n->outputs());
  if (n->Has(1)) {
    sizes = n->Ints(1);
  } else if (n->HasDims(x) && n->Dims(x)[static_cast<size_t>(axis)] % parts != 0) {
    const int64_t size = n->FixedDim(x, axis), part = (size + parts - 1) / parts;
    for (int64_t i = 0; i < parts; ++i)
      sizes.push_back(std::clamp<int64_t>(size - i * part, 0, part));
  }
  std::vector<Argument> args = {MakeArgument("axis", axis)};
  if (!sizes.empty()) args.push_back(MakeArgument("split", sizes));
  n->Emit("Split", {x}, n->Outs(), args);
}

// Steps of 1 and constant bounds: one operator for each axis.
void TranslateSlice(OnnxNode* n) {
  std::string x = n->In(0);
  const std::vector<int64_t> starts = n->Ints(1), ends = n->Ints(2);
  const int64_t rank = n->Rank(x);
  for (size_t k = 0; k < starts.size(); ++k) {
    const int64_t axis = n->Has(3) ? n->Axis(x, n->Ints(3).at(k)) : static_cast<int64_t>(k);
    CAFFE_ENFORCE(!n->Has(4) || n->Ints(4).at(k) == 1, "step ", n->Ints(4).at(k), ", want 1");
    OnnxDims first(static_cast<size_t>(rank), 0), last(static_cast<size_t>(rank), -1);
    const bool to_end = ends.at(k) >= INT32_MAX;
    first[static_cast<size_t>(axis)] = starts[k];
    last[static_cast<size_t>(axis)] = to_end ? -1 : ends[k];
    if (starts[k] < 0 || (ends[k] < 0) || (n->HasDims(x) && !to_end)) {
      const int64_t size = n->FixedDim(x, axis);
      const auto clamp = [&](int64_t at) {
        return std::clamp<int64_t>(at < 0 ? at + size : at, 0, size);
      };
      first[static_cast<size_t>(axis)] = clamp(starts[k]);
      last[static_cast<size_t>(axis)] = clamp(ends[k]);
    }
    x = n->Value("Slice", {x}, {MakeArgument("starts", first), MakeArgument("ends", last)});
  }
  n->Forward(0, x);
}

void TranslateExpand(OnnxNode* n) {
  const std::string &x = n->In(0), &shape = n->In(1);
  const int type = n->Type(x);
  std::string zeros;
  const auto dtype = MakeArgument("dtype", static_cast<int>(Caffe2TypeOf(type)));
  const Argument value = type == Proto::BOOL ? MakeArgument("value", false)
                         : IsOnnxReal(type)  ? MakeArgument("value", 0.0f)
                                             : MakeArgument("value", 0);
  if (n->IsKnown(1)) {
    zeros = n->Value("ConstantFill", {}, {MakeArgument("shape", n->Ints(1)), value, dtype});
  } else {
    zeros = n->Value("ConstantFill", {shape}, {MakeArgument("input_as_shape", 1), value, dtype});
  }
  n->EmitTyped(type == Proto::BOOL ? "Or" : "Add", {x, zeros}, n->Out(0));
}

void TranslateShape(OnnxNode* n) {
  CAFFE_ENFORCE(!n->HasAttr("start") && !n->HasAttr("end"),
                "start and end need the rank of the input");
  n->Emit("Shape", {n->In(0)}, {n->Out(0)});
}

void TranslateConstantOfShape(OnnxNode* n) {
  std::vector<Argument> args;
  int type = Proto::FLOAT;
  double value = 0;
  if (const Proto* tensor = n->TensorAttr("value"); tensor != nullptr) {
    const auto content = ContentOf(n->nets().file().ReadTensor(*tensor));
    CAFFE_ENFORCE(content != nullptr && content->size() == 1,
                  "its value has several elements, want one");
    type = tensor->data_type();
    value = content->real ? content->reals[0][0] : static_cast<double>(content->ints[0][0]);
  }
  args.push_back(type == Proto::BOOL ? MakeArgument("value", value != 0)
                 : IsOnnxReal(type)  ? MakeArgument("value", static_cast<float>(value))
                                     : MakeArgument("value", static_cast<int64_t>(value)));
  args.push_back(MakeArgument("dtype", static_cast<int>(Caffe2TypeOf(type))));
  if (n->IsKnown(0)) {
    args.push_back(MakeArgument("shape", n->Ints(0)));
    return n->Emit("ConstantFill", {}, {n->Out(0)}, args);
  }
  args.push_back(MakeArgument("input_as_shape", 1));
  n->Emit("ConstantFill", {n->In(0)}, {n->Out(0)}, args);
}

void TranslateDepthToSpace(OnnxNode* n) {
  const std::string& x = n->In(0);
  const int64_t b = n->Int("blocksize", 1);
  const OnnxDims dims = n->FixedDims(x);
  CAFFE_ENFORCE(dims.size() == 4 && b > 0 && dims[1] % (b * b) == 0, "blocksize ", b,
                " does not fit the input");
  const int64_t c = dims[1] / (b * b), h = dims[2], w = dims[3];
  const bool crd = n->Text("mode", "DCR") == "CRD";
  const OnnxDims split = crd ? OnnxDims{dims[0], c, b, b, h, w} : OnnxDims{dims[0], b, b, c, h, w};
  const OnnxDims order = crd ? OnnxDims{0, 1, 4, 2, 5, 3} : OnnxDims{0, 3, 4, 1, 5, 2};
  n->EmitReshape(n->Transpose(n->Reshape(x, split), order), {dims[0], c, h * b, w * b}, n->Out(0));
}

void TranslateSpaceToDepth(OnnxNode* n) {
  const std::string& x = n->In(0);
  const int64_t b = n->Int("blocksize", 1);
  const OnnxDims dims = n->FixedDims(x);
  CAFFE_ENFORCE(dims.size() == 4 && b > 0 && dims[2] % b == 0 && dims[3] % b == 0, "blocksize ", b,
                " does not fit the input");
  const int64_t c = dims[1], h = dims[2] / b, w = dims[3] / b;
  const std::string split = n->Reshape(x, {dims[0], c, h, b, w, b});
  n->EmitReshape(n->Transpose(split, {0, 3, 5, 1, 2, 4}), {dims[0], c * b * b, h, w}, n->Out(0));
}

void TranslateTile(OnnxNode* n) {
  std::string x = n->In(0);
  const std::vector<int64_t> repeats = n->Ints(1);
  for (size_t i = 0; i < repeats.size(); ++i) {
    if (repeats[i] == 1) continue;
    x = n->TypedValue(
        "Tile", {x},
        {MakeArgument("tiles", repeats[i]), MakeArgument("axis", static_cast<int64_t>(i))});
  }
  n->Forward(0, x);
}

}  // namespace

std::vector<OnnxRow> OnnxShapeRows() {
  return {{"Concat", &TranslateConcat, "", true},
          {"ConstantOfShape", &TranslateConstantOfShape, "", true},
          {"DepthToSpace", &TranslateDepthToSpace, "", true},
          {"Expand", &TranslateExpand, "", true},
          {"Flatten", &TranslateFlatten, "", true},
          {"Gather", &TranslateGather, "", true},
          {"Reshape", &TranslateReshape, "", true},
          {"Shape", &TranslateShape, "", true},
          {"Size", nullptr, "Size", true},
          {"Slice", &TranslateSlice, "", true},
          {"SpaceToDepth", &TranslateSpaceToDepth, "", true},
          {"Split", &TranslateSplit, "", true},
          {"Squeeze", &TranslateSqueeze, "", true},
          {"Tile", &TranslateTile, "", true},
          {"Transpose", &TranslateTranspose, "", true},
          {"Unsqueeze", &TranslateUnsqueeze, "", true}};
}

}  // namespace caffe2rt
