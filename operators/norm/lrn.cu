// LRN on CUDA: a thread computes one element.

#include <cmath>

#include "contexts/cuda/cuda_kernel.cuh"
#include "operators/norm/lrn_kernels.h"

namespace caffe2rt {

namespace {

struct LocalNorm {
  Channels shape;
  LRNWindow window;
  const float* x;
  float* y;
  float* scale;
  CAFFE2RT_HOST_DEVICE void operator()(int64_t i) const {
    const int64_t step = shape.last ? 1 : shape.positions;
    const int64_t c = i / step % shape.count;
    const int64_t first = c < window.before ? 0 : c - window.before;
    const int64_t last = c + window.after < shape.count ? c + window.after : shape.count - 1;
    // With size 0 the window is empty and alpha is NaN or infinite, which affects all channels but
    // the first.
    float sum = window.after < 0 && c > 0 ? window.alpha * 0 : window.bias;
    for (int64_t j = first; j <= last; ++j) {
      const float value = x[i + (j - c) * step];
      sum += window.alpha * (value * value);
    }
    if (scale != nullptr) scale[i] = sum;
    y[i] = x[i] * std::pow(sum, -window.beta);
  }
};

}  // namespace

void NormalizeLocally(CUDAContext& context, const Channels& shape, const LRNWindow& window,
                      const float* x, std::vector<float>*, float* y, float* scale) {
  ForEach(context, shape.batch * shape.count * shape.positions,
          LocalNorm{shape, window, x, y, scale}, "LRN");
}

}  // namespace caffe2rt
