#include "operators/common/conv_geometry.h"

#include <algorithm>
#include <iterator>

#include "caffe2_core/base/checked_math.h"
#include "caffe2_core/base/enforce.h"
#include "operators/common/order_argument.h"
#include "operators/common/window_arguments.h"

namespace caffe2rt {

namespace {

// A scalar extends or truncates the list to two axes.
std::vector<int64_t> ReadPerAxis(const ArgumentHelper& args, const PerAxisArgument& argument,
                                 bool* one_by_one) {
  const std::vector<int> given = args.Read(argument.list);
  std::vector<int64_t> values(given.begin(), given.end());
  *one_by_one |= !given.empty();
  if (args.HasArgument(argument.scalar)) {
    values.resize(2, args.Read(argument.scalar));
  } else if (args.HasArgument(argument.height) && args.HasArgument(argument.width)) {
    *one_by_one = true;
    values.push_back(args.Read(argument.height));
    values.push_back(args.Read(argument.width));
  }
  return values;
}

bool FixesPads(PaddingRule legacy) {
  return legacy == PaddingRule::kValid || legacy == PaddingRule::kSame;
}

std::vector<int64_t> ReadPads(const ArgumentHelper& args, PaddingRule legacy, bool* one_by_one) {
  const std::vector<int> given = args.Read(kWindowPads);
  std::vector<int64_t> pads(given.begin(), given.end());
  bool explicit_pads = args.HasArgument(kWindowPads);
  *one_by_one |= !given.empty();
  if (args.HasArgument(kWindowPad)) {
    explicit_pads = true;
    pads.resize(4, args.Read(kWindowPad));
  } else if (std::all_of(std::begin(kWindowPadSides), std::end(kWindowPadSides),
                         [&](const auto& side) { return args.HasArgument(side); })) {
    explicit_pads = *one_by_one = true;
    for (const auto& side : kWindowPadSides) pads.push_back(args.Read(side));
  }
  CAFFE_ENFORCE(!explicit_pads || !FixesPads(legacy), "argument legacy_pad ",
                static_cast<int>(legacy), " (VALID or SAME) fixes the pads, want no pad arguments");
  return pads;
}

void CheckLengths(const WindowArguments& window) {
  const size_t axes = window.kernel.size();
  CAFFE_ENFORCE_EQ(window.stride.size(), axes, "argument strides, want as many as kernels");
  CAFFE_ENFORCE_EQ(window.dilation.size(), axes, "argument dilations, want as many as kernels");
  CAFFE_ENFORCE_EQ(window.adj.size(), axes, "argument adjs, want as many as kernels");
  CAFFE_ENFORCE_EQ(window.pads.size(), 2 * axes, "argument pads, want two for each of kernels");
}

void CheckAxis(const WindowArguments& window, size_t i) {
  const int64_t head = window.pads[i], tail = window.pads[i + window.kernel.size()];
  const int64_t stride = window.stride[i];
  CAFFE_ENFORCE_GE(stride, 1, "stride of axis ", i, ", want at least 1");
  if (window.global_pooling) {
    CAFFE_ENFORCE_GE(window.kernel[i], 0, "kernel of axis ", i, " with global_pooling");
    CAFFE_ENFORCE(head == 0 && tail == 0 && window.dilation[i] == 1 && stride == 1, "axis ", i,
                  " has pads ", head, ", ", tail, ", dilation ", window.dilation[i], ", stride ",
                  stride, "; with global_pooling want pads 0, dilation 1, stride 1");
    if (IsPool(window.use) || window.use == WindowUse::kPad) return;
  }
  CAFFE_ENFORCE_GT(window.kernel[i], 0, "kernel of axis ", i,
                   ", want at least 1 (set kernel or kernels)");
  CAFFE_ENFORCE_GE(window.dilation[i], 0, "dilation of axis ", i, ", want at least 0");
  if (window.legacy_pad == PaddingRule::kSame) {
    CAFFE_ENFORCE_EQ(window.dilation[i], 1, "dilation of axis ", i,
                     " with legacy_pad SAME, want 1");
  }
  if (window.legacy_pad == PaddingRule::kCaffePooling) {
    CAFFE_ENFORCE_GE(head, 0, "pad of axis ", i,
                     " with legacy_pad CAFFE_LEGACY_POOLING, want at least 0");
  }
  if (IsPool(window.use)) {
    CAFFE_ENFORCE_EQ(window.dilation[i], 1, "dilation of axis ", i, " of a pool, want 1");
  }
  if (window.use == WindowUse::kPool) {
    CAFFE_ENFORCE(head < window.kernel[i] && tail < window.kernel[i], "axis ", i, " has pads ",
                  head, ", ", tail, ", want less than its kernel ", window.kernel[i]);
  }
  if (window.use == WindowUse::kPad) {
    CAFFE_ENFORCE(stride == 1 && window.dilation[i] == 1, "axis ", i, " has stride ", stride,
                  " and dilation ", window.dilation[i],
                  ", want 1 and 1: PadImage has no sliding window");
  }
  if (window.use == WindowUse::kConvTranspose) {
    CAFFE_ENFORCE(window.adj[i] >= 0 && window.adj[i] <= stride, "adj of axis ", i, " is ",
                  window.adj[i], ", want 0 to its stride ", stride);
    CAFFE_ENFORCE(head >= 0 && tail >= 0, "axis ", i, " has pads ", head, ", ", tail,
                  ", want at least 0");
  }
}

// Caffe's rule: rounds the number of windows up, then drops a last window that would start in the
// padding. Both ends have the same padding.
void SizeAsCaffe(WindowAxis* axis) {
  const int64_t room = CheckedAdd(axis->in, 2 * axis->pad_head) - axis->kernel;
  const int64_t rounded_down = room / axis->stride + 1;
  axis->out = rounded_down + (room > 0 && room % axis->stride != 0 ? 1 : 0);
  if (axis->pad_head > 0 && axis->out > 0 &&
      CheckedMultiply(axis->out - 1, axis->stride) >= axis->in + axis->pad_head) {
    --axis->out;
  }
  CAFFE_ENFORCE(axis->out >= 0 && axis->out >= rounded_down, "an axis of ", axis->in, " with pad ",
                axis->pad_head, " and kernel ", axis->kernel, " gets ", axis->out,
                " windows by Caffe's rounding, want at least ", rounded_down);
}

// Computes the number of windows and, for SAME, the pads of one axis.
void SizeForward(PaddingRule legacy, WindowAxis* axis) {
  switch (legacy) {
    case PaddingRule::kSame: {
      // Negative if the windows do not cover all pixels; the pads then crop both ends.
      axis->out = (axis->in - 1) / axis->stride + 1;
      const int64_t need =
          CheckedAdd(CheckedMultiply(axis->out - 1, axis->stride), axis->kernel) - axis->in;
      axis->pad_head = need / 2;
      axis->pad_tail = need - need / 2;
      return;
    }
    case PaddingRule::kValid:
      // Division rounds towards 0, so `out` is 1, not 0, for an axis that is shorter than the
      // window by less than a stride. That window reaches beyond the axis.
      axis->out = (axis->in - axis->extent()) / axis->stride + 1;
      CAFFE_ENFORCE_GE(axis->out, 0, "number of windows of ", axis->extent(), " in an axis of ",
                       axis->in, ", want at least 0");
      return;
    case PaddingRule::kCaffePooling:
      SizeAsCaffe(axis);
      return;
    case PaddingRule::kNotSet: {
      const int64_t padded = CheckedAdd(CheckedAdd(axis->in, axis->pad_head), axis->pad_tail);
      CAFFE_ENFORCE_GE(padded, axis->extent(), "axis of ", axis->in, " with pads ", axis->pad_head,
                       " and ", axis->pad_tail, ", want at least its dilated kernel");
      axis->out = (padded - axis->extent()) / axis->stride + 1;
    }
  }
}

void SizeTransposed(WindowAxis* axis) {
  const int64_t reach = CheckedAdd(CheckedMultiply(axis->in - 1, axis->stride), axis->kernel);
  axis->out = CheckedAdd(reach, axis->adj) - axis->pad_head - axis->pad_tail;
  CAFFE_ENFORCE_GE(axis->out, 0, "output size of an axis of ", axis->in, " with pads ",
                   axis->pad_head, " and ", axis->pad_tail, ", want at least 0");
}

WindowAxis MakeAxis(const WindowArguments& window, size_t i, int64_t in) {
  WindowAxis axis;
  axis.in = in;
  if (window.global_pooling) {
    axis.kernel = in;
    if (window.use == WindowUse::kConv) {
      CAFFE_ENFORCE_EQ(window.kernel[i], in, "kernel of axis ", i,
                       " with global_pooling, want the input's size");
    }
    return axis;
  }
  axis.kernel = window.kernel[i];
  axis.stride = window.stride[i];
  axis.dilation = window.dilation[i];
  axis.adj = window.adj[i];
  if (!FixesPads(window.legacy_pad)) {
    axis.pad_head = window.pads[i];
    axis.pad_tail = window.pads[i + window.kernel.size()];
  }
  if (window.use == WindowUse::kConvTranspose) {
    SizeTransposed(&axis);
  } else {
    SizeForward(window.legacy_pad, &axis);
  }
  return axis;
}

void CheckRank(const WindowArguments& window, IntArrayRef dims) {
  CAFFE_ENFORCE_GE(dims.size(), 2u, "rank of input 0 (X) of shape ", dims, ", want at least 2");
  const size_t axes = dims.size() - 2;
  CAFFE_ENFORCE_LE(axes, static_cast<size_t>(kMaxWindowAxes),
                   "spatial axes of input 0 (X) of shape ", dims, ", want at most ",
                   kMaxWindowAxes);
  switch (window.use) {
    case WindowUse::kPool:
    case WindowUse::kWidePool:
      if (window.global_pooling) return;
      CAFFE_ENFORCE(axes >= 1 && axes <= 3, "input 0 (X) has shape ", dims,
                    ", want 1 to 3 axes besides batch and channels");
      // Pads are stored as one head per kernel, then one tail per kernel, so a scalar may cover
      // more axes than the input has.
      CAFFE_ENFORCE(
          axes == window.kernel.size() || (axes < window.kernel.size() && !window.one_by_one),
          "input 0 (X) has shape ", dims, " with ", axes, " spatial axes, want ",
          window.kernel.size(), ": one for each of kernels");
      return;
    case WindowUse::kConv:
      CAFFE_ENFORCE_EQ(axes, window.kernel.size(), "spatial axes of input 0 (X) of shape ", dims,
                       ", want one for each of kernels");
      return;
    case WindowUse::kPad:
    case WindowUse::kConvTranspose:
      CAFFE_ENFORCE(axes == 2 && window.kernel.size() == 2, "input 0 (X) has shape ", dims, " and ",
                    window.kernel.size(), " kernels are given, want rank 4 and 2 kernels");
  }
}

// Nets that were converted from others may have a dilation, which Caffe2 ignores.
void CheckNotDilated(const ArgumentHelper& args) {
  bool ignored = false;
  for (const int64_t dilation : ReadPerAxis(args, kWindowDilation, &ignored)) {
    CAFFE_ENFORCE(
        dilation == 1, "the dilation of a transposed convolution is ", dilation,
        ", want 1: another is not supported; a filter with zeros between its taps has the "
        "same effect");
  }
}

}  // namespace

WindowArguments ParseWindowArguments(const ArgumentHelper& args, WindowUse use) {
  WindowArguments window;
  window.use = use;
  window.legacy_pad = static_cast<PaddingRule>(args.Read(LegacyPadArgument(use)));
  window.order = ReadStorageOrder(args);
  window.group = args.Read(WindowGroupArgument(use));
  window.global_pooling = use != WindowUse::kConvTranspose && args.Read(kGlobalPooling) != 0;
  window.kernel = ReadPerAxis(args, kWindowKernel, &window.one_by_one);
  window.stride = ReadPerAxis(args, kWindowStride, &window.one_by_one);
  window.pads = ReadPads(args, window.legacy_pad, &window.one_by_one);
  if (use == WindowUse::kConvTranspose) {
    window.adj = ReadPerAxis(args, kWindowAdj, &window.one_by_one);
    CheckNotDilated(args);
  } else {
    window.dilation = ReadPerAxis(args, kWindowDilation, &window.one_by_one);
  }
  if (window.kernel.empty()) window.kernel.assign(2, 0);
  const size_t axes = window.kernel.size();
  if (window.stride.empty()) window.stride.assign(axes, 1);
  if (window.dilation.empty()) window.dilation.assign(axes, 1);
  if (window.adj.empty()) window.adj.assign(axes, 0);
  if (window.pads.empty()) window.pads.assign(2 * axes, 0);
  CheckLengths(window);
  if (use == WindowUse::kPad) {  // the kernel of PadImage gives only the number of axes
    for (size_t i = 0; i < axes; ++i) CAFFE_ENFORCE_GE(window.kernel[i], 0, "kernel of axis ", i);
    window.kernel.assign(axes, 1);
  }
  for (size_t i = 0; i < axes; ++i) CheckAxis(window, i);
  return window;
}

int64_t WindowGeometry::in_size() const {
  int64_t size = 1;
  for (int i = 0; i < axes; ++i) size = CheckedMultiply(size, axis[static_cast<size_t>(i)].in);
  return size;
}

int64_t WindowGeometry::out_size() const {
  int64_t size = 1;
  for (int i = 0; i < axes; ++i) size = CheckedMultiply(size, axis[static_cast<size_t>(i)].out);
  return size;
}

int64_t WindowGeometry::kernel_size() const {
  int64_t size = 1;
  for (int i = 0; i < axes; ++i) size = CheckedMultiply(size, axis[static_cast<size_t>(i)].kernel);
  return size;
}

std::vector<int64_t> WindowGeometry::OutputDims(int64_t out_channels) const {
  std::vector<int64_t> dims{batch};
  if (order == StorageOrder::NCHW) dims.push_back(out_channels);
  for (int i = 0; i < axes; ++i) dims.push_back(axis[static_cast<size_t>(i)].out);
  if (order == StorageOrder::NHWC) dims.push_back(out_channels);
  return dims;
}

WindowGeometry MakeWindowGeometry(const WindowArguments& window, IntArrayRef dims) {
  CheckRank(window, dims);
  (void)CheckedProduct(dims);
  WindowGeometry geometry;
  geometry.order = window.order;
  geometry.axes = static_cast<int>(dims.size()) - 2;
  geometry.batch = dims[0];
  const bool channels_last = window.order == StorageOrder::NHWC;
  geometry.channels = channels_last ? dims.back() : dims[1];
  for (size_t i = 1; i < dims.size(); ++i) {
    CAFFE_ENFORCE_GT(dims[i], 0, "dim ", i, " of input 0 (X) of shape ", dims, ", want at least 1");
  }
  for (size_t i = 0; i + 2 < dims.size(); ++i) {
    geometry.axis[i] = MakeAxis(window, i, dims[i + (channels_last ? 1 : 2)]);
  }
  return geometry;
}

}  // namespace caffe2rt
