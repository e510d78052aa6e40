// What the schemas of convolutions and pools share: argument declarations and shape inference.
#include <string>

#include "caffe2_core/base/checked_math.h"
#include "caffe2_core/base/enforce.h"
#include "operators/common/conv_geometry.h"

namespace caffe2rt {

namespace {

bool Known(const TensorShape& shape) {
  return !shape.unknown_shape() && shape.unknown_dims_size() == 0;
}

std::vector<TensorShape> InferWithFilter(const OperatorDef& def, const std::vector<TensorShape>& in,
                                         WindowUse use) {
  if (in.size() < 2 || !Known(in[0])) return {UnknownShape()};
  const WindowArguments window = ParseWindowArguments(ArgumentHelper(def), use);
  const WindowGeometry geometry = MakeWindowGeometry(window, GetDimsVector(in[0]));
  if (!Known(in[1])) return {UnknownShape()};
  const std::vector<int64_t> filter = GetDimsVector(in[1]);
  CAFFE_ENFORCE_EQ(filter.size(), static_cast<size_t>(geometry.axes) + 2,
                   "rank of input 1 (filter), want that of input 0 (X)");
  int64_t channels = filter[0];
  if (use == WindowUse::kConvTranspose) {
    channels = window.order == StorageOrder::NHWC ? filter.back() : filter[1];
    CAFFE_ENFORCE_GE(window.group, 1, "argument group, want at least 1");
    channels = CheckedMultiply(channels, window.group);
  }
  return {CreateTensorShape(geometry.OutputDims(channels), in[0].data_type())};
}

}  // namespace

std::vector<TensorShape> InferPoolShape(const OperatorDef& def,
                                        const std::vector<TensorShape>& in) {
  if (in.empty() || !Known(in[0])) return {UnknownShape()};
  const WindowArguments window = ParseWindowArguments(ArgumentHelper(def), WindowUse::kPool);
  const WindowGeometry geometry = MakeWindowGeometry(window, GetDimsVector(in[0]));
  return {CreateTensorShape(geometry.OutputDims(geometry.channels), in[0].data_type())};
}

std::vector<TensorShape> InferConvShape(const OperatorDef& def,
                                        const std::vector<TensorShape>& in) {
  return InferWithFilter(def, in, WindowUse::kConv);
}

std::vector<TensorShape> InferConvTransposeShape(const OperatorDef& def,
                                                 const std::vector<TensorShape>& in) {
  return InferWithFilter(def, in, WindowUse::kConvTranspose);
}

void DeclareWindowArguments(OpSchema& schema, WindowUse use) {
  const bool transposed = use == WindowUse::kConvTranspose;
  schema.Arg("kernels", "window sizes, one an axis", "[]")
      .Arg("kernel", "window size of both axes of a picture", 0)
      .Arg("kernel_h", "window height; counts only beside kernel_w", 0)
      .Arg("kernel_w", "window width; counts only beside kernel_h", 0)
      .Arg("strides", "steps between windows, one an axis", "[]")
      .Arg("stride", "step of both axes of a picture", 1)
      .Arg("stride_h", "vertical step; counts only beside stride_w", 1)
      .Arg("stride_w", "horizontal step; counts only beside stride_h", 1)
      .Arg("pads", "padding: all heads, then all tails; negative crops", "[]")
      .Arg("pad", "padding of all four sides of a picture", 0)
      .Arg("pad_t", "padding above; the four sides count only together", 0)
      .Arg("pad_l", "padding on the left", 0)
      .Arg("pad_b", "padding below", 0)
      .Arg("pad_r", "padding on the right", 0)
      .Arg("legacy_pad", "0 as given, 1 VALID, 2 SAME, 3 as Caffe's pools round", 0)
      .Arg("order", "layout of the data: NCHW or NHWC", "NCHW")
      .Arg("group", "groups of channels that are convolved on their own", 1)
      .Arg("shared_buffer", "hint of the original; has no effect", 0);
  if (transposed) {
    schema.Arg("adjs", "rows or columns added at the end, one an axis", "[]")
        .Arg("adj", "added to both axes", 0)
        .Arg("adj_h", "rows added; counts only beside adj_w", 0)
        .Arg("adj_w", "columns added; counts only beside adj_h", 0)
        .Arg("no_bias", "hint for the gradient; has no effect here", 0);
  } else {
    schema.Arg("dilations", "distances between taps, one an axis", "[]")
        .Arg("dilation", "distance between taps in both axes", 1)
        .Arg("dilation_h", "vertical distance; counts only beside dilation_w", 1)
        .Arg("dilation_w", "horizontal distance; counts only beside dilation_h", 1)
        .Arg("global_pooling", "one window over the whole input", 0)
        .Arg("float16_compute", "hint for other devices; has no effect on the CPU", 0)
        .Arg("deterministic", "1: direct algorithms only", 0);
  }
  if (use == WindowUse::kPool || use == WindowUse::kPad) return;
  schema.Arg("ws_nbytes_limit", "cuDNN: most bytes of workspace; 64 MiB when not given")
      .Arg("exhaustive_search", "cuDNN: 1 times the algorithms in the first run", 0)
      .Arg("force_algo", "cuDNN: numbers of the algorithms: forward, filter and data gradient")
      .Arg("force_algo_fwd", "cuDNN: number of the algorithm of Conv", -1)
      .Arg("force_algo_dgrad", "cuDNN: number of the algorithm of ConvTranspose", -1);
  for (const char* name : {"cudnn_state", "force_algo_wgrad", "enable_tensor_core", "algo", "kts",
                           "convolution_transform_strategy"}) {
    schema.Arg(name, "hint for other engines; has no effect here");
  }
  if (transposed) schema.Arg("deterministic", "1: direct algorithms only", 0);
}

}  // namespace caffe2rt
