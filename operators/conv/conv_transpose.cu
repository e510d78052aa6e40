// ConvTranspose on CUDA: the native kernel, for any arguments.

#include "contexts/cuda/cuda_kernel.cuh"
#include "operators/conv/cuda_conv_kernels.h"

namespace caffe2rt {

namespace {

// A thread computes one element of Y: the sum over the input channels of its group and over the
// taps that reach it from a pixel of X.
struct ConvTransposeElement {
  WindowAxis h, w;
  int64_t channels, out_channels, in_group, out_group;
  bool last;
  const float* x;
  const float* filter;
  const float* bias;
  float* y;

  CAFFE2RT_HOST_DEVICE void operator()(int64_t index) const {
    int64_t rest = index, m = 0;
    if (last) {
      m = rest % out_channels;
      rest /= out_channels;
    }
    const int64_t column = rest % w.out + w.pad_head;
    rest /= w.out;
    const int64_t row = rest % h.out + h.pad_head;
    rest /= h.out;
    if (!last) {
      m = rest % out_channels;
      rest /= out_channels;
    }
    const int64_t first_channel = m / out_group * in_group, plane = h.in * w.in;
    const int64_t taps = h.kernel * w.kernel;
    const int64_t x_channel = last ? 1 : plane, x_pixel = last ? channels : 1;
    const int64_t w_tap = last ? out_group : 1;
    const float* image = x + rest * channels * plane + first_channel * x_channel;
    const float* weights =
        filter + first_channel * out_group * taps + m % out_group * (last ? 1 : taps);
    float total = 0;
    for (int64_t i = row % h.stride; i < h.kernel && i <= row; i += h.stride) {
      const int64_t from_row = (row - i) / h.stride;
      if (from_row >= h.in) continue;
      for (int64_t j = column % w.stride; j < w.kernel && j <= column; j += w.stride) {
        const int64_t from_column = (column - j) / w.stride;
        if (from_column >= w.in) continue;
        const float* from = image + (from_row * w.in + from_column) * x_pixel;
        const float* by = weights + (i * w.kernel + j) * w_tap;
        float sum = 0;
        for (int64_t c = 0; c < in_group; ++c) {
          sum += from[c * x_channel] * by[c * out_group * taps];
        }
        total += sum;
      }
    }
    y[index] = bias != nullptr ? total + bias[m] : total;
  }
};

}  // namespace

void RunNative(CUDAContext& context, const ConvTransposeShape& shape, const float* x,
               const float* filter, const float* bias, float* y) {
  const WindowGeometry& window = shape.window;
  ConvTransposeElement element = {};
  element.h = window.axis[0];
  element.w = window.axis[1];
  element.channels = window.channels;
  element.out_channels = shape.out_channels;
  element.in_group = shape.in_group();
  element.out_group = shape.out_group();
  element.last = shape.channels_last();
  element.x = x;
  element.filter = filter;
  element.bias = bias;
  element.y = y;
  ForEach(context, window.batch * shape.out_channels * window.out_size(), element, "ConvTranspose");
}

}  // namespace caffe2rt
