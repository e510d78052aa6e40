// Conv, Conv1D, Conv2D, Conv3D on CUDA: the native kernel, for any arguments.

#include "contexts/cuda/cuda_kernel.cuh"
#include "operators/conv/cuda_conv.h"

namespace caffe2rt {

namespace {

// A thread computes one element of Y: the sum over its group's channels and the taps inside X.
// Taps of more than three axes are taken one by one, those of the last three in loops.
struct ConvElement {
  int axes;  // 3 at least: missing ones are of size 1, in front
  WindowAxis axis[kMaxWindowAxes];
  int64_t channels, out_channels, in_group, out_group;
  int64_t in_size, taps, lead_taps;  // lead_taps: of the axes before the last three
  bool last;
  const float* x;
  const float* filter;
  const float* bias;
  float* y;

  // The taps of an axis that meet X when the window starts at `start`: [first, last).
  struct Taps {
    int64_t first = 0, last = 0;
  };
  static CAFFE2RT_HOST_DEVICE Taps Inside(const WindowAxis& a, int64_t start) {
    if (a.dilation == 0) return {0, start >= 0 && start < a.in ? a.kernel : 0};
    const int64_t first = start >= 0 ? 0 : (-start + a.dilation - 1) / a.dilation;
    const int64_t end = start < a.in ? (a.in - 1 - start) / a.dilation + 1 : 0;
    return {first, end < a.kernel ? end : a.kernel};
  }

  // The sum over the taps of the last three axes and `depth` channels that lie side by side.
  // `x_base` and `filter_base` are of the axes before, `start` and `taps` of the three.
  CAFFE2RT_HOST_DEVICE float Sum(const float* from, const float* by, int64_t depth, int64_t x_base,
                                 int64_t filter_base, const int64_t* start,
                                 const Taps* inside) const {
    const WindowAxis &d = axis[axes - 3], &h = axis[axes - 2], &w = axis[axes - 1];
    const int64_t pixel = last ? channels : 1;
    float sum = 0;
    for (int64_t i = inside[0].first; i < inside[0].last; ++i) {
      const int64_t plane = x_base * d.in + start[0] + i * d.dilation;
      for (int64_t j = inside[1].first; j < inside[1].last; ++j) {
        const int64_t row = (plane * h.in + start[1] + j * h.dilation) * w.in + start[2];
        const int64_t filter_row = ((filter_base * d.kernel + i) * h.kernel + j) * w.kernel;
        for (int64_t k = inside[2].first; k < inside[2].last; ++k) {
          const float* const a = from + (row + k * w.dilation) * pixel;
          const float* const b = by + (filter_row + k) * depth;
          for (int64_t c = 0; c < depth; ++c) sum += a[c] * b[c];
        }
      }
    }
    return sum;
  }

  CAFFE2RT_HOST_DEVICE void operator()(int64_t index) const {
    int64_t rest = index, m = 0, start[kMaxWindowAxes];
    if (last) {
      m = rest % out_channels;
      rest /= out_channels;
    }
    for (int a = axes - 1; a >= 0; --a) {
      start[a] = rest % axis[a].out * axis[a].stride - axis[a].pad_head;
      rest /= axis[a].out;
    }
    if (!last) {
      m = rest % out_channels;
      rest /= out_channels;
    }
    const int64_t first_channel = m / out_group * in_group;
    const float* const from = x + rest * channels * in_size + first_channel * (last ? 1 : in_size);
    const float* const by = filter + m * in_group * taps;
    const int lead = axes - 3;
    Taps inside[3];
    for (int a = 0; a < 3; ++a) inside[a] = Inside(axis[lead + a], start[lead + a]);
    float total = 0;
    for (int64_t tap = 0; tap < lead_taps; ++tap) {
      int64_t base = 0, left = tap, divisor = lead_taps;
      bool meets = true;
      for (int a = 0; a < lead; ++a) {
        divisor /= axis[a].kernel;
        const int64_t at = start[a] + left / divisor * axis[a].dilation;
        left %= divisor;
        meets = meets && at >= 0 && at < axis[a].in;
        base = base * axis[a].in + at;
      }
      if (!meets) continue;
      if (last) {
        total += Sum(from, by, in_group, base, tap, start + lead, inside);
      } else {
        for (int64_t c = 0; c < in_group; ++c) {
          total += Sum(from + c * in_size, by + c * taps, 1, base, tap, start + lead, inside);
        }
      }
    }
    y[index] = bias != nullptr ? total + bias[m] : total;
  }
};

}  // namespace

void RunNative(CUDAContext& context, const ConvShape& shape, const float* x, const float* filter,
               const float* bias, float* y) {
  const WindowGeometry& window = shape.window;
  ConvElement element = {};
  element.axes = std::max(window.axes, 3);
  element.lead_taps = 1;
  for (int i = 0; i < element.axes; ++i) {
    const int from = i - (element.axes - window.axes);
    element.axis[i] = from < 0 ? WindowAxis() : window.axis[static_cast<size_t>(from)];
    if (i < element.axes - 3) element.lead_taps *= element.axis[i].kernel;
  }
  element.channels = window.channels;
  element.out_channels = shape.out_channels;
  element.in_group = shape.in_group();
  element.out_group = shape.out_group();
  element.in_size = window.in_size();
  element.taps = window.kernel_size();
  element.last = shape.channels_last();
  element.x = x;
  element.filter = filter;
  element.bias = bias;
  element.y = y;
  ForEach(context, window.batch * shape.out_channels * window.out_size(), element, "Conv");
}

}  // namespace caffe2rt
