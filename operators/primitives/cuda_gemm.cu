// Matrix multiplication on CUDA. cuBLAS is used if it is installed and the sizes fit into its
// 32-bit integers. Otherwise a simple kernel runs, in which one thread computes one element of C.

#include "caffe2_core/base/enforce.h"
#include "contexts/cuda/cuda_kernel.cuh"
#include "operators/primitives/cuda_gemm.h"
#include "operators/primitives/gemm_cublas.h"
#include "operators/primitives/half.cuh"

namespace caffe2rt::math::internal {

namespace {

template <class T>
struct Product {
  using Scalar = GemmScalar<T>;
  GemmShape shape;
  Scalar alpha, beta;
  const T* a;
  const T* b;
  const T* bias;
  T* c;
  CAFFE2RT_HOST_DEVICE void operator()(int64_t index) const {
    const int64_t j = index % shape.n, i = index / shape.n % shape.m;
    const int64_t matrix = index / shape.n / shape.m;
    const int64_t a_step = shape.trans_a ? shape.lda : 1, b_step = shape.trans_b ? 1 : shape.ldb;
    // Indices instead of pointers: if k is 0, a and b may be null.
    int64_t x = matrix * shape.a_stride + (shape.trans_a ? i : i * shape.lda);
    int64_t y = matrix * shape.b_stride + (shape.trans_b ? j * shape.ldb : j);
    // Four partial sums lose less precision than one long sum.
    Scalar sums[4] = {};
    int64_t l = 0;
    for (; l + 4 <= shape.k; l += 4) {
      for (int s = 0; s < 4; ++s, x += a_step, y += b_step) sums[s] += Load(a[x]) * Load(b[y]);
    }
    for (; l < shape.k; ++l, x += a_step, y += b_step) sums[0] += Load(a[x]) * Load(b[y]);
    T* const to = c + matrix * shape.c_stride + i * shape.ldc + j;
    Scalar value = alpha * ((sums[0] + sums[1]) + (sums[2] + sums[3]));
    if (bias != nullptr) {
      value += Load(bias[j]);
    } else if (beta != Scalar(0)) {
      value += beta * Load(*to);
    }
    Store(value, to);
  }
};

template <class T>
struct FillRows {
  int64_t n, ldc;
  const T* bias;
  T* c;
  CAFFE2RT_HOST_DEVICE void operator()(int64_t i) const { c[i / n * ldc + i % n] = bias[i % n]; }
};

void Check(const GemmShape& shape) {
  CAFFE_ENFORCE(shape.m >= 0 && shape.n >= 0 && shape.k >= 0 && shape.batch >= 0, "sizes are ",
                shape.m, ", ", shape.n, ", ", shape.k, ", batch ", shape.batch,
                ", want at least 0");
  const int64_t a_row = shape.trans_a ? shape.m : shape.k;
  const int64_t b_row = shape.trans_b ? shape.k : shape.n;
  CAFFE_ENFORCE(shape.lda >= a_row && shape.ldb >= b_row && shape.ldc >= shape.n,
                "row distances are lda ", shape.lda, ", ldb ", shape.ldb, ", ldc ", shape.ldc,
                ", want at least ", a_row, ", ", b_row, ", ", shape.n);
}

}  // namespace

// g++ takes the visibility of a function template from its definition.
#pragma GCC visibility push(default)
template <class T>
void CudaGemm(CUDAContext& context, GemmEngine engine, const GemmShape& shape, GemmScalar<T> alpha,
              const T* a, const T* b, GemmScalar<T> beta, T* c, const T* bias) {
  Check(shape);
  if (shape.m == 0 || shape.n == 0 || shape.batch == 0) return;
  if constexpr (!std::is_integral_v<T>) {
    if (engine == GemmEngine::kBest && shape.k > 0 && CublasTakes(shape)) {
      if (bias != nullptr) {
        CAFFE_ENFORCE_EQ(shape.batch, 1, "batch size of a matrix multiplication with bias");
        ForEach(context, shape.m * shape.n, FillRows<T>{shape.n, shape.ldc, bias, c}, "bias");
        beta = 1;
      }
      CublasGemm(context, shape, alpha, a, b, beta, c);
      return;
    }
  }
  ForEach(context, shape.batch * shape.m * shape.n, Product<T>{shape, alpha, beta, a, b, bias, c},
          "math::Gemm");
}

#define GEMM(T)                                                                                  \
  template void CudaGemm<T>(CUDAContext&, GemmEngine, const GemmShape&, GemmScalar<T>, const T*, \
                            const T*, GemmScalar<T>, T*, const T*);
GEMM(float16)
GEMM(float)
GEMM(double)
GEMM(int32_t)
GEMM(int64_t)
#pragma GCC visibility pop

}  // namespace caffe2rt::math::internal
