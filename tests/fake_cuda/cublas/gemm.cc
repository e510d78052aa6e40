// Matrix multiplication. Matrices are column-major, as in BLAS.

#include "cublas/gemm.h"

#include <vector>

namespace fakecuda {
namespace {

bool ValidOperation(cublasOperation_t op) {
  return op == CUBLAS_OP_N || op == CUBLAS_OP_T || op == CUBLAS_OP_C;
}

// Bytes from the first element of a batch to the end of the last one.
size_t Extent(const Matrix& matrix, int rows, int columns, int batch) {
  const int64_t last = rows - 1 + static_cast<int64_t>(columns - 1) * matrix.ld;
  return static_cast<size_t>(last + 1 + (batch - 1) * matrix.stride) * SizeOf(matrix.type);
}

// op(matrix), in row-major order.
std::vector<double> Unpack(const Matrix& matrix, const void* base, bool transposed, int rows,
                           int columns) {
  std::vector<double> values(static_cast<size_t>(rows) * static_cast<size_t>(columns));
  for (int i = 0; i < rows; ++i) {
    for (int j = 0; j < columns; ++j) {
      values[static_cast<size_t>(i) * static_cast<size_t>(columns) + static_cast<size_t>(j)] =
          transposed ? matrix.At(base, j, i) : matrix.At(base, i, j);
    }
  }
  return values;
}

void MultiplyOne(const Product& p, const void* a_data, const void* b_data, void* c_data,
                 double alpha, double beta) {
  const auto n = static_cast<size_t>(p.n);
  const auto k = static_cast<size_t>(p.k);
  const std::vector<double> a = Unpack(p.a, a_data, p.op_a != CUBLAS_OP_N, p.m, p.k);
  const std::vector<double> b = Unpack(p.b, b_data, p.op_b != CUBLAS_OP_N, p.k, p.n);
  std::vector<double> row(n);
  for (int i = 0; i < p.m; ++i) {
    std::fill(row.begin(), row.end(), 0.0);
    for (size_t l = 0; l < k; ++l) {
      const double factor = a[static_cast<size_t>(i) * k + l];
      for (size_t j = 0; j < n; ++j) row[j] += factor * b[l * n + j];
    }
    for (int j = 0; j < p.n; ++j) {
      const int64_t at = i + static_cast<int64_t>(j) * p.c.ld;
      // With beta 0 the old values are not used: they may be NaN.
      const double old = beta == 0 ? 0 : beta * Load(p.c.type, c_data, at);
      Store(p.c.type, c_data, at, alpha * row[static_cast<size_t>(j)] + old);
    }
  }
}

const void* Offset(const Matrix& matrix, int64_t item) {
  return static_cast<const char*>(matrix.data) +
         item * matrix.stride * static_cast<int64_t>(SizeOf(matrix.type));
}

const void* Listed(const Matrix& matrix, int item) {
  return static_cast<const void* const*>(matrix.data)[item];
}

bool Readable(const Product& p, int a_rows, int a_columns, int b_rows, int b_columns) {
  if (p.listed) {  // the listed pointers are checked only by sanitizers, when the operation runs
    const size_t bytes = static_cast<size_t>(p.batch) * sizeof(void*);
    return CheckRange(p.name, "list of A", p.a.data, bytes) &&
           CheckRange(p.name, "list of B", p.b.data, bytes) &&
           CheckRange(p.name, "list of C", p.c.data, bytes);
  }
  if (p.k > 0 && !(CheckRange(p.name, "A", p.a.data, Extent(p.a, a_rows, a_columns, p.batch)) &&
                   CheckRange(p.name, "B", p.b.data, Extent(p.b, b_rows, b_columns, p.batch)))) {
    return false;
  }
  return CheckRange(p.name, "C", p.c.data, Extent(p.c, p.m, p.n, p.batch));
}

}  // namespace

cublasStatus_t Multiply(const Product& p) {
  FAKECUBLAS_HANDLE(p.handle);
  if (!ValidOperation(p.op_a) || !ValidOperation(p.op_b) || p.m < 0 || p.n < 0 || p.k < 0 ||
      p.batch < 0) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  const bool plain_a = p.op_a == CUBLAS_OP_N;
  const bool plain_b = p.op_b == CUBLAS_OP_N;
  const int a_rows = plain_a ? p.m : p.k, a_columns = plain_a ? p.k : p.m;
  const int b_rows = plain_b ? p.k : p.n, b_columns = plain_b ? p.n : p.k;
  if (p.a.ld < std::max(1, a_rows) || p.b.ld < std::max(1, b_rows) || p.c.ld < std::max(1, p.m) ||
      (p.batch > 1 && !p.listed && p.c.stride < 0)) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  if (p.alpha == nullptr || p.beta == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  if (p.m == 0 || p.n == 0 || p.batch == 0) return CUBLAS_STATUS_SUCCESS;
  const Scalar alpha(p.handle, p.scalar_type, p.alpha);
  const Scalar beta(p.handle, p.scalar_type, p.beta);
  if (!alpha.Valid(p.name) || !beta.Valid(p.name) ||
      !Readable(p, a_rows, a_columns, b_rows, b_columns)) {
    return CUBLAS_STATUS_EXECUTION_FAILED;
  }
  return Status(Enqueue(p.handle->stream, p.name, [p, alpha, beta] {
    for (int i = 0; i < p.batch; ++i) {
      const void* a = p.listed ? Listed(p.a, i) : Offset(p.a, i);
      const void* b = p.listed ? Listed(p.b, i) : Offset(p.b, i);
      const void* c = p.listed ? Listed(p.c, i) : Offset(p.c, i);
      MultiplyOne(p, a, b, const_cast<void*>(c), alpha.Get(), beta.Get());
    }
  }));
}

}  // namespace fakecuda
