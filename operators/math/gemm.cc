#include "operators/math/gemm.h"

#include <dnnl.h>

#include <algorithm>
#include <cstring>

#include "caffe2_core/base/enforce.h"
#include "operators/math/isa.h"
#include "operators/math/onednn.h"

namespace caffe2rt {

namespace {

// Below this many multiply-adds the library's set-up costs more than the work.
constexpr int64_t kTinyProduct = 4096;

void ScaleMatrix(int64_t m, int64_t n, float beta, float* c, int64_t ldc) {
  for (int64_t i = 0; i < m; ++i) {
    float* row = c + i * ldc;
    if (beta == 0.f) {
      std::fill_n(row, n, 0.f);
    } else if (beta != 1.f) {
      for (int64_t j = 0; j < n; ++j) row[j] *= beta;
    }
  }
}

void AddOuter(int64_t n, float factor, const float* __restrict b, float* __restrict c) {
  for (int64_t j = 0; j < n; ++j) c[j] += factor * b[j];
}

using DotFunction = float(int64_t n, const float* a, const float* b);

[[gnu::always_inline]] inline float DotBody(int64_t n, const float* a, const float* b) {
  constexpr int64_t kStep = 4 * kLanes;
  Lanes sums[4] = {};
  int64_t i = 0;
  for (; i + kStep <= n; i += kStep) {
    for (int part = 0; part < 4; ++part) {
      sums[part] += *reinterpret_cast<const UnalignedLanes*>(a + i + part * kLanes) *
                    *reinterpret_cast<const UnalignedLanes*>(b + i + part * kLanes);
    }
  }
  for (; i + kLanes <= n; i += kLanes) {
    sums[0] += *reinterpret_cast<const UnalignedLanes*>(a + i) *
               *reinterpret_cast<const UnalignedLanes*>(b + i);
  }
  const Lanes sum = (sums[0] + sums[1]) + (sums[2] + sums[3]);
  float total = 0.f;
  for (int lane = 0; lane < kLanes; ++lane) total += sum[lane];
  for (; i < n; ++i) total += a[i] * b[i];
  return total;
}
CAFFE2RT_TARGET_AVX512 float DotAvx512(int64_t n, const float* a, const float* b) {
  return DotBody(n, a, b);
}
CAFFE2RT_TARGET_AVX2 float DotAvx2(int64_t n, const float* a, const float* b) {
  return DotBody(n, a, b);
}
float DotPlain(int64_t n, const float* a, const float* b) { return DotBody(n, a, b); }

void TinyGemm(bool trans_a, bool trans_b, int64_t m, int64_t n, int64_t k, float alpha,
              const float* a, int64_t lda, const float* b, int64_t ldb, float* c, int64_t ldc) {
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t p = 0; p < k; ++p) {
      const float factor = alpha * (trans_a ? a[p * lda + i] : a[i * lda + p]);
      if (!trans_b) {
        AddOuter(n, factor, b + p * ldb, c + i * ldc);
      } else {
        for (int64_t j = 0; j < n; ++j) c[i * ldc + j] += factor * b[j * ldb + p];
      }
    }
  }
}

}  // namespace

void Sgemv(int64_t rows, int64_t columns, float alpha, const float* a, int64_t lda, const float* x,
           float beta, float* y) {
  DotFunction* const dot = PickByIsa(DotAvx512, DotAvx2, DotPlain);
  for (int64_t i = 0; i < rows; ++i) {
    const float value = alpha * dot(columns, a + i * lda, x);
    y[i] = beta == 0.f ? value : beta * y[i] + value;
  }
}

void Sgemm(bool trans_a, bool trans_b, int64_t m, int64_t n, int64_t k, float alpha, const float* a,
           int64_t lda, const float* b, int64_t ldb, float beta, float* c, int64_t ldc) {
  CAFFE_ENFORCE(m >= 0 && n >= 0 && k >= 0, "matrix product of sizes ", m, ", ", n, ", ", k,
                ", want at least 0");
  if (m == 0 || n == 0) return;
  if (k == 0 || alpha == 0.f) {
    ScaleMatrix(m, n, beta, c, ldc);
    return;
  }
  CAFFE_ENFORCE(lda >= (trans_a ? m : k) && ldb >= (trans_b ? k : n) && ldc >= n,
                "matrix product with row distances ", lda, ", ", ldb, ", ", ldc, " for sizes ", m,
                ", ", n, ", ", k, ", want at least a row");
  // One row against rows of B: a set of dot products, bound by reading B once. A column of A
  // transposed with lda 1 is a row too.
  if (m == 1 && trans_b && (!trans_a || lda == 1)) {
    Sgemv(n, k, alpha, b, ldb, a, beta, c);
    return;
  }
  if (n == 1 && ldc == 1 && !trans_a && (trans_b || ldb == 1)) {
    Sgemv(m, k, alpha, a, lda, b, beta, c);
    return;
  }
  if (m <= kTinyProduct && n <= kTinyProduct && k <= kTinyProduct && m * n <= kTinyProduct &&
      m * n * k <= kTinyProduct) {
    ScaleMatrix(m, n, beta, c, ldc);
    TinyGemm(trans_a, trans_b, m, n, k, alpha, a, lda, b, ldb, c, ldc);
    return;
  }
  const OneOpenMPThread one_thread;
  const dnnl_status_t status = dnnl_sgemm(trans_a ? 'T' : 'N', trans_b ? 'T' : 'N', m, n, k, alpha,
                                          a, lda, b, ldb, beta, c, ldc);
  CAFFE_ENFORCE(status == dnnl_success, "oneDNN's matrix product failed with status ",
                static_cast<int>(status));
}

void AddRowVector(int64_t m, int64_t n, const float* x, float* y) {
  for (int64_t i = 0; i < m; ++i) {
    float* row = y + i * n;
    for (int64_t j = 0; j < n; ++j) row[j] += x[j];
  }
}

void FillRowVector(int64_t m, int64_t n, const float* x, float* y) {
  if (n == 0) return;
  for (int64_t i = 0; i < m; ++i) {
    std::memcpy(y + i * n, x, static_cast<size_t>(n) * sizeof(float));
  }
}

}  // namespace caffe2rt
