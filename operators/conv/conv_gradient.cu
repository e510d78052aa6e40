// The gradients of convolutions on CUDA: native kernels, for any arguments. No atomics are used, so
// the results do not depend on the order of threads.

#include <algorithm>

#include "contexts/cuda/cuda_kernel.cuh"
#include "operators/conv/cuda_conv_kernels.h"

namespace caffe2rt {

namespace {

// The sizes of a convolution, and the positions of elements in its tensors.
struct ConvSizes {
  int axes;
  WindowAxis axis[kMaxWindowAxes];
  int64_t batch, channels, out_channels, in_group, out_group, in_size, out_size, taps;
  bool last;

  CAFFE2RT_HOST_DEVICE int64_t X(int64_t image, int64_t c, int64_t pixel) const {
    return last ? (image * in_size + pixel) * channels + c
                : (image * channels + c) * in_size + pixel;
  }
  CAFFE2RT_HOST_DEVICE int64_t Y(int64_t image, int64_t m, int64_t pixel) const {
    return last ? (image * out_size + pixel) * out_channels + m
                : (image * out_channels + m) * out_size + pixel;
  }
  // `c` counts the channels of the group of filter `m`.
  CAFFE2RT_HOST_DEVICE int64_t Filter(int64_t m, int64_t c, int64_t tap) const {
    return last ? (m * taps + tap) * in_group + c : (m * in_group + c) * taps + tap;
  }

  // The output that reads input `pixel` with `tap`, or -1 if there is none.
  CAFFE2RT_HOST_DEVICE int64_t Output(int64_t pixel, int64_t tap) const {
    int64_t output = 0, stride = 1;
    for (int a = axes - 1; a >= 0; --a) {
      const WindowAxis& w = axis[a];
      const int64_t from = pixel % w.in + w.pad_head - tap % w.kernel * w.dilation;
      if (from < 0 || from % w.stride != 0 || from / w.stride >= w.out) return -1;
      output += from / w.stride * stride;
      stride *= w.out;
      pixel /= w.in;
      tap /= w.kernel;
    }
    return output;
  }
  // The input that output `pixel` reads with `tap`, or -1 if it lies outside.
  CAFFE2RT_HOST_DEVICE int64_t Input(int64_t pixel, int64_t tap) const {
    int64_t input = 0, stride = 1;
    for (int a = axes - 1; a >= 0; --a) {
      const WindowAxis& w = axis[a];
      const int64_t at = pixel % w.out * w.stride + tap % w.kernel * w.dilation - w.pad_head;
      if (at < 0 || at >= w.in) return -1;
      input += at * stride;
      stride *= w.in;
      pixel /= w.out;
      tap /= w.kernel;
    }
    return input;
  }
};

ConvSizes SizesOf(const ConvShape& shape) {
  const WindowGeometry& window = shape.window;
  ConvSizes sizes = {};
  sizes.axes = window.axes;
  for (int i = 0; i < window.axes; ++i) sizes.axis[i] = window.axis[static_cast<size_t>(i)];
  sizes.batch = window.batch;
  sizes.channels = window.channels;
  sizes.out_channels = shape.out_channels;
  sizes.in_group = shape.in_group();
  sizes.out_group = shape.out_group();
  sizes.in_size = window.in_size();
  sizes.out_size = window.out_size();
  sizes.taps = window.kernel_size();
  sizes.last = shape.channels_last();
  return sizes;
}

// A thread computes one element of dX: the sum over the filters of its group and the taps that read
// it.
struct ConvDataGradient {
  ConvSizes sizes;
  const float* filter;
  const float* dy;
  float* dx;

