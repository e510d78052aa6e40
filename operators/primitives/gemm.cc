#include "operators/primitives/gemm.h"

#include <dnnl.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/work_scope.h"
#include "contexts/onednn/onednn_library.h"
#include "operators/primitives/float_lanes.h"
#include "operators/primitives/packed_gemm.h"

namespace caffe2rt {

namespace {

// With fewer multiply-adds than this, the overhead of a call to oneDNN exceeds the work.
constexpr int64_t kTinyProduct = 4096;
bool IsTiny(int64_t m, int64_t n, int64_t k) {
  return m <= kTinyProduct && n <= kTinyProduct && k <= kTinyProduct && m * n <= kTinyProduct &&
         m * n * k <= kTinyProduct;
}

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

// The dot products of x with kRows rows of A. A core reads several rows at once
// faster from memory than one: 27 GB/s instead of 18 (Zen 4, rows of 9,216 floats). Two vectors of
// partial sums for each row, however many rows there are, so that a row's result does not depend on
// the other rows.
template <class L, int kRows>
[[gnu::always_inline]] inline void DotRows(int64_t n, const float* a, int64_t lda, const float* x,
                                           float* totals) {
  typename L::Vector sums[kRows][2] = {};
  int64_t i = 0;
  for (; i + 2 * L::kWidth <= n; i += 2 * L::kWidth) {
    for (int part = 0; part < 2; ++part) {
      const int64_t at = i + part * L::kWidth;
      const typename L::Vector lanes = L::At(x + at).lanes;
      for (int row = 0; row < kRows; ++row) {
        sums[row][part] += L::At(a + row * lda + at).lanes * lanes;
      }
    }
  }
  for (int row = 0; row < kRows; ++row) {
    const typename L::Vector sum = sums[row][0] + sums[row][1];
    float total = 0.f;
    for (int lane = 0; lane < L::kWidth; ++lane) total += sum[lane];
    for (int64_t j = i; j < n; ++j) total += a[row * lda + j] * x[j];
    totals[row] = total;
  }
}

// totals[i] = the dot product of x with row i of A.
using DotsFunction = void(int64_t rows, int64_t n, const float* a, int64_t lda, const float* x,
                          float* totals);

template <class L, int kRows>
[[gnu::always_inline]] inline void DotsBody(int64_t rows, int64_t n, const float* a, int64_t lda,
                                            const float* x, float* totals) {
  int64_t i = 0;
  for (; i + kRows <= rows; i += kRows) DotRows<L, kRows>(n, a + i * lda, lda, x, totals + i);
  for (; i < rows; ++i) DotRows<L, 1>(n, a + i * lda, lda, x, totals + i);
}
CAFFE2RT_TARGET_AVX512 void DotsAvx512(int64_t rows, int64_t n, const float* a, int64_t lda,
                                       const float* x, float* totals) {
  DotsBody<Avx512Lanes, 8>(rows, n, a, lda, x, totals);
}
CAFFE2RT_TARGET_AVX2 void DotsAvx2(int64_t rows, int64_t n, const float* a, int64_t lda,
                                   const float* x, float* totals) {
  DotsBody<Avx2Lanes, 4>(rows, n, a, lda, x, totals);
}
void DotsPlain(int64_t rows, int64_t n, const float* a, int64_t lda, const float* x,
               float* totals) {
  DotsBody<PlainLanes, 4>(rows, n, a, lda, x, totals);
}

// A matrix multiplication that is too small for oneDNN. op(A)[i, p] is a[i * row_a + p * column_a];
// op(B) likewise.
struct TinyProduct {
  int64_t m, n, k;
  float alpha, beta;
  const float* a;
  int64_t row_a, column_a;
  const float* b;
  int64_t row_b, column_b;
  float* c;
  int64_t ldc;
};

// Computes 16 * kVectors columns of one row of C. REQUIRES: column_b is 1.
template <class L, int kVectors>
[[gnu::always_inline]] inline void TinyColumns(const TinyProduct& t, int64_t i, int64_t j) {
  constexpr int kParts = kVectors * L::kParts;
  typename L::Vector sums[kParts] = {};
  const float* a = t.a + i * t.row_a;
  const float* b = t.b + j;
  for (int64_t p = 0; p < t.k; ++p, a += t.column_a, b += t.row_b) {
    for (int v = 0; v < kParts; ++v) sums[v] += L::At(b + v * L::kWidth).lanes * *a;
  }
  float* c = t.c + i * t.ldc + j;
  for (int v = 0; v < kParts; ++v, c += L::kWidth) {
    if (t.beta == 0.f) {
      L::At(c).lanes = sums[v] * t.alpha;
    } else {
      L::At(c).lanes = sums[v] * t.alpha + L::At(c).lanes * t.beta;
    }
  }
}

template <class L>
[[gnu::always_inline]] inline void TinyBody(const TinyProduct& t) {
  for (int64_t i = 0; i < t.m; ++i) {
    int64_t j = 0;
    if (t.column_b == 1) {
      for (; j + 4 * kLanes <= t.n; j += 4 * kLanes) TinyColumns<L, 4>(t, i, j);
      for (; j + kLanes <= t.n; j += kLanes) TinyColumns<L, 1>(t, i, j);
    }
    for (; j < t.n; ++j) {
      float sum = 0.f;
      for (int64_t p = 0; p < t.k; ++p) {
        sum += t.a[i * t.row_a + p * t.column_a] * t.b[p * t.row_b + j * t.column_b];
      }
      float& c = t.c[i * t.ldc + j];
      c = t.beta == 0.f ? t.alpha * sum : t.alpha * sum + t.beta * c;
    }
  }
}
CAFFE2RT_TARGET_AVX512 void TinyAvx512(const TinyProduct& t) { TinyBody<Avx512Lanes>(t); }
CAFFE2RT_TARGET_AVX2 void TinyAvx2(const TinyProduct& t) { TinyBody<Avx2Lanes>(t); }
void TinyPlain(const TinyProduct& t) { TinyBody<PlainLanes>(t); }

}  // namespace

namespace {

// op(X) [rows, columns] in row-major order without gaps, in `copy` if it is stored otherwise.
const float* RowsOf(bool transposed, int64_t rows, int64_t columns, const float* x, int64_t* ld,
                    std::vector<float>* copy) {
  if (!transposed) return x;
  copy->resize(static_cast<size_t>(rows * columns));
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < columns; ++j)
      (*copy)[static_cast<size_t>(i * columns + j)] = x[j * *ld + i];
  }
  *ld = columns;
  return copy->data();
}

