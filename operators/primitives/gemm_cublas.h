#pragma once
// cuBLAS behind cuda_gemm.cu.

#include "operators/primitives/cuda_gemm.h"

namespace caffe2rt::math::internal {

// Whether cuBLAS is here and its ints hold the sizes. Opens it, the first time. Thread safe.
bool CublasTakes(const GemmShape& shape);

// REQUIRES: CublasTakes, and no size of 0.
void CublasGemm(CUDAContext& context, const GemmShape& shape, float alpha, const float16* a,
                const float16* b, float beta, float16* c);
void CublasGemm(CUDAContext& context, const GemmShape& shape, float alpha, const float* a,
                const float* b, float beta, float* c);
void CublasGemm(CUDAContext& context, const GemmShape& shape, double alpha, const double* a,
                const double* b, double beta, double* c);

}  // namespace caffe2rt::math::internal
