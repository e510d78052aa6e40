#pragma once
// The calls to cuBLAS that cuda_gemm.cu makes.

#include "operators/primitives/cuda_gemm.h"

namespace caffe2rt::math::internal {

// Whether cuBLAS is available and its 32-bit integers can hold the sizes. The first call opens
// cuBLAS. Thread safe.
bool CublasTakes(const GemmShape& shape);

// REQUIRES: CublasTakes(shape), and no size is 0.
void CublasGemm(CUDAContext& context, const GemmShape& shape, float alpha, const float16* a,
                const float16* b, float beta, float16* c);
void CublasGemm(CUDAContext& context, const GemmShape& shape, float alpha, const float* a,
                const float* b, float beta, float* c);
void CublasGemm(CUDAContext& context, const GemmShape& shape, double alpha, const double* a,
                const double* b, double beta, double* c);

}  // namespace caffe2rt::math::internal