// Sgemm in which each sum is in the order of k (packed_gemm.h), so that it does not depend on the
// instruction set. The memory is allocated in every call.
void OrderedGemm(bool trans_a, bool trans_b, int64_t m, int64_t n, int64_t k, float alpha,
                 const float* a, int64_t lda, const float* b, int64_t ldb, float beta, float* c,
                 int64_t ldc) {
  std::vector<float> copy, packed(static_cast<size_t>(PackedFloats(k, n)));
  std::vector<float> product(static_cast<size_t>(m * n));
  const float* const rows = RowsOf(trans_a, m, k, a, &lda, &copy);
  PackMatrix(trans_b, k, n, b, ldb, packed.data());
  MultiplyPacked({.m = m,
                  .n = n,
                  .k = k,
                  .a = rows,
                  .lda = lda,
                  .b = packed.data(),
                  .c = product.data(),
                  .ldc = n});
  for (int64_t i = 0; i < m; ++i) {
    const float* const from = product.data() + i * n;
    float* const to = c + i * ldc;
    for (int64_t j = 0; j < n; ++j)
      to[j] = beta == 0.f ? alpha * from[j] : alpha * from[j] + beta * to[j];
  }
}

}  // namespace

void Sgemv(int64_t rows, int64_t columns, float alpha, const float* a, int64_t lda, const float* x,
           float beta, float* y) {
  DotsFunction* const dots = PickByIsa(DotsAvx512, DotsAvx2, DotsPlain);
  if (WorksForAnyMachine()) {
    OrderedGemm(false, false, rows, 1, columns, alpha, a, lda, x, 1, beta, y, 1);
    return;
  }
  constexpr int64_t kChunk = 64;
  float totals[kChunk];
  for (int64_t first = 0; first < rows; first += kChunk) {
    const int64_t count = std::min(kChunk, rows - first);
    dots(count, columns, a + first * lda, lda, x, totals);
    for (int64_t i = 0; i < count; ++i) {
      const float value = alpha * totals[i];
      float& result = y[first + i];
      result = beta == 0.f ? value : beta * result + value;
    }
  }
}

