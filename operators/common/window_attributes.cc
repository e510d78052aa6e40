#include "operators/common/window_attributes.h"

#include <algorithm>

#include "caffe2_core/base/checked_math.h"

namespace caffe2rt {

namespace {

// Positions are sums and products of two such numbers.
constexpr int64_t kLargest = int64_t{1} << 30;

constexpr RepeatedArgumentSpec<int64_t> kAttributeKernelShape{
    "kernel_shape", "the size of the window, one number for each spatial axis"};
constexpr RepeatedArgumentSpec<int64_t> kAttributeStrides{
    "strides", "the distance between windows, one number for each spatial axis; default: 1"};
constexpr RepeatedArgumentSpec<int64_t> kAttributePads{
    "pads", "the padding before each spatial axis, then after each; default: 0"};
constexpr RepeatedArgumentSpec<int64_t> kAttributeDilations{
    "dilations", "the distance between the elements of a window, for each axis; default: 1"};
constexpr ArgumentSpec<std::string> kAttributeAutoPad{
    "auto_pad", "NOTSET",
    "NOTSET: pads; VALID: no padding; SAME_UPPER, SAME_LOWER: as many windows as elements over "
    "stride, an odd element of padding at the end or at the beginning"};
constexpr ArgumentSpec<bool> kAttributeCeilMode{"ceil_mode", false,
                                                "1: a last window that reaches beyond the padding "
                                                "counts, if it begins before the tail padding"};

void CheckRange(const char* name, const std::vector<int64_t>& values, int64_t least) {
  for (const int64_t value : values) {
    CAFFE_ENFORCE(value >= least && value <= kLargest, "argument ", name, " contains ", value,
                  ", want ", least, " to ", kLargest);
  }
}

AutoPad ParseAutoPad(const std::string& text) {
  if (text == "NOTSET" || text.empty()) return AutoPad::kNotSet;
  if (text == "VALID") return AutoPad::kValid;
  if (text == "SAME_UPPER") return AutoPad::kSameUpper;
  CAFFE_ENFORCE(text == "SAME_LOWER", "argument auto_pad is \"", text,
                "\", want NOTSET, VALID, SAME_UPPER or SAME_LOWER");
  return AutoPad::kSameLower;
}

int64_t At(const std::vector<int64_t>& values, size_t i, int64_t otherwise) {
  return values.empty() ? otherwise : values[i];
}

void CheckLength(const char* name, const std::vector<int64_t>& values, size_t want) {
  CAFFE_ENFORCE(values.empty() || values.size() == want, "argument ", name, " has ", values.size(),
                " numbers, want ", want, " for the spatial axes of input 0");
}

void CountWindows(const WindowAttributes& attributes, size_t i, WindowAxis* axis) {
  if (attributes.auto_pad == AutoPad::kSameUpper || attributes.auto_pad == AutoPad::kSameLower) {
    axis->out = (axis->in + axis->stride - 1) / axis->stride;
    const int64_t total =
        std::max<int64_t>(0, (axis->out - 1) * axis->stride + axis->extent() - axis->in);
    axis->pad_head = attributes.auto_pad == AutoPad::kSameUpper ? total / 2 : (total + 1) / 2;
    axis->pad_tail = total - axis->pad_head;
    return;
  }
  const int64_t rest = axis->in + axis->pad_head + axis->pad_tail - axis->extent();
  // A window that lacks less than a stride counts, too, if it begins before the tail padding.
  axis->out = rest < 0 ? 0 : rest / axis->stride + 1;
  if (attributes.ceil_mode && rest > -axis->stride && rest % axis->stride != 0 &&
      axis->out * axis->stride < axis->in + axis->pad_head) {
    ++axis->out;
  }
  CAFFE_ENFORCE(axis->out > 0, "windows of spatial axis ", i, " span ", axis->extent(),
                " elements, want at most the ", axis->in, " elements of input 0 with padding ",
                axis->pad_head, " and ", axis->pad_tail,
                attributes.ceil_mode ? ", and less than a stride more" : "");
}

}  // namespace

WindowAttributes::WindowAttributes(const ArgumentHelper& args)
    : kernel_shape(args.Read(kAttributeKernelShape)),
      strides(args.Read(kAttributeStrides)),
      dilations(args.Read(kAttributeDilations)),
      pads(args.Read(kAttributePads)),
      auto_pad(ParseAutoPad(args.Read(kAttributeAutoPad))),
      ceil_mode(args.Read(kAttributeCeilMode)) {
  CheckRange(kAttributeKernelShape.name, kernel_shape, 1);
  CheckRange(kAttributeStrides.name, strides, 1);
  CheckRange(kAttributeDilations.name, dilations, 1);
  CheckRange(kAttributePads.name, pads, -kLargest);
}

void WindowAxesOf(const WindowAttributes& attributes, IntArrayRef dims, IntArrayRef kernel,
                  Windows* windows) {
  CAFFE_ENFORCE(dims.size() >= 3 && dims.size() <= 5, "input 0 has shape ", dims,
                ", want [N, C] and one to three spatial axes");
  const size_t axes = dims.size() - 2;
  CAFFE_ENFORCE_EQ(kernel.size(), axes, "sizes of the window, want one for each spatial axis");
  CheckLength(kAttributeStrides.name, attributes.strides, axes);
  CheckLength(kAttributeDilations.name, attributes.dilations, axes);
  CheckLength(kAttributePads.name, attributes.pads, 2 * axes);
  (void)CheckedProduct(dims);
  *windows = Windows();
  windows->batch = dims[0];
  windows->channels = dims[1];
  windows->axes = static_cast<int>(axes);
  const bool padded = attributes.auto_pad == AutoPad::kNotSet;
  for (size_t i = 0; i < axes; ++i) {
    WindowAxis& axis = windows->axis[3 - axes + i];
    axis.in = dims[i + 2];
    axis.kernel = kernel[i];
    CAFFE_ENFORCE(axis.in <= kLargest && axis.kernel >= 1 && axis.kernel <= kLargest,
                  "spatial axis ", i, " has ", axis.in, " elements and a window of ", axis.kernel,
                  ", want at most ", kLargest, " and a window of at least 1");
    axis.stride = At(attributes.strides, i, 1);
    axis.dilation = At(attributes.dilations, i, 1);
    axis.pad_head = padded ? At(attributes.pads, i, 0) : 0;
    axis.pad_tail = padded ? At(attributes.pads, attributes.pads.empty() ? 0 : i + axes, 0) : 0;
  }
}

void WindowsOf(const WindowAttributes& attributes, IntArrayRef dims, IntArrayRef kernel,
               Windows* windows) {
  WindowAxesOf(attributes, dims, kernel, windows);
  const size_t first = static_cast<size_t>(3 - windows->axes);
  for (size_t i = first; i < 3; ++i) CountWindows(attributes, i - first, &windows->axis[i]);
  (void)CheckedMultiply(CheckedMultiply(windows->axis[0].out, windows->axis[1].out),
                        windows->axis[2].out);
  (void)CheckedMultiply(CheckedMultiply(windows->axis[0].kernel, windows->axis[1].kernel),
                        windows->axis[2].kernel);
}

void WindowOutputDims(const Windows& windows, int64_t channels, std::vector<int64_t>* dims) {
  dims->assign({windows.batch, channels});
  for (size_t i = static_cast<size_t>(3 - windows.axes); i < 3; ++i) {
    dims->push_back(windows.axis[i].out);
  }
}

void DeclareWindowAttributes(OpSchema& schema, bool pool) {
  schema.Args(kAttributeKernelShape, kAttributeStrides, kAttributePads, kAttributeDilations,
              kAttributeAutoPad);
  if (pool) schema.Arg(kAttributeCeilMode);
}

}  // namespace caffe2rt
