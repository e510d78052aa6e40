#pragma once
// Single precision matrix multiplication (GEMM and GEMV), row-major, on the calling thread. In a WorkScope
// with any_machine (base/work_scope.h), each sum is in the order of k, so that the results do not depend on
// the instruction set; that allocates memory.

#include <cstdint>

#pragma GCC visibility push(default)
namespace caffe2rt {

// With fewer multiply-adds than this, a second thread costs more than it saves.
inline constexpr double kGemmWorthCutting = 5e5;

// C [m, n] = alpha * op(A) [m, k] * op(B) [k, n] + beta * C. op(X) is X, or X transposed if trans_x
// is true. lda, ldb and ldc are the distances in elements between the rows as stored. Sizes may be
// 0: if k = 0, C becomes beta * C. If beta is 0, C is not read. REQUIRES: C overlaps neither A nor
// B. THROWS for negative sizes, and for row distances that are too small.
void Sgemm(bool trans_a, bool trans_b, int64_t m, int64_t n, int64_t k, float alpha, const float* a,
           int64_t lda, const float* b, int64_t ldb, float beta, float* c, int64_t ldc);

// Does what otherwise the first Sgemm of such sizes in the process does once: oneDNN generates its
// code, which takes 15 ms. Thread safe.
void PrepareSgemm(int64_t m, int64_t n, int64_t k);

// y [rows] = beta * y + alpha * A [rows, columns] x. The rows of A are `lda` elements apart. If
// beta is 0, y is not read.
void Sgemv(int64_t rows, int64_t columns, float alpha, const float* a, int64_t lda, const float* x,
           float beta, float* y);

// y [m, n] += x [n] in every row.
void AddRowVector(int64_t m, int64_t n, const float* x, float* y);
// y [m, n] = x [n] in every row.
void FillRowVector(int64_t m, int64_t n, const float* x, float* y);

}  // namespace caffe2rt
#pragma GCC visibility pop