void PrepareSgemm(int64_t m, int64_t n, int64_t k) {
  if (m <= 1 || n <= 1 || k <= 0 || IsTiny(m, n, k)) return;
  static const bool prepared = [] {
    constexpr int64_t kSide = 32;
    const std::vector<float> zeros(kSide * kSide);
    std::vector<float> product(kSide * kSide);
    Sgemm(false, false, kSide, kSide, kSide, 1.f, zeros.data(), kSide, zeros.data(), kSide, 0.f,
          product.data(), kSide);
    return true;
  }();
  (void)prepared;
}

void Sgemm(bool trans_a, bool trans_b, int64_t m, int64_t n, int64_t k, float alpha, const float* a,
           int64_t lda, const float* b, int64_t ldb, float beta, float* c, int64_t ldc) {
  CAFFE_ENFORCE(m >= 0 && n >= 0 && k >= 0, "matrix multiplication of sizes ", m, ", ", n, ", ", k,
                ", want at least 0");
  if (m == 0 || n == 0) return;
  if (k == 0 || alpha == 0.f) {
    ScaleMatrix(m, n, beta, c, ldc);
    return;
  }
  CAFFE_ENFORCE(lda >= (trans_a ? m : k) && ldb >= (trans_b ? k : n) && ldc >= n,
                "matrix multiplication with row distances ", lda, ", ", ldb, ", ", ldc,
                " for sizes ", m, ", ", n, ", ", k, ", want at least a row");
  if (WorksForAnyMachine()) {
    OrderedGemm(trans_a, trans_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
    return;
  }
  // One row times transposed B is a set of dot products with the rows of B; reading B once bounds
  // the time. A transposed A with lda 1 is also one row.
  if (m == 1 && trans_b && (!trans_a || lda == 1)) {
    Sgemv(n, k, alpha, b, ldb, a, beta, c);
    return;
  }
  // ldc is at least n, so it is 1 for one column only.
  if (ldc == 1 && !trans_a && (trans_b || ldb == 1)) {
    Sgemv(m, k, alpha, a, lda, b, beta, c);
    return;
  }
  if (IsTiny(m, n, k)) {
    // If k is 1, a column of B can be read like a row.
    const bool row_b = !trans_b || (k == 1 && ldb == 1);
    PickByIsa(TinyAvx512, TinyAvx2,
              TinyPlain)({m, n, k, alpha, beta, a, trans_a ? 1 : lda, trans_a ? lda : 1, b,
                          row_b ? ldb : 1, row_b ? 1 : ldb, c, ldc});
    return;
  }
  const OneOpenMPThread one_thread;
  const dnnl_status_t status = dnnl_sgemm(trans_a ? 'T' : 'N', trans_b ? 'T' : 'N', m, n, k, alpha,
                                          a, lda, b, ldb, beta, c, ldc);
  CAFFE_ENFORCE(status == dnnl_success, "oneDNN's matrix multiplication failed with status ",
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
