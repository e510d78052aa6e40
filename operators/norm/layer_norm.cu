// LayerNorm and its gradient on CUDA: a warp or block computes one row, a thread the gradient of
// one element of gamma and beta.

#include <cmath>

#include "operators/norm/layer_norm_kernels.h"
#include "operators/norm/moments.cuh"

namespace caffe2rt {

namespace {

template <class T>
struct LayerRow {
  int64_t n;
  float epsilon;
  const T* x;
  const T* gamma;
  const T* beta;
  T* y;
  T* mean;
  T* std;
  CAFFE2RT_HOST_DEVICE void operator()(const Row& row) const {
    const T* const in = x + row.index() * n;
    T* const out = y + row.index() * n;
    const RowMoments moments =
        MomentsOfRow(row, n, [=](int64_t i) { return static_cast<double>(in[i]); });
    const T middle = static_cast<T>(moments.mean);
    const T deviation = std::sqrt(static_cast<T>(moments.variance) + static_cast<T>(epsilon));
    row.Once([=, this] {
      mean[row.index()] = middle;
      std[row.index()] = deviation;
    });
    row.ForEach(n, [=, this](int64_t i) {
      const T normal = (in[i] - middle) / deviation;
      out[i] = gamma != nullptr ? normal * gamma[i] + beta[i] : normal;
    });
  }
};

struct LayerGradientRow {
  int64_t n;
  LayerGradient gradient;
  CAFFE2RT_HOST_DEVICE void operator()(const Row& row) const {
    const float* const in = gradient.x + row.index() * n;
    const float* const dy = gradient.dy + row.index() * n;
    float* const dx = gradient.dx + row.index() * n;
    const float* const gamma = gradient.gamma;
    const float mean = gradient.mean[row.index()], inverse = 1 / gradient.std[row.index()];
    const double count = static_cast<double>(n);
    const double sum = row.Reduce(n, 0.0, Plus(), [=](int64_t i) {
      return static_cast<double>(gamma != nullptr ? gamma[i] * dy[i] : dy[i]);
    });
    const double product = row.Reduce(n, 0.0, Plus(), [=](int64_t i) {
      const float g = gamma != nullptr ? gamma[i] * dy[i] : dy[i];
      return static_cast<double>(g) * static_cast<double>((in[i] - mean) * inverse);
    });
    const float shift = static_cast<float>(sum / count);
    const float slope = static_cast<float>(product / count) * inverse;
    row.ForEach(n, [=](int64_t i) {
      const float g = gamma != nullptr ? gamma[i] * dy[i] : dy[i];
      dx[i] = inverse * (g - shift - (in[i] - mean) * slope);
    });
  }
};

struct AddLayerRows {
  int64_t rows, n;
  LayerGradient gradient;
  CAFFE2RT_HOST_DEVICE void operator()(int64_t i) const {
    float product = 0, sum = 0;
    for (int64_t r = 0; r < rows; ++r) {
      const float dy = gradient.dy[r * n + i];
      product += dy * (gradient.x[r * n + i] - gradient.mean[r]) / gradient.std[r];
      sum += dy;
    }
    gradient.dgamma[i] = product;
    gradient.dbeta[i] = sum;
  }
};

}  // namespace

void NormalizeLayers(CUDAContext& context, int64_t rows, int64_t n, float epsilon, const float* x,
                     const float* gamma, const float* beta, float* y, float* mean, float* std) {
  ForEachRowOf(context, n, rows, LayerRow<float>{n, epsilon, x, gamma, beta, y, mean, std},
               "LayerNorm");
}
void NormalizeLayers(CUDAContext& context, int64_t rows, int64_t n, float epsilon, const double* x,
                     const double* gamma, const double* beta, double* y, double* mean,
                     double* std) {
  ForEachRowOf(context, n, rows, LayerRow<double>{n, epsilon, x, gamma, beta, y, mean, std},
               "LayerNorm");
}

void GradientOfLayers(CUDAContext& context, int64_t rows, int64_t n,
                      const LayerGradient& gradient) {
  ForEachRowOf(context, n, rows, LayerGradientRow{n, gradient}, "LayerNormGradient");
  if (gradient.gamma == nullptr) return;
  ForEach(context, n, AddLayerRows{rows, n, gradient}, "LayerNormGradient");
}

}  // namespace caffe2rt
