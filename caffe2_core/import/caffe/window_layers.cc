// Layers with windows or weights: convolutions, pools, inner products.

#include <algorithm>

#include "caffe2_core/base/checked_math.h"
#include "caffe2_core/base/text.h"
#include "caffe2_core/import/caffe/layer_table.h"

namespace caffe2rt {
namespace {

// --- windows ---

// The windows of a layer, one number for each axis.
struct Windows {
  CaffeDims kernels, strides, pads, dilations;
  size_t axes() const { return kernels.size(); }
};

// One number for all axes, one for each of them, or `name_h` and `name_w`.
CaffeDims PerAxis(const CaffeMessage& param, const std::string& all, const std::string& one,
                  size_t axes, int64_t missing) {
  if (param.Has(one + "_h") || param.Has(one + "_w")) {
    CAFFE_ENFORCE(axes == 2, one, "_h and ", one, "_w are for two axes, the layer has ", axes);
    const std::vector<int64_t> given = param.Integers(all);
    const int64_t base = given.empty() ? missing : given[0];
    return {param.Integer(one + "_h", base), param.Integer(one + "_w", base)};
  }
  const std::vector<int64_t> given = param.Integers(all);
  if (given.empty()) return CaffeDims(axes, missing);
  CAFFE_ENFORCE(given.size() == 1 || given.size() == axes, "field ", all, " has ", given.size(),
                " values, want 1 or ", axes);
  return given.size() == 1 ? CaffeDims(axes, given[0]) : given;
}

Windows WindowsOf(const CaffeMessage& param, size_t axes) {
  Windows windows = {.kernels = PerAxis(param, "kernel_size", "kernel", axes, 0),
                     .strides = PerAxis(param, "stride", "stride", axes, 1),
                     .pads = PerAxis(param, "pad", "pad", axes, 0),
                     .dilations = PerAxis(param, "dilation", "dilation", axes, 1)};
  for (size_t i = 0; i < axes; ++i) {
    CAFFE_ENFORCE(windows.kernels[i] > 0, "the kernel size is ", windows.kernels[i],
                  ", want at least 1");
    for (const int64_t value :
         {windows.kernels[i], windows.strides[i], windows.pads[i], windows.dilations[i]}) {
      CAFFE_ENFORCE_LE(value, INT32_MAX, "kernel, stride, pad or dilation");
    }
    CAFFE_ENFORCE(windows.strides[i] > 0 && windows.pads[i] >= 0 && windows.dilations[i] > 0,
                  "stride ", windows.strides[i], ", pad ", windows.pads[i], ", dilation ",
                  windows.dilations[i], ": want at least 1, 0 and 1");
  }
  return windows;
}

// Heads and tails of all axes.
CaffeDims Twice(CaffeDims pads) {
  const CaffeDims heads = pads;
  pads.insert(pads.end(), heads.begin(), heads.end());
  return pads;
}

std::vector<Argument> ArgumentsOf(const Windows& windows, bool with_dilations) {
  std::vector<Argument> args = {MakeArgument("kernels", windows.kernels),
                                MakeArgument("strides", windows.strides),
                                MakeArgument("pads", Twice(windows.pads))};
  if (with_dilations) args.push_back(MakeArgument("dilations", windows.dilations));
  return args;
}

// --- convolutions ---

// The number of spatial axes: that of the bottom, or 2.
size_t SpatialAxes(const CaffeLayerContext& c, const CaffeMessage& param) {
  const std::vector<int64_t> kernels = param.Integers("kernel_size");
  if (c.HasDims(c.Bottom(0))) {
    const int64_t rank = c.Rank(c.Bottom(0));
    CAFFE_ENFORCE(rank >= 3 && rank <= 5, "its bottom has ", rank, " axes, want 3 to 5");
    return static_cast<size_t>(rank - 2);
  }
  return kernels.size() > 1 ? kernels.size() : 2;
}

// The channels of the bottom; those of the weights if the shape of the bottom is not known.
int64_t ChannelsOf(const CaffeLayerContext& c, int64_t weights_channels) {
  return c.HasDims(c.Bottom(0)) ? c.Dims(c.Bottom(0)).at(1) : weights_channels;
}

struct Convolution {
  Windows windows;
  int64_t outputs = 0, group = 1, channels = 0;
  bool bias = true;
};

Convolution ReadConvolution(const CaffeLayerContext& c, bool depthwise) {
  const CaffeMessage& param = c.Param("convolution_param");
  CAFFE_ENFORCE(param.Integer("axis", 1) == 1, "axis is ", param.Integer("axis", 1), ", want 1");
  Convolution found = {.windows = WindowsOf(param, SpatialAxes(c, param)),
                       .outputs = param.Integer("num_output", 0),
                       .bias = param.Bool("bias_term", true)};
  found.group = param.Integer("group", depthwise ? found.outputs : 1);
  CAFFE_ENFORCE(found.outputs > 0 && found.group > 0 && found.outputs % found.group == 0,
                "num_output is ", found.outputs, " and group ", found.group,
                ": want a multiple of the group");
  const int64_t per_output = CheckedProduct(found.windows.kernels);
  const int64_t known =
      c.has_weights() && c.Blobs(2) > 0 && !c.HasDims(c.Bottom(0))
          ? CheckedMultiply(c.BlobSize(0), found.group) / CheckedMultiply(per_output, found.outputs)
          : 0;
  found.channels = ChannelsOf(c, known);
  CAFFE_ENFORCE(found.channels > 0 && found.channels % found.group == 0, "its bottom has ",
                found.channels, " channels, want a multiple of the group ", found.group);
  return found;
}

// The filter of a transposed convolution with zeros between its taps, in place of a dilation.
std::string DilatedFilter(CaffeLayerContext* c, const Convolution& conv, Windows* windows) {
  const CaffeDims& kernels = windows->kernels;
  CAFFE_ENFORCE(kernels.size() == 2, "dilation is for two axes, the layer has ", kernels.size());
  const int64_t planes = CheckedMultiply(conv.channels, conv.outputs / conv.group);
  const int64_t height = kernels[0], width = kernels[1];
  const std::vector<float> taps = c->Values(0, CheckedProduct(CaffeDims{planes, height, width}), 0);
  const CaffeDims sizes = {(height - 1) * windows->dilations[0] + 1,
                           (width - 1) * windows->dilations[1] + 1};
  const int64_t size = CheckedProduct(CaffeDims{planes, sizes[0], sizes[1]});
  CAFFE_ENFORCE_LE(size, int64_t{1} << 28, "elements of the filter with zeros for its dilation");
  std::vector<float> values(static_cast<size_t>(size));
  for (int64_t i = 0; i < static_cast<int64_t>(taps.size()); ++i) {
    const int64_t x = i % width * windows->dilations[1];
    const int64_t y = i / width % height * windows->dilations[0];
    values[static_cast<size_t>((i / width / height * sizes[0] + y) * sizes[1] + x)] =
        taps[static_cast<size_t>(i)];
  }
  windows->kernels = sizes;
  windows->dilations = {1, 1};
  return c->Constant("w", {conv.channels, conv.outputs / conv.group, sizes[0], sizes[1]}, values);
}

std::string FilterOf(CaffeLayerContext* c, bool transposed, Convolution* conv) {
  const CaffeDims ones(conv->windows.axes(), 1);
  if (transposed && conv->windows.dilations != ones) {
    return DilatedFilter(c, *conv, &conv->windows);
  }
  CaffeDims dims = transposed ? CaffeDims{conv->channels, conv->outputs / conv->group}
                              : CaffeDims{conv->outputs, conv->channels / conv->group};
  dims.insert(dims.end(), conv->windows.kernels.begin(), conv->windows.kernels.end());
  return c->Parameter(0, "w", dims, c->Param("convolution_param").Message("weight_filler"));
}

void EmitConvolution(CaffeLayerContext* c, bool transposed, bool depthwise) {
  Convolution conv = ReadConvolution(*c, depthwise);
  std::vector<std::string> weights = {FilterOf(c, transposed, &conv)};
  if (conv.bias) {
    const CaffeMessage& filler = c->Param("convolution_param").Message("bias_filler");
    weights.push_back(c->Parameter(1, "b", {conv.outputs}, filler));
  }
  std::vector<Argument> args = ArgumentsOf(conv.windows, !transposed);
  args.push_back(MakeArgument("group", conv.group));
  for (size_t i = 0; i < c->bottoms(); ++i) {
    std::vector<std::string> inputs = weights;
    inputs.insert(inputs.begin(), c->Bottom(i));
    c->Emit(transposed ? "ConvTranspose" : "Conv", inputs, {c->Top(i)}, args);
  }
}

void TranslateConvolution(CaffeLayerContext* c) { EmitConvolution(c, false, false); }
void TranslateDepthwise(CaffeLayerContext* c) { EmitConvolution(c, false, true); }
void TranslateDeconvolution(CaffeLayerContext* c) { EmitConvolution(c, true, false); }

// --- inner products ---

void TranslateInnerProduct(CaffeLayerContext* c) {
  const CaffeMessage& param = c->Param("inner_product_param");
  const int64_t outputs = param.Integer("num_output", 0);
  CAFFE_ENFORCE(outputs > 0, "num_output is ", outputs, ", want at least 1");
  const std::string& bottom = c->Bottom(0);
  const int64_t axis = c->Axis(bottom, param.Integer("axis", 1));
  int64_t inputs = 1;
  if (c->HasDims(bottom)) {
    const CaffeDims dims = c->Dims(bottom);
    inputs = CheckedProduct(CaffeDims(dims.begin() + axis, dims.end()));
  } else {
    CAFFE_ENFORCE(c->has_weights(), "it needs the shape of its bottom or weights");
    inputs = c->BlobSize(0) / outputs;
  }
  const bool transpose = param.Bool("transpose", false);
  const CaffeDims dims = transpose ? CaffeDims{inputs, outputs} : CaffeDims{outputs, inputs};
  const std::string w = c->Parameter(0, "w", dims, param.Message("weight_filler"));
  const std::string b = param.Bool("bias_term", true)
                            ? c->Parameter(1, "b", {outputs}, param.Message("bias_filler"))
                            : c->Zeros("b", outputs);
  c->Emit(transpose ? "FCTransposed" : "FC", {bottom, w, b}, {c->Top(0)},
          {MakeArgument("axis", axis)});
}

// --- pools ---

// Keeps sums of sizes, pads and kernels from overflowing.
constexpr int64_t kMaxAxisSize = int64_t{1} << 40;

// Caffe's number of windows along an axis; it leaves out a window behind the input if any axis is
// padded.
int64_t CaffeOutputs(int64_t size, const Windows& windows, size_t axis, bool ceil) {
  CAFFE_ENFORCE_LE(size, kMaxAxisSize, "size of an axis");
  const int64_t stride = windows.strides[axis], pad = windows.pads[axis];
  const int64_t room = size + 2 * pad - windows.kernels[axis];
  int64_t count = (room + (ceil ? stride - 1 : 0)) / stride + 1;
  const bool padded = windows.pads != CaffeDims(windows.axes(), 0);
  if (padded && (count - 1) * stride >= size + pad) --count;
  return count;
}

// What a pooling layer needs, besides its windows.
struct Pool {
  Windows windows;
  bool ceil = true;
};

bool RoundsUp(const CaffeMessage& param) {
  if (param.Has("ceil_mode")) return param.Bool("ceil_mode", true);
  return param.Enum("round_mode", {"CEIL", "FLOOR"}, 0) == 0;
}

// The bottom without what Caffe does not read because one axis is padded and the stride of the other,
// which is not, is larger than its kernel: the operators would add a window there.
std::string CutForWindows(CaffeLayerContext* c, const std::string& bottom, const Windows& windows) {
  CaffeDims ends = {-1, -1};
  for (size_t i = 0; c->HasDims(bottom) && c->Rank(bottom) == 4 && i < 2; ++i) {
    const int64_t size = c->Dims(bottom)[i + 2], kernel = windows.kernels[i];
    const int64_t last = (CaffeOutputs(size, windows, i, true) - 1) * windows.strides[i];
    const bool cut = windows.pads[i] == 0 && windows.pads[1 - i] > 0 &&
                     last + windows.strides[i] >= size && last + kernel < size;
    ends.push_back(cut ? last + kernel : -1);
  }
  if (ends.size() < 4 || (ends[2] == -1 && ends[3] == -1)) return bottom;
  (void)c->FixedDims(bottom);
  const std::string part = c->Top(0) + "/part";
  c->Slice(bottom, {0, 0, 0, 0}, ends, part);
  return part;
}

void CheckKernels(const CaffeLayerContext& c, const Pool& pool) {
  const Windows& windows = pool.windows;
  if (!c.HasDims(c.Bottom(0))) return;
  const CaffeDims dims = c.Dims(c.Bottom(0));
  CAFFE_ENFORCE_EQ(dims.size(), size_t{4}, "axes of its bottom");
  for (size_t i = 0; i < 2; ++i) {
    CAFFE_ENFORCE_LE(dims[i + 2], kMaxAxisSize, "size of an axis");
    // Rounded up, a part of a window is enough.
    const int64_t size = dims[i + 2] + 2 * windows.pads[i];
    const int64_t most = size + (pool.ceil ? windows.strides[i] - 1 : 0);
    CAFFE_ENFORCE(windows.kernels[i] <= most, "the kernel of axis ", i + 2, " is ",
                  windows.kernels[i], ", want at most its size with pads on both sides, ", size,
                  pool.ceil ? ", or less than the stride more" : "");
  }
}

void MaxPool(CaffeLayerContext* c, const std::string& bottom, const Pool& pool,
             const std::vector<std::string>& tops) {
  if (pool.ceil && c->HasDims(bottom)) {
    const CaffeDims dims = c->Dims(bottom);
    CAFFE_ENFORCE_EQ(dims.size(), size_t{4}, "axes of its bottom");
    for (size_t i = 0; i < 2; ++i) {
      const int64_t last = CaffeOutputs(dims[i + 2], pool.windows, i, true) - 1;
      CAFFE_ENFORCE(last * pool.windows.strides[i] - pool.windows.pads[i] < dims[i + 2],
                    "the last window of axis ", i + 2, " lies outside its bottom of size ",
                    dims[i + 2], ", where Caffe gives -FLT_MAX; want a stride of at most ",
                    pool.windows.kernels[i]);
    }
  }
  std::vector<Argument> args = ArgumentsOf(pool.windows, false);
  if (pool.ceil) args.push_back(MakeArgument("legacy_pad", 3));
  if (tops.size() == 1) return c->Emit("MaxPool", {bottom}, tops, args);
  const std::string values = tops[0], index = tops[1] + "_int32";
  c->Emit("MaxPoolWithIndex", {bottom}, {values, index}, args);
  c->Emit("Cast", {index}, {tops[1]}, {MakeArgument("to", static_cast<int>(TensorProto::FLOAT))});
}

// Caffe divides by the size of the window within the padded input: padding counts at the head and at
// the tail, what lies beyond it does not.
void AveragePool(CaffeLayerContext* c, const std::string& bottom, const Pool& pool,
                 const std::string& top) {
  const Windows& windows = pool.windows;
  std::vector<Argument> args = ArgumentsOf(windows, false);
  const bool padded = windows.pads != CaffeDims(2, 0);
  if (!padded && pool.ceil) args.push_back(MakeArgument("legacy_pad", 3));
  if (padded) args.push_back(MakeArgument("count_include_pad", 1));
  if (!padded || !pool.ceil) return c->Emit("AveragePool", {bottom}, {top}, args);
  const CaffeDims dims = c->FixedDims(bottom);
  CAFFE_ENFORCE_EQ(dims.size(), size_t{4}, "axes of its bottom");
  Windows inner = windows;
  inner.pads = {0, 0};
  bool cut = false, smaller = false;
  CaffeDims ends = {-1, -1};
  for (size_t i = 0; i < 2; ++i) {
    const int64_t size = dims[i + 2], whole = size + 2 * windows.pads[i];
    ends.push_back(CaffeOutputs(size, windows, i, true));
    cut |= (whole - windows.kernels[i]) % windows.strides[i] != 0;
    smaller |= ends.back() != CaffeOutputs(whole, inner, i, true);
  }
  if (!cut && !smaller) return c->Emit("AveragePool", {bottom}, {top}, args);
  const std::string image =
      c->Value("PadImage", {bottom}, {MakeArgument("pads", Twice(windows.pads))});
  args = ArgumentsOf(inner, false);
  args.push_back(MakeArgument("legacy_pad", 3));
  if (!smaller) return c->Emit("AveragePool", {image}, {top}, args);
  c->Slice(c->Value("AveragePool", {image}, args), {0, 0, 0, 0}, ends, top);
}

void TranslatePooling(CaffeLayerContext* c) {
  const CaffeMessage& param = c->Param("pooling_param");
  const int method = param.Enum("pool", {"MAX", "AVE", "STOCHASTIC"}, 0);
  CAFFE_ENFORCE(method != 2, "stochastic pooling is not supported, want MAX or AVE");
  const std::string& bottom = c->Bottom(0);
  if (param.Bool("global_pooling", false)) {
    CAFFE_ENFORCE(c->tops() == 1, "global pooling has ", CountText(c->tops(), "top"), ", want 1");
    return c->Emit(method == 0 ? "MaxPool" : "AveragePool", {bottom}, {c->Top(0)},
                   {MakeArgument("global_pooling", 1)});
  }
  const Pool pool = {.windows = WindowsOf(param, 2), .ceil = RoundsUp(param)};
  CAFFE_ENFORCE(pool.windows.dilations == CaffeDims(2, 1),
                "pooling with dilation is not supported");
  CheckKernels(*c, pool);
  // With a second top, whose indices the cut would change, the check of MaxPool is an error.
  const bool cuts = pool.ceil && c->tops() == 1;
  const std::string read = cuts ? CutForWindows(c, bottom, pool.windows) : bottom;
  if (method == 1) return AveragePool(c, read, pool, c->Top(0));
  std::vector<std::string> tops = {c->Top(0)};
  if (c->tops() > 1) tops.push_back(c->Top(1));
  MaxPool(c, read, pool, tops);
}

void TranslateSpp(CaffeLayerContext* c) {
  const CaffeMessage& param = c->Param("spp_param");
  const int method = param.Enum("pool", {"MAX", "AVE", "STOCHASTIC"}, 0);
  CAFFE_ENFORCE(method != 2, "stochastic pooling is not supported, want MAX or AVE");
  const int64_t levels = param.Integer("pyramid_height", 0);
  CAFFE_ENFORCE(levels > 0 && levels <= 16, "pyramid_height is ", levels, ", want 1 to 16");
  const std::string& bottom = c->Bottom(0);
  const CaffeDims dims = c->FixedDims(bottom);
  CAFFE_ENFORCE_EQ(dims.size(), size_t{4}, "axes of its bottom");
  std::vector<std::string> parts;
  for (int64_t level = 0; level < levels; ++level) {
    const int64_t bins = int64_t{1} << level;
    Pool pool;
    for (const int64_t size : {dims[2], dims[3]}) {
      const int64_t kernel = (size + bins - 1) / bins;
      pool.windows.kernels.push_back(kernel);
      pool.windows.strides.push_back(kernel);
      pool.windows.pads.push_back((kernel * bins - size + 1) / 2);
    }
    // One level alone is a pool, whose output is not flattened.
    const std::string part = levels == 1 ? c->Top(0) : MakeString(c->Top(0), "/level", level);
    method == 0 ? MaxPool(c, bottom, pool, {part}) : AveragePool(c, bottom, pool, part);
    if (levels == 1) return;
    parts.push_back(c->Value("Flatten", {part}));
  }
  c->Emit("Concat", parts, {c->Top(0), c->Top(0) + "/sizes"}, {MakeArgument("axis", 1)});
}

}  // namespace

std::vector<CaffeLayerRow> CaffeWindowLayers() {
  using enum CaffeLayerKind;
  return {
      {"Convolution", kTranslated, TranslateConvolution},
      {"ConvolutionDepthwise", kTranslated, TranslateDepthwise},
      {"Deconvolution", kTranslated, TranslateDeconvolution},
      {"DepthwiseConvolution", kTranslated, TranslateDepthwise},
      {"InnerProduct", kTranslated, TranslateInnerProduct},
      {"Pooling", kTranslated, TranslatePooling},
      {"SPP", kTranslated, TranslateSpp},
      {"HoleConvolution", kRefused, nullptr, "write it as Convolution with dilation"},
      {"Im2col", kRefused, nullptr, "there is no operator for it"},
      {"Local", kRefused, nullptr, "there is no operator for it"},
      {"LocalConvolution", kRefused, nullptr, "there is no operator for it"},
  };
}

}  // namespace caffe2rt
