// LRN and its gradient on CUDA: a thread computes one element.

#include <cmath>

#include "contexts/cuda/cuda_kernel.cuh"
#include "operators/norm/lrn_kernels.h"

namespace caffe2rt {

namespace {

// bias + alpha * sum of the squares in the window of channel c. `step` is the distance of adjacent
// channels, and i the offset of the element.
CAFFE2RT_HOST_DEVICE inline float ScaleOf(const Channels& shape, const LRNWindow& window,
                                          const float* x, int64_t i, int64_t c, int64_t step) {
  const int64_t first = c < window.before ? 0 : c - window.before;
  const int64_t last = c + window.after < shape.count ? c + window.after : shape.count - 1;
  // With size 0 the window is empty and alpha is NaN or infinite, which affects all channels but
  // the first.
  float sum = window.after < 0 && c > 0 ? window.alpha * 0 : window.bias;
  for (int64_t j = first; j <= last; ++j) {
    const float value = x[i + (j - c) * step];
    sum += window.alpha * (value * value);
  }
  return sum;
}

struct LocalNorm {
  Channels shape;
  LRNWindow window;
  const float* x;
  float* y;
  float* scale;
  CAFFE2RT_HOST_DEVICE void operator()(int64_t i) const {
    const int64_t step = shape.last ? 1 : shape.positions;
    const float sum = ScaleOf(shape, window, x, i, i / step % shape.count, step);
    if (scale != nullptr) scale[i] = sum;
    y[i] = x[i] * std::pow(sum, -window.beta);
  }
};

// The first term of the gradient, and the terms that the second sums up.
struct LocalRatio {
  Channels shape;
  LRNWindow window;
  const float* x;
  const float* y;
  const float* dy;
  float* ratio;
  float* dx;
  CAFFE2RT_HOST_DEVICE void operator()(int64_t i) const {
    const int64_t step = shape.last ? 1 : shape.positions;
    const float scale = ScaleOf(shape, window, x, i, i / step % shape.count, step);
    ratio[i] = dy[i] * y[i] / scale;
    dx[i] = dy[i] * std::pow(scale, -window.beta);
  }
};

struct LocalGradient {
  Channels shape;
  LRNWindow window;
  const float* x;
  const float* ratio;
  float* dx;
  CAFFE2RT_HOST_DEVICE void operator()(int64_t i) const {
    const int64_t step = shape.last ? 1 : shape.positions;
    const int64_t c = i / step % shape.count;
    const int64_t before = shape.last ? window.before : window.after;
    const int64_t after = shape.last ? window.after : window.before;
    const int64_t first = c < before ? 0 : c - before;
    const int64_t last = c + after < shape.count ? c + after : shape.count - 1;
    float sum = 0;
    for (int64_t j = first; j <= last; ++j) sum += ratio[i + (j - c) * step];
    dx[i] -= 2 * window.alpha * window.beta * x[i] * sum;
  }
};

}  // namespace

void NormalizeLocally(CUDAContext& context, const Channels& shape, const LRNWindow& window,
                      const float* x, std::vector<float>*, float* y, float* scale) {
  ForEach(context, shape.batch * shape.count * shape.positions,
          LocalNorm{shape, window, x, y, scale}, "LRN");
}

int64_t LocalGradientScratch(const CUDAContext&, const Channels& shape) {
  return shape.batch * shape.count * shape.positions;
}

void GradientOfLocal(CUDAContext& context, const Channels& shape, const LRNWindow& window,
                     const float* x, const float* y, const float* dy, float* scratch, float* dx) {
  const int64_t n = shape.batch * shape.count * shape.positions;
  ForEach(context, n, LocalRatio{shape, window, x, y, dy, scratch, dx}, "LRNGradient");
  ForEach(context, n, LocalGradient{shape, window, x, scratch, dx}, "LRNGradient");
}

}  // namespace caffe2rt
