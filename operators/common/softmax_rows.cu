// Softmax of rows and of channels on CUDA: a warp or block computes one row, a thread one
// position.

#include <cmath>
#include <limits>

#include "contexts/cuda/cuda_kernel.cuh"
#include "operators/common/softmax_rows.h"

namespace caffe2rt {

namespace {

struct SoftmaxRow {
  int64_t n;
  const float* x;
  float* y;
  CAFFE2RT_HOST_DEVICE void operator()(const Row& row) const {
    const float* const in = x + row.index() * n;
    float* const out = y + row.index() * n;
    const float top = row.Reduce(n, -std::numeric_limits<float>::infinity(), Maximum(),
                                 [=](int64_t i) { return in[i]; });
    const float sum =
        row.Reduce(n, 0.f, Plus(), [=](int64_t i) { return out[i] = std::exp(in[i] - top); });
    row.ForEach(n, [=](int64_t i) { out[i] /= sum; });
  }
};

struct SoftmaxGradientRow {
  int64_t n;
  const float* y;
  const float* dy;
  float* dx;
  CAFFE2RT_HOST_DEVICE void operator()(const Row& row) const {
    const int64_t first = row.index() * n;
    const float* const p = y + first;
    const float* const d = dy + first;
    float* const out = dx + first;
    const float sum = row.Reduce(n, 0.f, Plus(), [=](int64_t i) { return p[i] * d[i]; });
    row.ForEach(n, [=](int64_t i) { out[i] = (d[i] - sum) * p[i]; });
  }
};

struct SoftmaxPosition {
  int64_t channels, positions;
  const float* x;
  float* y;
  CAFFE2RT_HOST_DEVICE void operator()(int64_t i) const {
    const int64_t first = i / positions * channels * positions + i % positions;
    float top = -std::numeric_limits<float>::infinity(), sum = 0;
    for (int64_t c = 0; c < channels; ++c) {
      const float value = x[first + c * positions];
      top = top < value ? value : top;
    }
    for (int64_t c = 0; c < channels; ++c) {
      sum += y[first + c * positions] = std::exp(x[first + c * positions] - top);
    }
    for (int64_t c = 0; c < channels; ++c) y[first + c * positions] /= sum;
  }
};

}  // namespace

void SoftmaxRows(CUDAContext& context, int64_t rows, int64_t n, const float* x, float* y) {
  if (n > 0) ForEachRowOf(context, n, rows, SoftmaxRow{n, x, y}, "Softmax");
}

void SoftmaxRowsGradient(CUDAContext& context, int64_t rows, int64_t n, const float* y,
                         const float* dy, float* dx) {
  if (n > 0) ForEachRowOf(context, n, rows, SoftmaxGradientRow{n, y, dy, dx}, "SoftmaxGradient");
}

void SoftmaxChannels(CUDAContext& context, int64_t batch, int64_t channels, int64_t positions,
                     const float* x, float* y) {
  ForEach(context, batch * positions, SoftmaxPosition{channels, positions, x, y}, "Softmax");
}

}  // namespace caffe2rt
