#include "operators/primitives/gemm_cublas.h"

#include <algorithm>
#include <limits>

#include "contexts/cuda/cublas_library.h"
#include "contexts/cuda/cuda_context.h"

namespace caffe2rt::math::internal {

namespace {

// The library's matrices are row-major. cuBLAS expects column-major matrices, so it sees each of
// them transposed and computes C^T = op(B)^T op(A)^T.
void Multiply(CUDAContext& context, const GemmShape& shape, cudaDataType type,
              cublasComputeType_t compute, const void* alpha, const void* a, const void* b,
              const void* beta, void* c) {
  const auto size = [](int64_t n) { return static_cast<int>(n); };
  const cublasOperation_t op_a = shape.trans_a ? CUBLAS_OP_T : CUBLAS_OP_N;
  const cublasOperation_t op_b = shape.trans_b ? CUBLAS_OP_T : CUBLAS_OP_N;
  if (shape.batch == 1) {
    CUBLAS_ENFORCE(
        Cublas().GemmEx(context.cublas_handle(), op_b, op_a, size(shape.n), size(shape.m),
                        size(shape.k), alpha, b, type, size(shape.ldb), a, type, size(shape.lda),
                        beta, c, type, size(shape.ldc), compute, CUBLAS_GEMM_DEFAULT),
        "matrix multiplication [", shape.m, ", ", shape.k, "] by [", shape.k, ", ", shape.n, "]");
    return;
  }
  CUBLAS_ENFORCE(Cublas().GemmStridedBatchedEx(
                     context.cublas_handle(), op_b, op_a, size(shape.n), size(shape.m),
                     size(shape.k), alpha, b, type, size(shape.ldb), shape.b_stride, a, type,
                     size(shape.lda), shape.a_stride, beta, c, type, size(shape.ldc),
                     shape.c_stride, size(shape.batch), compute, CUBLAS_GEMM_DEFAULT),
                 shape.batch, " matrix multiplications [", shape.m, ", ", shape.k, "] by [",
                 shape.k, ", ", shape.n, "]");
}

}  // namespace

bool CublasTakes(const GemmShape& shape) {
  const int64_t largest =
      std::max({shape.m, shape.n, shape.k, shape.lda, shape.ldb, shape.ldc, shape.batch});
  return largest <= std::numeric_limits<int>::max() && HasCublas();
}

void CublasGemm(CUDAContext& context, const GemmShape& shape, float alpha, const float16* a,
                const float16* b, float beta, float16* c) {
  Multiply(context, shape, CUDA_R_16F, CUBLAS_COMPUTE_32F, &alpha, a, b, &beta, c);
}
void CublasGemm(CUDAContext& context, const GemmShape& shape, float alpha, const float* a,
                const float* b, float beta, float* c) {
  Multiply(context, shape, CUDA_R_32F, CUBLAS_COMPUTE_32F, &alpha, a, b, &beta, c);
}
void CublasGemm(CUDAContext& context, const GemmShape& shape, double alpha, const double* a,
                const double* b, double beta, double* c) {
  Multiply(context, shape, CUDA_R_64F, CUBLAS_COMPUTE_64F, &alpha, a, b, &beta, c);
}

}  // namespace caffe2rt::math::internal
