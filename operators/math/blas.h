#pragma once
// Matrix multiplication and copies of matrices, row-major, in the argument order of Caffe2 and
// cblas.
//
//   math::Gemm<float, CPUContext>(CblasNoTrans, CblasTrans, m, n, k, 1.f, a, b, 0.f, c, &context_);
//
// Transpositions are given as cblas' numbers, 111 for none and 112 for transposed, so any enum with
// these values can be passed. On the CPU, float uses Sgemm and other types a simple loop. On CUDA,
// cuBLAS is used if it is available. fp32 is always computed in fp32; `math_type` and `scratch`
// exist for compatibility and are ignored.

#include <cstdint>
#include <cstring>

#include "caffe2_core/device/context.h"
#include "operators/math/context_dispatch.h"
#include "operators/primitives/gemm.h"

#pragma GCC visibility push(default)
namespace caffe2rt {
class Tensor;

namespace math {

inline constexpr int kNoTrans = 111;
inline constexpr int kTrans = 112;
class DefaultEngine {};

template <class T, class Context, class Engine = DefaultEngine>
void GemmEx(int trans_a, int trans_b, int64_t m, int64_t n, int64_t k,
            std::type_identity_t<T> alpha, const T* a, int64_t lda, const T* b, int64_t ldb,
            std::type_identity_t<T> beta, T* c, int64_t ldc, [[maybe_unused]] Context* context) {
  CAFFE_ENFORCE(
      (trans_a == kNoTrans || trans_a == kTrans) && (trans_b == kNoTrans || trans_b == kTrans),
      "transpositions are ", trans_a, " and ", trans_b, ", want CblasNoTrans or CblasTrans");
  if constexpr (internal::kIsCuda<Context>) {
    const internal::GemmShape shape{.trans_a = trans_a == kTrans,
                                    .trans_b = trans_b == kTrans,
                                    .m = m,
                                    .n = n,
                                    .k = k,
                                    .lda = lda,
                                    .ldb = ldb,
                                    .ldc = ldc};
    internal::CudaGemm<T>(*context, GemmEngine::kBest, shape, alpha, a, b, beta, c);
  } else if constexpr (std::is_same_v<T, float>) {
    internal::RequireCpu<Context>();
    Sgemm(trans_a == kTrans, trans_b == kTrans, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
  } else {
    internal::RequireCpu<Context>();
    for (int64_t i = 0; i < m; ++i) {
      for (int64_t j = 0; j < n; ++j) {
        T sum = 0;
        for (int64_t l = 0; l < k; ++l) {
          sum += (trans_a == kTrans ? a[l * lda + i] : a[i * lda + l]) *
                 (trans_b == kTrans ? b[j * ldb + l] : b[l * ldb + j]);
        }
        T& to = c[i * ldc + j];
        to = beta == T(0) ? T(alpha * sum) : T(alpha * sum + beta * to);
      }
    }
  }
}

template <class T, class Context, class Engine = DefaultEngine>
void Gemm(int trans_a, int trans_b, int64_t m, int64_t n, int64_t k, float alpha, const T* a,
          const T* b, float beta, T* c, Context* context, int /*math_type*/ = 1) {
  GemmEx<T, Context, Engine>(trans_a, trans_b, m, n, k, static_cast<T>(alpha), a,
                             trans_a == kTrans ? m : k, b, trans_b == kTrans ? k : n,
                             static_cast<T>(beta), c, n, context);
}

// y = alpha op(A) x + beta y, where A is [m, n].
template <class T, class Context, class Engine = DefaultEngine>
void Gemv(int trans_a, int64_t m, int64_t n, float alpha, const T* a, const T* x, float beta, T* y,
          Context* context, int /*math_type*/ = 1) {
  const int64_t rows = trans_a == kTrans ? n : m;
  GemmEx<T, Context, Engine>(trans_a, kNoTrans, rows, 1, trans_a == kTrans ? m : n,
                             static_cast<T>(alpha), a, n, x, 1, static_cast<T>(beta), y, 1,
                             context);
}

// `batch` multiplications. The matrices are given with the distances between them, or stored one
// after the other, or by arrays of pointers. The arrays of pointers are in host memory.
template <class T, class Context, class Engine = DefaultEngine>
void GemmStridedBatched(int trans_a, int trans_b, int64_t batch, int64_t m, int64_t n, int64_t k,
                        float alpha, const T* a, int64_t a_stride, const T* b, int64_t b_stride,
                        float beta, T* c, int64_t c_stride, Context* context,
                        int /*math_type*/ = 1) {
  if constexpr (internal::kIsCuda<Context>) {
    internal::CudaGemm<T>(*context, GemmEngine::kBest,
                          {.trans_a = trans_a == kTrans,
                           .trans_b = trans_b == kTrans,
                           .m = m,
                           .n = n,
                           .k = k,
                           .lda = trans_a == kTrans ? m : k,
                           .ldb = trans_b == kTrans ? k : n,
                           .ldc = n,
                           .batch = batch,
                           .a_stride = a_stride,
                           .b_stride = b_stride,
                           .c_stride = c_stride},
                          alpha, a, b, beta, c);
    return;
  }
  for (int64_t i = 0; i < batch; ++i) {
    Gemm<T, Context, Engine>(trans_a, trans_b, m, n, k, alpha, a + i * a_stride, b + i * b_stride,
                             beta, c + i * c_stride, context);
  }
}
template <class T, class Context, class Engine = DefaultEngine>
void GemmBatched(int trans_a, int trans_b, int64_t batch, int64_t m, int64_t n, int64_t k,
                 float alpha, const T* a, const T* b, float beta, T* c, Context* context,
                 Tensor* /*scratch*/ = nullptr, int /*math_type*/ = 1) {
  GemmStridedBatched<T, Context, Engine>(trans_a, trans_b, batch, m, n, k, alpha, a, m * k, b,
                                         k * n, beta, c, m * n, context);
}
template <class T, class Context, class Engine = DefaultEngine>
void GemmBatched(int trans_a, int trans_b, int64_t batch, int64_t m, int64_t n, int64_t k,
                 float alpha, const T** a, const T** b, float beta, T** c, Context* context,
                 int /*math_type*/ = 1) {
  for (int64_t i = 0; i < batch; ++i) {
    Gemm<T, Context, Engine>(trans_a, trans_b, m, n, k, alpha, a[i], b[i], beta, c[i], context);
  }
}

// Copies m rows of `n` items. The rows of a are lda items apart, those of b ldb items.
template <class Context>
void CopyMatrix(size_t item_size, int64_t m, int64_t n, const void* a, int64_t lda, void* b,
                int64_t ldb, [[maybe_unused]] Context* context,
                TypeMeta::TypedCopy copy = nullptr) {
  CAFFE_ENFORCE(m <= 1 || (lda >= n && ldb >= n), "rows of ", n, " items are ", lda, " and ", ldb,
                " apart");
  if constexpr (internal::kIsCuda<Context>) {
    CAFFE_ENFORCE(copy == nullptr, "items have their own copy function, want plain data");
    internal::CudaCopyRows(*context, m, static_cast<size_t>(n) * item_size, a,
                           static_cast<size_t>(lda) * item_size, b,
                           static_cast<size_t>(ldb) * item_size);
    return;
  }
  internal::RequireCpu<Context>();
  for (int64_t i = 0; i < m; ++i) {
    const char* from = static_cast<const char*>(a) + static_cast<size_t>(i * lda) * item_size;
    char* to = static_cast<char*>(b) + static_cast<size_t>(i * ldb) * item_size;
    if (copy != nullptr) {
      copy(from, to, static_cast<size_t>(n));
    } else {
      std::memcpy(to, from, static_cast<size_t>(n) * item_size);
    }
  }
}
template <class T, class Context>
void CopyMatrix(int64_t m, int64_t n, const T* a, int64_t lda, T* b, int64_t ldb,
                Context* context) {
  CopyMatrix<Context>(sizeof(T), m, n, a, lda, b, ldb, context, TypeMeta::Make<T>().copy());
}
template <class T, class Context>
void CopyMatrix(int64_t m, int64_t n, const T* a, int64_t a_outer, int64_t a_inner, T* b,
                int64_t b_outer, int64_t b_inner, [[maybe_unused]] Context* context) {
  if constexpr (internal::kIsCuda<Context>) {
    internal::Walk walk;
    walk.Add(m, a_outer, b_outer);
    walk.Add(n, a_inner, b_inner);
    internal::CudaCopyItems(*context, walk, sizeof(T), a, b);
    return;
  }
  internal::RequireCpu<Context>();
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < n; ++j) b[i * b_outer + j * b_inner] = a[i * a_outer + j * a_inner];
  }
}
template <class T, class Context>
void CopyVector(int64_t n, const T* a, T* b, Context* context) {
  context->CopyItemsSameDevice(TypeMeta::Make<T>(), static_cast<size_t>(n), a, b);
}

}  // namespace math
}  // namespace caffe2rt
#pragma GCC visibility pop
