#pragma once
// Matrix multiplication on CUDA, declared without CUDA's headers; cuda_gemm.cu instantiates it for
// float16, float, double, int32 and int64.

#include <cstdint>
#include <string_view>
#include <type_traits>

#include "caffe2_core/base/float16.h"

namespace caffe2rt {

class CUDAContext;

#pragma GCC visibility push(default)

namespace math {

// Who makes matrix products on CUDA. kBest: cuBLAS where there is one, else our own kernel.
enum class GemmEngine { kBest, kNative };
// Of an operator's engine: "NATIVE" asks for our own kernel.
inline GemmEngine GemmEngineOf(std::string_view engine) {
  return engine == "NATIVE" ? GemmEngine::kNative : GemmEngine::kBest;
}

namespace internal {

struct GemmShape {
  bool trans_a = false, trans_b = false;
  int64_t m = 0, n = 0, k = 0;
  int64_t lda = 0, ldb = 0, ldc = 0;
  int64_t batch = 1;
  int64_t a_stride = 0, b_stride = 0, c_stride = 0;
};
template <class T>
using GemmScalar = std::conditional_t<std::is_same_v<T, float16>, float, T>;

// C = alpha op(A) op(B) + beta C, row-major, of each matrix of a batch. With beta 0, C is not read.
// `bias`, if not null, has n elements that are added to every row; beta is 0 then.
template <class T>
void CudaGemm(CUDAContext& context, GemmEngine engine, const GemmShape& shape, GemmScalar<T> alpha,
              const T* a, const T* b, GemmScalar<T> beta, T* c, const T* bias = nullptr);

}  // namespace internal
}  // namespace math

#pragma GCC visibility pop

}  // namespace caffe2rt
