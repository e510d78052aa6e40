#pragma once
// The kernels of LayerNorm and LayerNormGradient.

#include <cstdint>

namespace caffe2rt {

class CPUContext;
class CUDAContext;

// Normalizes `rows` rows of `n` elements. gamma and beta are both null or both set.
void NormalizeLayers(CPUContext& context, int64_t rows, int64_t n, float epsilon, const float* x,
                     const float* gamma, const float* beta, float* y, float* mean, float* std);
void NormalizeLayers(CPUContext& context, int64_t rows, int64_t n, float epsilon, const double* x,
                     const double* gamma, const double* beta, double* y, double* mean, double* std);
void NormalizeLayers(CUDAContext& context, int64_t rows, int64_t n, float epsilon, const float* x,
                     const float* gamma, const float* beta, float* y, float* mean, float* std);
void NormalizeLayers(CUDAContext& context, int64_t rows, int64_t n, float epsilon, const double* x,
                     const double* gamma, const double* beta, double* y, double* mean, double* std);

// With normal = (x - mean) / std of each row, and g = gamma * dy:
//   dx = (g - (mean of g) - normal * (mean of g * normal)) / std
//   dgamma = sum of dy * normal, dbeta = sum of dy, over the rows
// gamma, dgamma and dbeta are all null or all set.
struct LayerGradient {
  const float* x = nullptr;
  const float* dy = nullptr;
  const float* mean = nullptr;
  const float* std = nullptr;
  const float* gamma = nullptr;
  float* dx = nullptr;
  float* dgamma = nullptr;
  float* dbeta = nullptr;
};
void GradientOfLayers(CPUContext& context, int64_t rows, int64_t n, const LayerGradient& gradient);
void GradientOfLayers(CUDAContext& context, int64_t rows, int64_t n, const LayerGradient& gradient);

}  // namespace caffe2rt
