#pragma once
// cuBLAS through a table of functions, which is filled on first use.
//
//   CUBLAS_ENFORCE(Cublas().Sgemm(context.cublas_handle(), ...), "product of X and W");
//
// Members have the names of the functions, without the prefix. To add a function, add its name to
// the list.
// Thread safe.

#include <cublas_v2.h>

#include "caffe2_core/base/enforce.h"
#include "contexts/cuda/cuda_libraries.h"
#include "contexts/cuda/vendor_library.h"

#pragma GCC visibility push(default)
namespace caffe2rt {

// clang-format off
#define CAFFE2RT_CUBLAS_FUNCTIONS(X) \
  X(Create) X(Destroy) X(GetVersion) X(GetProperty) X(GetStatusName) X(GetStatusString) \
  X(SetStream) X(GetStream) X(SetWorkspace) X(SetMathMode) X(GetMathMode) X(SetPointerMode) \
  X(GetPointerMode) X(SetAtomicsMode) X(Sgemm) X(Dgemm) X(SgemmBatched) X(DgemmBatched) \
  X(SgemmStridedBatched) X(DgemmStridedBatched) X(Sgemv) X(Dgemv) X(Sger) X(Dger) X(Saxpy) \
  X(Daxpy) X(Scopy) X(Dcopy) X(Sdot) X(Ddot) X(Sscal) X(Dscal) X(Sasum) X(Dasum) X(Snrm2) \
  X(Dnrm2)
// clang-format on

struct CublasFunctions {
#define CAFFE2RT_MEMBER(name) decltype(&cublas##name) name = nullptr;
  CAFFE2RT_CUBLAS_FUNCTIONS(CAFFE2RT_MEMBER)
#undef CAFFE2RT_MEMBER

  // cuBLAS's header overloads these functions, so decltype cannot be used.
  cublasStatus_t (*GemmEx)(cublasHandle_t, cublasOperation_t, cublasOperation_t, int m, int n,
                           int k, const void* alpha, const void* a, cudaDataType, int lda,
                           const void* b, cudaDataType, int ldb, const void* beta, void* c,
                           cudaDataType, int ldc, cublasComputeType_t, cublasGemmAlgo_t) = nullptr;
  cublasStatus_t (*GemmBatchedEx)(cublasHandle_t, cublasOperation_t, cublasOperation_t, int m,
                                  int n, int k, const void* alpha, const void* const a[],
                                  cudaDataType, int lda, const void* const b[], cudaDataType,
                                  int ldb, const void* beta, void* const c[], cudaDataType, int ldc,
                                  int count, cublasComputeType_t, cublasGemmAlgo_t) = nullptr;
  cublasStatus_t (*GemmStridedBatchedEx)(cublasHandle_t, cublasOperation_t, cublasOperation_t,
                                         int m, int n, int k, const void* alpha, const void* a,
                                         cudaDataType, int lda, long long stride_a, const void* b,
                                         cudaDataType, int ldb, long long stride_b,
                                         const void* beta, void* c, cudaDataType, int ldc,
                                         long long stride_c, int count, cublasComputeType_t,
                                         cublasGemmAlgo_t) = nullptr;
};

// THROWS CublasProblem() if cuBLAS is not available.
const CublasFunctions& Cublas();

// Returns text such as "the library was not initialized (status 1, CUBLAS_STATUS_NOT_INITIALIZED)".
std::string CublasStatusText(cublasStatus_t status);

namespace internal {
[[noreturn]] void ThrowCublasError(const char* file, int line, const char* call,
                                   cublasStatus_t status, const std::string& message);
}  // namespace internal

// Caffe2's name. The parts after the call are formatted only if it fails.
#define CUBLAS_ENFORCE(call, ...)                                                        \
  do {                                                                                   \
    const cublasStatus_t caffe2rt_status = (call);                                       \
    if (__builtin_expect(caffe2rt_status != CUBLAS_STATUS_SUCCESS, 0)) {                 \
      ::caffe2rt::internal::ThrowCublasError(__FILE__, __LINE__, #call, caffe2rt_status, \
                                             ::caffe2rt::MakeString(__VA_ARGS__));       \
    }                                                                                    \
  } while (false)

}  // namespace caffe2rt
#pragma GCC visibility pop
