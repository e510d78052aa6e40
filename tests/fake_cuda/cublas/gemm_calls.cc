// The gemm family: translates each function to Multiply.

#include "cublas/gemm.h"

namespace fakecuda {
namespace {

bool FromCuda(cudaDataType type, Element* element) {
  switch (type) {
    case CUDA_R_32F:
      *element = Element::kFloat;
      return true;
    case CUDA_R_64F:
      *element = Element::kDouble;
      return true;
    case CUDA_R_16F:
      *element = Element::kHalf;
      return true;
    case CUDA_R_16BF:
      *element = Element::kBFloat16;
      return true;
    case CUDA_R_8I:
      *element = Element::kInt8;
      return true;
    case CUDA_R_32I:
      *element = Element::kInt32;
      return true;
    default:
      return false;
  }
}

// Sets `scalar` to the type of alpha and beta. Returns false if these types are not supported.
bool ScalarType(cublasComputeType_t compute, Element a, Element b, Element c, Element* scalar) {
  if (a != b) return false;
  switch (compute) {
    case CUBLAS_COMPUTE_16F:
    case CUBLAS_COMPUTE_16F_PEDANTIC:
      *scalar = Element::kHalf;
      return a == Element::kHalf && c == Element::kHalf;
    case CUBLAS_COMPUTE_32F:
    case CUBLAS_COMPUTE_32F_PEDANTIC:
      *scalar = Element::kFloat;
      if (a == Element::kInt8) return c == Element::kFloat;
      return (a == Element::kFloat && c == a) ||
             ((a == Element::kHalf || a == Element::kBFloat16) && (c == a || c == Element::kFloat));
    case CUBLAS_COMPUTE_32F_FAST_16F:
    case CUBLAS_COMPUTE_32F_FAST_16BF:
    case CUBLAS_COMPUTE_32F_FAST_TF32:
      *scalar = Element::kFloat;
      return a == Element::kFloat && c == Element::kFloat;
    case CUBLAS_COMPUTE_64F:
    case CUBLAS_COMPUTE_64F_PEDANTIC:
      *scalar = Element::kDouble;
      return a == Element::kDouble && c == Element::kDouble;
    case CUBLAS_COMPUTE_32I:
    case CUBLAS_COMPUTE_32I_PEDANTIC:
      *scalar = Element::kInt32;
      return a == Element::kInt8 && c == Element::kInt32;
    default:
      return false;
  }
}

struct Types {
  cudaDataType a, b, c;
  cublasComputeType_t compute;
};

cublasStatus_t RunTyped(Product p, const Types& types) {
  if (!FromCuda(types.a, &p.a.type) || !FromCuda(types.b, &p.b.type) ||
      !FromCuda(types.c, &p.c.type) ||
      !ScalarType(types.compute, p.a.type, p.b.type, p.c.type, &p.scalar_type)) {
    return CUBLAS_STATUS_NOT_SUPPORTED;
  }
  return Multiply(p);
}

}  // namespace
}  // namespace fakecuda

using namespace fakecuda;