  CAFFE2RT_HOST_DEVICE void operator()(int64_t index) const {
    int64_t rest = index, c = 0;
    if (sizes.last) {
      c = rest % sizes.channels;
      rest /= sizes.channels;
    }
    const int64_t pixel = rest % sizes.in_size;
    rest /= sizes.in_size;
    if (!sizes.last) {
      c = rest % sizes.channels;
      rest /= sizes.channels;
    }
    const int64_t first = c / sizes.in_group * sizes.out_group;
    float total = 0;
    for (int64_t tap = 0; tap < sizes.taps; ++tap) {
      const int64_t output = sizes.Output(pixel, tap);
      if (output < 0) continue;
      float sum = 0;
      for (int64_t m = first; m < first + sizes.out_group; ++m) {
        sum += dy[sizes.Y(rest, m, output)] * filter[sizes.Filter(m, c % sizes.in_group, tap)];
      }
      total += sum;
    }
    dx[index] = total;
  }
};

// A block computes one element of dFilter: the sum over the images and the outputs.
struct ConvFilterGradient {
  ConvSizes sizes;
  const float* x;
  const float* dy;
  float* dfilter;

  CAFFE2RT_HOST_DEVICE void operator()(const Row& row) const {
    const int64_t c = row.index() % sizes.in_group, rest = row.index() / sizes.in_group;
    const int64_t tap = rest % sizes.taps, m = rest / sizes.taps;
    const int64_t channel = m / sizes.out_group * sizes.in_group + c;
    const float sum = row.Reduce(sizes.batch * sizes.out_size, 0.0f, Plus(), [=, this](int64_t i) {
      const int64_t image = i / sizes.out_size, output = i % sizes.out_size;
      const int64_t input = sizes.Input(output, tap);
      if (input < 0) return 0.0f;
      return x[sizes.X(image, channel, input)] * dy[sizes.Y(image, m, output)];
    });
    row.Once([=, this] { dfilter[sizes.Filter(m, c, tap)] = sum; });
  }
};

// A block sums a piece of one channel. Row i is piece i / channels of channel i % channels.
struct SumChannelPiece {
  ChannelSums sums;
  int64_t piece;  // pixels of all images
  float* to;

  CAFFE2RT_HOST_DEVICE void operator()(const Row& row) const {
    const int64_t c = row.index() % sums.channels, first = row.index() / sums.channels * piece;
    const int64_t all = sums.batch * sums.size, rest = all - first;
    const float sum = row.Reduce(rest < piece ? rest : piece, 0.0f, Plus(), [=, this](int64_t i) {
      const int64_t at = first + i;
      return sums.x[sums.last ? at * sums.channels + c
                              : (at / sums.size * sums.channels + c) * sums.size + at % sums.size];
    });
    row.Once([=, this] { to[row.index()] = sum; });
  }
};

// A thread adds up the pieces of one channel.
struct AddChannelPieces {
  int64_t channels, pieces;
  const float* from;
  float* to;
  CAFFE2RT_HOST_DEVICE void operator()(int64_t c) const {
    float sum = 0;
    for (int64_t i = 0; i < pieces; ++i) sum += from[i * channels + c];
    to[c] = sum;
  }
};

}  // namespace

void RunNative(CUDAContext& context, const ConvDataGradientShape& shape, const float* dy,
               const float* filter, const float*, float* dx) {
  const ConvSizes sizes = SizesOf(shape.conv);
  ForEach(context, sizes.batch * sizes.channels * sizes.in_size,
          ConvDataGradient{sizes, filter, dy, dx}, "ConvGradient of X");
}

void RunNative(CUDAContext& context, const ConvFilterGradientShape& shape, const float* x,
               const float* dy, const float*, float* dfilter) {
  const ConvSizes sizes = SizesOf(shape.conv);
  ForEachRow(context, sizes.out_channels * sizes.in_group * sizes.taps,
             ConvFilterGradient{sizes, x, dy, dfilter}, "ConvGradient of the filter");
}

void SumChannels(CUDAContext& context, const ChannelSums& sums, float* scratch, float* y) {
  const int64_t pieces = ChannelPieces(sums);
  const int64_t piece = (sums.batch * sums.size + pieces - 1) / pieces;
  float* const to = pieces == 1 ? y : scratch;
  ForEachRow(context, sums.channels * pieces, SumChannelPiece{sums, piece, to},
             "ConvGradient of the bias");
  if (pieces == 1) return;
  ForEach(context, sums.channels, AddChannelPieces{sums.channels, pieces, scratch, y},
          "ConvGradient of the bias");
}

}  // namespace caffe2rt
