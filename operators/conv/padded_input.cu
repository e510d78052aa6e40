// Copies X with explicit padding, for libraries that support only symmetric padding.

#include "contexts/cuda/cuda_kernel.cuh"
#include "operators/conv/cuda_conv_kernels.h"

namespace caffe2rt {

namespace {

// A thread writes one element of the padded tensor: the element of X at that position, or zero.
struct PadElement {
  static constexpr int kAxes = 3;             // missing ones, the outer ones, have one element
  int64_t in[kAxes], out[kAxes], pad[kAxes];  // pad: before the axis; a negative one crops
  int64_t channels;
  bool last;
  const float* x;
  float* y;

  CAFFE2RT_HOST_DEVICE void operator()(int64_t index) const {
    int64_t rest = index, channel = 0;
    if (last) {
      channel = rest % channels;
      rest /= channels;
    }
    int64_t pixel = 0, pixels = 1;
    bool inside = true;
    for (int a = kAxes - 1; a >= 0; --a) {
      const int64_t at = rest % out[a] - pad[a];
      rest /= out[a];
      inside = inside && at >= 0 && at < in[a];
      pixel += at * pixels;
      pixels *= in[a];
    }
    const int64_t from = (rest * pixels + pixel) * (last ? channels : 1) + channel;
    y[index] = inside ? x[from] : 0;
  }
};

}  // namespace

void CopyPadded(CUDAContext& context, const WindowGeometry& from, const WindowGeometry& to,
                const float* x, float* y) {
  PadElement element = {};
  for (int a = 0; a < PadElement::kAxes; ++a) {
    const int axis = a + from.axes - PadElement::kAxes;
    const auto i = static_cast<size_t>(axis);
    element.in[a] = axis < 0 ? 1 : from.axis[i].in;
    element.out[a] = axis < 0 ? 1 : to.axis[i].in;
    element.pad[a] = axis < 0 ? 0 : from.axis[i].pad_head;
  }
  element.channels = from.channels;
  element.last = from.order == StorageOrder::NHWC;
  element.x = x;
  element.y = y;
  ForEach(context, from.batch * from.channels * to.in_size(), element, "CopyPadded");
}

}  // namespace caffe2rt