extern "C" {

#define FAKECUBLAS_GEMM(LETTER, TYPE, ELEMENT)                                                    \
  cublasStatus_t cublas##LETTER##gemm(cublasHandle_t handle, cublasOperation_t op_a,              \
                                      cublasOperation_t op_b, int m, int n, int k,                \
                                      const TYPE* alpha, const TYPE* a, int lda, const TYPE* b,   \
                                      int ldb, const TYPE* beta, TYPE* c, int ldc) {              \
    return Multiply({handle,                                                                      \
                     __func__,                                                                    \
                     op_a,                                                                        \
                     op_b,                                                                        \
                     m,                                                                           \
                     n,                                                                           \
                     k,                                                                           \
                     ELEMENT,                                                                     \
                     alpha,                                                                       \
                     {ELEMENT, a, lda},                                                           \
                     {ELEMENT, b, ldb},                                                           \
                     beta,                                                                        \
                     {ELEMENT, c, ldc}});                                                         \
  }                                                                                               \
  cublasStatus_t cublas##LETTER##gemmStridedBatched(                                              \
      cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, int m, int n, int k, \
      const TYPE* alpha, const TYPE* a, int lda, long long int stride_a, const TYPE* b, int ldb,  \
      long long int stride_b, const TYPE* beta, TYPE* c, int ldc, long long int stride_c,         \
      int batch) {                                                                                \
    return Multiply({handle,                                                                      \
                     __func__,                                                                    \
                     op_a,                                                                        \
                     op_b,                                                                        \
                     m,                                                                           \
                     n,                                                                           \
                     k,                                                                           \
                     ELEMENT,                                                                     \
                     alpha,                                                                       \
                     {ELEMENT, a, lda, stride_a},                                                 \
                     {ELEMENT, b, ldb, stride_b},                                                 \
                     beta,                                                                        \
                     {ELEMENT, c, ldc, stride_c},                                                 \
                     batch});                                                                     \
  }                                                                                               \
  cublasStatus_t cublas##LETTER##gemmBatched(                                                     \
      cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, int m, int n, int k, \
      const TYPE* alpha, const TYPE* const a[], int lda, const TYPE* const b[], int ldb,          \
      const TYPE* beta, TYPE* const c[], int ldc, int batch) {                                    \
    return Multiply({handle,                                                                      \
                     __func__,                                                                    \
                     op_a,                                                                        \
                     op_b,                                                                        \
                     m,                                                                           \
                     n,                                                                           \
                     k,                                                                           \
                     ELEMENT,                                                                     \
                     alpha,                                                                       \
                     {ELEMENT, a, lda},                                                           \
                     {ELEMENT, b, ldb},                                                           \
                     beta,                                                                        \
                     {ELEMENT, c, ldc},                                                           \
                     batch,                                                                       \
                     true});                                                                      \
  }

FAKECUBLAS_GEMM(S, float, Element::kFloat)
FAKECUBLAS_GEMM(D, double, Element::kDouble)

cublasStatus_t cublasGemmEx(cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b,
                            int m, int n, int k, const void* alpha, const void* a,
                            cudaDataType a_type, int lda, const void* b, cudaDataType b_type,
                            int ldb, const void* beta, void* c, cudaDataType c_type, int ldc,
                            cublasComputeType_t compute, cublasGemmAlgo_t) {
  return RunTyped({handle,
                   __func__,
                   op_a,
                   op_b,
                   m,
                   n,
                   k,
                   Element::kFloat,
                   alpha,
                   {Element::kFloat, a, lda},
                   {Element::kFloat, b, ldb},
                   beta,
                   {Element::kFloat, c, ldc}},
                  {a_type, b_type, c_type, compute});
}

cublasStatus_t cublasGemmStridedBatchedEx(cublasHandle_t handle, cublasOperation_t op_a,
                                          cublasOperation_t op_b, int m, int n, int k,
                                          const void* alpha, const void* a, cudaDataType a_type,
                                          int lda, long long int stride_a, const void* b,
                                          cudaDataType b_type, int ldb, long long int stride_b,
                                          const void* beta, void* c, cudaDataType c_type, int ldc,
                                          long long int stride_c, int batch,
                                          cublasComputeType_t compute, cublasGemmAlgo_t) {
  return RunTyped({handle,
                   __func__,
                   op_a,
                   op_b,
                   m,
                   n,
                   k,
                   Element::kFloat,
                   alpha,
                   {Element::kFloat, a, lda, stride_a},
                   {Element::kFloat, b, ldb, stride_b},
                   beta,
                   {Element::kFloat, c, ldc, stride_c},
                   batch},
                  {a_type, b_type, c_type, compute});
}

cublasStatus_t cublasGemmBatchedEx(cublasHandle_t handle, cublasOperation_t op_a,
                                   cublasOperation_t op_b, int m, int n, int k, const void* alpha,
                                   const void* const a[], cudaDataType a_type, int lda,
                                   const void* const b[], cudaDataType b_type, int ldb,
                                   const void* beta, void* const c[], cudaDataType c_type, int ldc,
                                   int batch, cublasComputeType_t compute, cublasGemmAlgo_t) {
  return RunTyped({handle,
                   __func__,
                   op_a,
                   op_b,
                   m,
                   n,
                   k,
                   Element::kFloat,
                   alpha,
                   {Element::kFloat, a, lda},
                   {Element::kFloat, b, ldb},
                   beta,
                   {Element::kFloat, c, ldc},
                   batch,
                   true},
                  {a_type, b_type, c_type, compute});
}

}  // extern "C"
