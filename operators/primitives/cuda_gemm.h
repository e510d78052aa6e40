#pragma once
// Matrix multiplication on CUDA. This header includes no CUDA header; cuda_gemm.cu instantiates the
// templates for float16, float, double, int32 and int64.

#include <cstdint>
#include <string_view>
#include <type_traits>

#include "caffe2_core/base/float16.h"

#pragma GCC visibility push(default)
namespace caffe2rt {

class CUDAContext;

namespace math {

// The implementation of GEMM on CUDA. kBest: cuBLAS if it is available, else the built-in kernel.
// kNative: always the built-in kernel.
enum class GemmEngine { kBest, kNative };
// The GemmEngine for an operator's engine: kNative for "NATIVE", kBest for any other.
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
// A class, because g++ and clang++ give a std::conditional_t different names in symbols.
template <class T>
struct GemmScalarOf {
  using type = T;
};
template <>
struct GemmScalarOf<float16> {
  using type = float;
};
template <class T>
using GemmScalar = typename GemmScalarOf<T>::type;

// C = alpha op(A) op(B) + beta C, row-major, for each matrix of a batch. If beta is 0, C is not
// read. `bias` may be null; otherwise its n elements are added to every row, and beta must be 0.
template <class T>
void CudaGemm(CUDAContext& context, GemmEngine engine, const GemmShape& shape, GemmScalar<T> alpha,
              const T* a, const T* b, GemmScalar<T> beta, T* c, const T* bias = nullptr);

}  // namespace internal
}  // namespace math

}  // namespace caffe2rt
#pragma GCC visibility pop
