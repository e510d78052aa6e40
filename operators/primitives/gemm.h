#pragma once
// Single precision matrix products, row-major, on the calling thread.

#include <cstdint>

namespace caffe2rt {

// Multiply-adds below which a second thread costs more than it saves.
inline constexpr double kGemmWorthCutting = 5e5;

// C [m, n] = alpha * op(A) [m, k] * op(B) [k, n] + beta * C, with op(X) the transposed of X where
// trans_x. lda, ldb, ldc are the distances between rows as stored. Zero sizes are fine: with k = 0,
// C becomes beta * C. When beta is 0, C is not read. REQUIRES: C overlaps neither A nor B. THROWS
// for negative sizes or distances that are too small.
void Sgemm(bool trans_a, bool trans_b, int64_t m, int64_t n, int64_t k, float alpha, const float* a,
           int64_t lda, const float* b, int64_t ldb, float beta, float* c, int64_t ldc);

// y [rows] = beta * y + alpha * A [rows, columns] x, rows of A `lda` apart. When beta is 0, y is
// not read.
void Sgemv(int64_t rows, int64_t columns, float alpha, const float* a, int64_t lda, const float* x,
           float beta, float* y);

// y [m, n] += x [n] in every row.
void AddRowVector(int64_t m, int64_t n, const float* x, float* y);
// y [m, n] = x [n] in every row.
void FillRowVector(int64_t m, int64_t n, const float* x, float* y);

}  // namespace caffe2rt
