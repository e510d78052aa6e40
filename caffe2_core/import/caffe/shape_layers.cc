// Layers that move, select, join and reduce elements.

#include <algorithm>

#include "caffe2_core/base/checked_math.h"
#include "caffe2_core/import/caffe/layer_table.h"

namespace caffe2rt {
namespace {

Argument ToFloat() { return MakeArgument("to", static_cast<int>(TensorProto::FLOAT)); }
Argument ToInt() { return MakeArgument("to", static_cast<int>(TensorProto::INT32)); }

void EmitReshape(CaffeLayerContext* c, const std::string& x, const CaffeDims& dims,
                 const std::string& top) {
  c->Emit("Reshape", {x}, {top, top + "/old_shape"}, {MakeArgument("shape", dims)});
}

// Dims before `count` as a Reshape copies them.
CaffeDims Copied(int64_t count) { return CaffeDims(static_cast<size_t>(count), 0); }

// --- joining and splitting ---

// The axis, which older files call `old_name` and count from the start.
int64_t AxisOrOld(const CaffeLayerContext& c, const CaffeMessage& param, const char* old_name) {
  const int64_t old = param.Integer(old_name, 1);
  return c.Axis(c.Bottom(0), param.Integer("axis", old));
}

void TranslateConcat(CaffeLayerContext* c) {
  const int64_t axis = AxisOrOld(*c, c->Param("concat_param"), "concat_dim");
  if (c->bottoms() == 1) return c->Emit("Alias", {c->Bottom(0)}, {c->Top(0)});
  std::vector<std::string> inputs;
  for (size_t i = 0; i < c->bottoms(); ++i) inputs.push_back(c->Bottom(i));
  c->Emit("Concat", inputs, {c->Top(0), c->Top(0) + "/sizes"}, {MakeArgument("axis", axis)});
}

void TranslateSlice(CaffeLayerContext* c) {
  const CaffeMessage& param = c->Param("slice_param");
  const int64_t axis = AxisOrOld(*c, param, "slice_dim");
  if (c->tops() == 1) return c->Emit("Alias", {c->Bottom(0)}, {c->Top(0)});
  std::vector<std::string> tops;
  for (size_t i = 0; i < c->tops(); ++i) tops.push_back(c->Top(i));
  const std::vector<int64_t> points = param.Integers("slice_point");
  std::vector<Argument> args = {MakeArgument("axis", axis)};
  if (!points.empty()) {
    CAFFE_ENFORCE(points.size() + 1 == tops.size(), "it has ", points.size(),
                  " slice points, want one less than its ", tops.size(), " tops");
    CaffeDims sizes;
    int64_t begin = 0;
    for (const int64_t point : points) {
      CAFFE_ENFORCE(point > begin, "slice point ", point, " is not behind ", begin);
      sizes.push_back(point - begin);
      begin = point;
    }
    const int64_t size = c->Dims(c->Bottom(0)).at(static_cast<size_t>(axis));
    CAFFE_ENFORCE(size > begin, "slice point ", begin, " is not within axis ", axis, " of size ",
                  size);
    sizes.push_back(size - begin);
    args.push_back(MakeArgument("split", sizes));
  }
  c->Emit("Split", {c->Bottom(0)}, tops, args);
}

// --- shapes ---

void TranslateFlatten(CaffeLayerContext* c) {
  const CaffeMessage& param = c->Param("flatten_param");
  const std::string& x = c->Bottom(0);
  const int64_t begin = param.Integer("axis", 1), end = param.Integer("end_axis", -1);
  if (begin == 1 && end == -1) return c->Emit("Flatten", {x}, {c->Top(0)});
  const CaffeDims dims = end == -1 ? c->Dims(x) : c->FixedDims(x);
  const int64_t first = c->Axis(x, begin), last = c->Axis(x, end);
  CAFFE_ENFORCE(first <= last, "axis ", first, " is behind end_axis ", last);
  CaffeDims shape = Copied(first);
  shape.push_back(-1);
  shape.insert(shape.end(), dims.begin() + last + 1, dims.end());
  EmitReshape(c, x, shape, c->Top(0));
}

void TranslateReshape(CaffeLayerContext* c) {
  const CaffeMessage& param = c->Param("reshape_param");
  const std::string& x = c->Bottom(0);
  CaffeDims shape = param.Message("shape").Integers("dim");
  CAFFE_ENFORCE(shape.size() <= 32, "its shape has ", shape.size(), " axes, want at most 32");
  const int64_t axis = param.Integer("axis", 0), axes = param.Integer("num_axes", -1);
  if (axis == 0 && axes == -1) return EmitReshape(c, x, shape, c->Top(0));
  const CaffeDims dims = axes == -1 ? c->Dims(x) : c->FixedDims(x);
  const auto rank = static_cast<int64_t>(dims.size());
  const int64_t begin = c->Axis(x, axis, true);
  const int64_t end = axes == -1 ? rank : CheckedAdd(begin, axes);
  CAFFE_ENFORCE(begin <= end && end <= rank, "axis ", axis, " and num_axes ", axes,
                " go beyond its bottom, which has ", rank, " axes");
  for (size_t i = 0; i < shape.size(); ++i) {
    const auto from = static_cast<size_t>(begin) + i;
    if (shape[i] != 0) continue;
    CAFFE_ENFORCE(from < static_cast<size_t>(end), "dim ", i,
                  " of its shape is 0, but there is no axis to copy");
  }
  const CaffeDims copied = Copied(begin);
  shape.insert(shape.begin(), copied.begin(), copied.end());
  shape.insert(shape.end(), dims.begin() + end, dims.end());
  EmitReshape(c, x, shape, c->Top(0));
}

void TranslatePermute(CaffeLayerContext* c) {
  CaffeDims order = c->Param("permute_param").Integers("order");
  const int64_t rank = c->HasDims(c->Bottom(0)) ? c->Rank(c->Bottom(0)) : 4;
  for (const int64_t axis : order) {
    CAFFE_ENFORCE(axis >= 0 && axis < rank && std::count(order.begin(), order.end(), axis) == 1,
                  "order has axis ", axis, ", want each of 0 to ", rank - 1, " at most once");
  }
  for (int64_t axis = 0; axis < rank; ++axis) {
    if (std::find(order.begin(), order.end(), axis) == order.end()) order.push_back(axis);
  }
  c->Emit("Transpose", {c->Bottom(0)}, {c->Top(0)}, {MakeArgument("axes", order)});
}

void TranslateSqueeze(CaffeLayerContext* c) {
  const CaffeMessage& param = c->Param("squeeze_param");
  CaffeDims dims = param.Integers("axis");
  if (dims.empty()) dims = param.Integers("axes");
  CAFFE_ENFORCE(!dims.empty(), "squeeze_param wants axis");
  for (int64_t& dim : dims) dim = c->Axis(c->Bottom(0), dim);
  c->Emit("Squeeze", {c->Bottom(0)}, {c->Top(0)}, {MakeArgument("dims", dims)});
}

void TranslateCrop(CaffeLayerContext* c) {
  const CaffeMessage& param = c->Param("crop_param");
  const std::string& x = c->Bottom(0);
  const CaffeDims dims = c->FixedDims(x), wanted = c->FixedDims(c->Bottom(1));
  const int64_t axis = c->Axis(x, param.Integer("axis", 2));
  const std::vector<int64_t> offsets = param.Integers("offset");
  const int64_t cropped = static_cast<int64_t>(dims.size()) - axis;
  CAFFE_ENFORCE(dims.size() == wanted.size(), "its bottoms have ", dims.size(), " and ",
                wanted.size(), " axes, want the same number");
  CAFFE_ENFORCE(offsets.size() <= 1 || static_cast<int64_t>(offsets.size()) == cropped, "it has ",
                offsets.size(), " offsets, want 1 or ", cropped);
  CaffeDims starts(dims.size(), 0), ends(dims.size(), -1);
  for (auto i = static_cast<size_t>(axis); i < dims.size(); ++i) {
    const size_t at = offsets.size() == 1 ? 0 : i - static_cast<size_t>(axis);
    starts[i] = offsets.empty() ? 0 : offsets[at];
    ends[i] = CheckedAdd(starts[i], wanted[i]);
    CAFFE_ENFORCE(starts[i] >= 0 && ends[i] <= dims[i], "offset ", starts[i], " and size ",
                  wanted[i], " go beyond axis ", i, " of size ", dims[i]);
  }
  for (size_t i = 0; i < dims.size(); ++i) {
    if (starts[i] == 0 && ends[i] == dims[i]) ends[i] = -1;
  }
  c->Slice(x, starts, ends, c->Top(0));
}

// Darknet's reorg: the elements of the bottom are taken as [N, C / s^2, H, s, W, s], whatever their
// axes mean, and the two axes of size s become the outer ones.
void TranslateReorg(CaffeLayerContext* c) {
  const CaffeMessage& param = c->Param("reorg_param");
  const int64_t s = param.Integer("stride", 2);
  const CaffeDims dims = c->FixedDims(c->Bottom(0));
  CAFFE_ENFORCE_EQ(dims.size(), size_t{4}, "axes of its bottom");
  const int64_t channels = dims[1], height = dims[2], width = dims[3];
  CAFFE_ENFORCE(s > 0 && s <= 4096 && channels % (s * s) == 0, "stride is ", s, ", and ", channels,
                " channels are not a multiple of its square");
  const std::string split = c->Top(0) + "/split";
  std::string moved;
  if (!param.Bool("reverse", false)) {
    CAFFE_ENFORCE(height % s == 0 && width % s == 0, "stride ", s, " does not divide the size ",
                  height, " x ", width);
    EmitReshape(c, c->Bottom(0), {0, channels / (s * s), height, s, width, s}, split);
    moved = c->Value("Transpose", {split}, {MakeArgument("axes", CaffeDims{0, 3, 5, 1, 2, 4})});
    return EmitReshape(c, moved, {0, CheckedMultiply(channels, s * s), height / s, width / s},
                       c->Top(0));
  }
  EmitReshape(c, c->Bottom(0), {0, s, s, channels / (s * s), height, width}, split);
  moved = c->Value("Transpose", {split}, {MakeArgument("axes", CaffeDims{0, 3, 4, 1, 5, 2})});
  EmitReshape(c, moved,
              {0, channels / (s * s), CheckedMultiply(height, s), CheckedMultiply(width, s)},
              c->Top(0));
}

void TranslateShuffle(CaffeLayerContext* c) {
  const bool fork = c->layer().fields.Has("channel_shuffle_param");
  const CaffeMessage& param = c->Param(fork ? "channel_shuffle_param" : "shuffle_channel_param");
  c->Emit("ChannelShuffle", {c->Bottom(0)}, {c->Top(0)},
          {MakeArgument("group", param.Integer("group", 1))});
}

// --- reductions ---

void TranslateSoftmax(CaffeLayerContext* c) {
  const std::string& x = c->Bottom(0);
  const int64_t rank = c->HasDims(x) ? c->Rank(x) : 4;
  const int64_t axis = c->Axis(x, c->Param("softmax_param").Integer("axis", 1));
  CAFFE_ENFORCE(axis < rank, "axis ", axis, " is out of range for a blob of ", rank, " axes");
  const std::vector<Argument> last = {MakeArgument("axis", rank - 1)};
  if (axis == rank - 1) return c->Emit("Softmax", {x}, {c->Top(0)}, last);
  CaffeDims swap;
  for (int64_t i = 0; i < rank; ++i) swap.push_back(i);
  std::swap(swap[static_cast<size_t>(axis)], swap.back());
  const Argument axes = MakeArgument("axes", swap);
  const std::string moved = c->Value("Transpose", {x}, {axes});
  c->Emit("Transpose", {c->Value("Softmax", {moved}, last)}, {c->Top(0)}, {axes});
}

void TranslateReduction(CaffeLayerContext* c) {
  const CaffeMessage& param = c->Param("reduction_param");
  const int operation = param.Enum("operation", {"SUM", "ASUM", "SUMSQ", "MEAN"}, 0, {1, 2, 3, 4});
  std::string x = c->Bottom(0);
  CaffeDims axes;
  for (int64_t i = c->Axis(x, param.Integer("axis", 0)); i < c->Rank(x); ++i) axes.push_back(i);
  if (operation == 1) x = c->Value("Abs", {x});
  if (operation == 2) x = c->Value("Sqr", {x});
  const char* type = operation == 3 ? "ReduceMean" : "ReduceSum";
  const std::vector<Argument> args = {MakeArgument("axes", axes), MakeArgument("keepdims", 0)};
  const float coeff = param.Float("coeff", 1);
  if (coeff == 1) return c->Emit(type, {x}, {c->Top(0)}, args);
  c->Emit("Scale", {c->Value(type, {x}, args)}, {c->Top(0)}, {MakeArgument("scale", coeff)});
}

// The largest `k` values along an axis of `x` and their indices as floats.
std::pair<std::string, std::string> Largest(CaffeLayerContext* c, const std::string& x,
                                            int64_t axis, int64_t k) {
  const std::string values = c->Top(0) + "/values", index = c->Top(0) + "/index";
  c->Emit("TopK", {x}, {values, index}, {MakeArgument("k", k), MakeArgument("axis", axis)});
  return {values, c->Value("Cast", {index}, {ToFloat()})};
}

void TranslateArgMax(CaffeLayerContext* c) {
  const CaffeMessage& param = c->Param("argmax_param");
  const bool with_values = param.Bool("out_max_val", false);
  const int64_t k = param.Integer("top_k", 1);
  CAFFE_ENFORCE(k > 0, "top_k is ", k, ", want at least 1");
  if (param.Has("axis")) {
    const int64_t axis = c->Axis(c->Bottom(0), param.Integer("axis", 0));
    const auto [values, index] = Largest(c, c->Bottom(0), axis, k);
    return c->Emit("Alias", {with_values ? values : index}, {c->Top(0)});
  }
  const auto [values, index] = Largest(c, c->Value("Flatten", {c->Bottom(0)}), 1, k);
  const Argument middle = MakeArgument("dims", CaffeDims{1});
  if (!with_values) return c->Emit("ExpandDims", {index}, {c->Top(0)}, {middle});
  c->Emit("Concat", {index, values}, {c->Top(0), c->Top(0) + "/sizes"},
          {MakeArgument("axis", 1), MakeArgument("add_axis", 1)});
}

// --- selecting ---

void TranslateTile(CaffeLayerContext* c) {
  const CaffeMessage& param = c->Param("tile_param");
  const int64_t tiles = param.Integer("tiles", 0);
  CAFFE_ENFORCE(tiles > 0, "tiles is ", tiles, ", want at least 1");
  c->Emit("Tile", {c->Bottom(0)}, {c->Top(0)},
          {MakeArgument("tiles", tiles),
           MakeArgument("axis", c->Axis(c->Bottom(0), param.Integer("axis", 1)))});
}

void TranslateEmbed(CaffeLayerContext* c) {
  const CaffeMessage& param = c->Param("embed_param");
  const int64_t outputs = param.Integer("num_output", 0), rows = param.Integer("input_dim", 0);
  CAFFE_ENFORCE(outputs > 0 && rows > 0, "num_output is ", outputs, " and input_dim ", rows,
                ", want at least 1");
  const std::string w = c->Parameter(0, "w", {rows, outputs}, param.Message("weight_filler"));
  const std::string index = c->Value("Cast", {c->Bottom(0)}, {ToInt()});
  if (!param.Bool("bias_term", true)) return c->Emit("Gather", {w, index}, {c->Top(0)});
  const std::string b = c->Parameter(1, "b", {outputs}, param.Message("bias_filler"));
  c->Emit("Add", {c->Value("Gather", {w, index}), b}, {c->Top(0)});
}

void TranslateBatchReindex(CaffeLayerContext* c) {
  c->Emit("Gather", {c->Bottom(0), c->Value("Cast", {c->Bottom(1)}, {ToInt()})}, {c->Top(0)});
}

void TranslateParameter(CaffeLayerContext* c) {
  const CaffeDims dims = c->Param("parameter_param").Message("shape").Integers("dim");
  c->Emit("Alias", {c->Parameter(0, "value", dims, CaffeMessage())}, {c->Top(0)});
}

// --- resizing ---

// A scale by which the operators for resizing make exactly `to` of `from` pixels.
float ScaleTo(int64_t from, int64_t to) {
  CAFFE_ENFORCE(from > 0 && to > 0, "it resizes ", from, " to ", to, " pixels, want at least 1");
  return (static_cast<float>(to) + 0.25f) / static_cast<float>(from);
}

int64_t InterpSize(const CaffeMessage& param, int64_t size, const char* side) {
  const int64_t shrink = param.Integer("shrink_factor", 1), zoom = param.Integer("zoom_factor", 1);
  CAFFE_ENFORCE(shrink > 0 && zoom > 0, "shrink_factor is ", shrink, " and zoom_factor ", zoom,
                ", want at least 1");
  if (param.Has("shrink_factor") || param.Has("zoom_factor")) {
    const int64_t shrunk = (size - 1) / shrink + 1;
    return CheckedAdd(shrunk, CheckedMultiply(shrunk - 1, zoom - 1));
  }
  CAFFE_ENFORCE(param.Has(side), "interp_param wants a ", side, " or a factor");
  return param.Integer(side, 0);
}

void TranslateInterp(CaffeLayerContext* c) {
  const CaffeMessage& param = c->Param("interp_param");
  std::string x = c->Bottom(0);
  const int64_t head = param.Integer("pad_beg", 0), tail = param.Integer("pad_end", 0);
  CAFFE_ENFORCE(head <= 0 && tail <= 0, "pad_beg is ", head, " and pad_end ", tail,
                ", want at most 0: they crop");
  if (head != 0 || tail != 0) {
    x = c->Value("PadImage", {x}, {MakeArgument("pads", CaffeDims{head, head, tail, tail})});
  }
  const CaffeDims dims = c->FixedDims(x);
  CAFFE_ENFORCE_EQ(dims.size(), size_t{4}, "axes of its bottom");
  c->Emit("UpsampleBilinear", {x}, {c->Top(0)},
          {MakeArgument("height_scale", ScaleTo(dims[2], InterpSize(param, dims[2], "height"))),
           MakeArgument("width_scale", ScaleTo(dims[3], InterpSize(param, dims[3], "width")))});
}

void TranslateUpsample(CaffeLayerContext* c) {
  const CaffeMessage& param = c->Param("upsample_param");
  const int64_t scale = param.Integer("scale", param.Integer("stride", 2));
  const int64_t vertical = param.Integer("scale_h", scale),
                across = param.Integer("scale_w", scale);
  CAFFE_ENFORCE(vertical > 0 && across > 0, "scale is ", vertical, ", want at least 1");
  if (c->bottoms() == 1) {
    return c->Emit("ResizeNearest", {c->Bottom(0)}, {c->Top(0)},
                   {MakeArgument("height_scale", static_cast<float>(vertical)),
                    MakeArgument("width_scale", static_cast<float>(across))});
  }
  int64_t height = param.Integer("upsample_h", 0), width = param.Integer("upsample_w", 0);
  if (height == 0 || width == 0) {
    const CaffeDims dims = c->FixedDims(c->Bottom(0));
    CAFFE_ENFORCE_EQ(dims.size(), size_t{4}, "axes of its bottom");
    height = CheckedMultiply(dims[2], vertical) - (param.Bool("pad_out_h", false) ? 1 : 0);
    width = CheckedMultiply(dims[3], across) - (param.Bool("pad_out_w", false) ? 1 : 0);
  }
  const std::string index = c->Value("Cast", {c->Bottom(1)}, {ToInt()});
  c->Emit("MaxUnpoolWithIndex", {c->Bottom(0), index}, {c->Top(0)},
          {MakeArgument("height", height), MakeArgument("width", width)});
}

}  // namespace

std::vector<CaffeLayerRow> CaffeShapeLayers() {
  using enum CaffeLayerKind;
  return {
      {"ArgMax", kTranslated, TranslateArgMax},
      {"BatchReindex", kTranslated, TranslateBatchReindex},
      {"ChannelShuffle", kTranslated, TranslateShuffle},
      {"Concat", kTranslated, TranslateConcat},
      {"Crop", kTranslated, TranslateCrop},
      {"Embed", kTranslated, TranslateEmbed},
      {"Flatten", kTranslated, TranslateFlatten},
      {"Interp", kTranslated, TranslateInterp},
      {"Parameter", kTranslated, TranslateParameter},
      {"Permute", kTranslated, TranslatePermute},
      {"Reduction", kTranslated, TranslateReduction},
      {"Reorg", kTranslated, TranslateReorg},
      {"Reshape", kTranslated, TranslateReshape},
      {"ShuffleChannel", kTranslated, TranslateShuffle},
      {"Slice", kTranslated, TranslateSlice},
      {"Softmax", kTranslated, TranslateSoftmax},
      {"Squeeze", kTranslated, TranslateSqueeze},
      {"Tile", kTranslated, TranslateTile},
      {"Upsample", kTranslated, TranslateUpsample},
      {"Filter", kRefused, nullptr, "there is no operator for it"},
  };
}

}  // namespace caffe2rt
