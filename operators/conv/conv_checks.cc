#include "operators/conv/conv_checks.h"

#include "caffe2_core/base/checked_math.h"
#include "caffe2_core/base/enforce.h"

namespace caffe2rt {

namespace {

void CheckFilterAxes(const WindowGeometry& geometry, IntArrayRef filter) {
  const bool last = geometry.order == StorageOrder::NHWC;
  for (int i = 0; i < geometry.axes; ++i) {
    CAFFE_ENFORCE_EQ(filter[static_cast<size_t>(i + (last ? 1 : 2))],
                     geometry.axis[static_cast<size_t>(i)].kernel, "axis ", i,
                     " of input 1 (filter) of shape ", filter, ", want the kernel argument");
  }
}

}  // namespace

ConvShape MakeConvShape(const WindowArguments& window, IntArrayRef x, IntArrayRef filter,
                        bool bias) {
  const WindowGeometry geometry = MakeWindowGeometry(window, x);
  CAFFE_ENFORCE_EQ(filter.size(), x.size(), "rank of input 1 (filter) of shape ", filter,
                   ", want that of input 0 (X)");
  const int64_t out_channels = filter[0];
  const int64_t in_group = filter[window.order == StorageOrder::NHWC ? filter.size() - 1 : 1];
  CAFFE_ENFORCE_EQ(geometry.channels % window.group, 0, "input 0 (X) has ", geometry.channels,
                   " channels, want a multiple of group ", window.group);
  CAFFE_ENFORCE_EQ(in_group, geometry.channels / window.group,
                   "channels of input 1 (filter) of shape ", filter,
                   ", want those of input 0 (X) of shape ", x, " divided by group ", window.group);
  CAFFE_ENFORCE_EQ(out_channels % window.group, 0, "input 1 (filter) has ", out_channels,
                   " output channels, want a multiple of group ", window.group);
  CheckFilterAxes(geometry, filter);
  (void)CheckedProduct(geometry.OutputDims(out_channels));
  return {geometry, out_channels, window.group, bias};
}

ConvTransposeShape MakeConvTransposeShape(const WindowArguments& window, IntArrayRef x,
                                          IntArrayRef filter, bool bias) {
  const WindowGeometry geometry = MakeWindowGeometry(window, x);
  CAFFE_ENFORCE_EQ(filter.size(), 4u, "rank of input 1 (filter) of shape ", filter);
  CAFFE_ENFORCE_EQ(filter[0], geometry.channels, "dim 0 of input 1 (filter) of shape ", filter,
                   ", want the channels of input 0 (X) of shape ", x);
  CAFFE_ENFORCE_EQ(geometry.channels % window.group, 0, "input 0 (X) has ", geometry.channels,
                   " channels, want a multiple of group ", window.group);
  CheckFilterAxes(geometry, filter);
  const int64_t out_channels =
      CheckedMultiply(filter[window.order == StorageOrder::NHWC ? 3 : 1], window.group);
  (void)CheckedProduct(geometry.OutputDims(out_channels));
  return {geometry, out_channels, window.group, bias};
}

const float* ConvBias(const Tensor& bias, int64_t out_channels) {
  const float* data = bias.data<float>();
  CAFFE_ENFORCE(bias.dim() == 1 && bias.dim(0) == out_channels, "input 2 (bias) has shape ",
                bias.sizes(), ", want [", out_channels, "]: one entry for each output channel");
  return data;
}

}  // namespace caffe2rt
