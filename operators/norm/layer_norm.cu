// LayerNorm on CUDA: a block of threads computes one row.

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

}  // namespace

void NormalizeLayers(CUDAContext& context, int64_t rows, int64_t n, float epsilon, const float* x,
                     const float* gamma, const float* beta, float* y, float* mean, float* std) {
  ForEachRow(context, rows, LayerRow<float>{n, epsilon, x, gamma, beta, y, mean, std}, "LayerNorm");
}
void NormalizeLayers(CUDAContext& context, int64_t rows, int64_t n, float epsilon, const double* x,
                     const double* gamma, const double* beta, double* y, double* mean,
                     double* std) {
  ForEachRow(context, rows, LayerRow<double>{n, epsilon, x, gamma, beta, y, mean, std},
             "LayerNorm");
}

}  // namespace caffe2rt
