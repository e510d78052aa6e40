#pragma once
// The kernels of LayerNorm.

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

}  // namespace caffe2rt
