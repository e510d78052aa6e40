// Vector operations and matrix-vector products.

#include <cmath>
#include <vector>

#include "cublas/context.h"

namespace fakecuda {
namespace {

struct Vector {
  Element type;
  const void* data;
  int increment;

  // A negative increment traverses the vector from its end, as in BLAS.
  int64_t Index(int i, int size) const {
    const int64_t step = increment;
    return step >= 0 ? i * step : (static_cast<int64_t>(i) - size + 1) * step;
  }
  double At(int i, int size) const { return Load(type, data, Index(i, size)); }
  void Set(int i, int size, double value) const {
    Store(type, const_cast<void*>(data), Index(i, size), value);
  }
  bool Check(const char* function, const char* what, int size) const {
    const int64_t step = increment < 0 ? -static_cast<int64_t>(increment) : increment;
    const auto elements = static_cast<size_t>((size - 1) * step + 1);
    return CheckRange(function, what, data, elements * SizeOf(type));
  }
};

cublasStatus_t Axpy(cublasHandle_t handle, const char* name, int n, const void* alpha_ptr,
                    const Vector& x, const Vector& y) {
  FAKECUBLAS_HANDLE(handle);
  if (alpha_ptr == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  if (n <= 0) return CUBLAS_STATUS_SUCCESS;
  const Scalar alpha(handle, x.type, alpha_ptr);
  if (!alpha.Valid(name) || !x.Check(name, "x", n) || !y.Check(name, "y", n)) {
    return CUBLAS_STATUS_EXECUTION_FAILED;
  }
  return Status(Enqueue(handle->stream, name, [=] {
    for (int i = 0; i < n; ++i) y.Set(i, n, alpha.Get() * x.At(i, n) + y.At(i, n));
  }));
}

cublasStatus_t Copy(cublasHandle_t handle, const char* name, int n, const Vector& x,
                    const Vector& y) {
  FAKECUBLAS_HANDLE(handle);
  if (n <= 0) return CUBLAS_STATUS_SUCCESS;
  if (!x.Check(name, "x", n) || !y.Check(name, "y", n)) return CUBLAS_STATUS_EXECUTION_FAILED;
  return Status(Enqueue(handle->stream, name, [=] {
    for (int i = 0; i < n; ++i) y.Set(i, n, x.At(i, n));
  }));
}

cublasStatus_t Scale(cublasHandle_t handle, const char* name, int n, const void* alpha_ptr,
                     const Vector& x) {
  FAKECUBLAS_HANDLE(handle);
  if (alpha_ptr == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  if (n <= 0 || x.increment <= 0) return CUBLAS_STATUS_SUCCESS;
  const Scalar alpha(handle, x.type, alpha_ptr);
  if (!alpha.Valid(name) || !x.Check(name, "x", n)) return CUBLAS_STATUS_EXECUTION_FAILED;
  return Status(Enqueue(handle->stream, name, [=] {
    for (int i = 0; i < n; ++i) x.Set(i, n, alpha.Get() * x.At(i, n));
  }));
}

// Computes a scalar from vectors. Writes it to device memory in stream order, or to the host, which
// waits for it.
template <class Function>
cublasStatus_t Reduce(cublasHandle_t handle, const char* name, Element type, void* result,
                      Function function) {
  if (handle->pointer_mode == CUBLAS_POINTER_MODE_DEVICE) {
    if (!CheckRange(name, "result", result, SizeOf(type))) return CUBLAS_STATUS_EXECUTION_FAILED;
    return Status(Enqueue(handle->stream, name, [=] { Store(type, result, 0, function()); }));
  }
  double value = 0;
  cudaError_t error = Enqueue(handle->stream, name, [&value, function] { value = function(); });
  if (error == cudaSuccess) error = cudaStreamSynchronize(handle->stream);
  if (error == cudaSuccess) Store(type, result, 0, value);
  return Status(error);
}

enum class Sum { kDot, kNorm, kAbsolute };

cublasStatus_t SumOf(cublasHandle_t handle, const char* name, Sum sum, int n, const Vector& x,
                     const Vector& y, void* result) {
  FAKECUBLAS_HANDLE(handle);
  if (result == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  if (sum != Sum::kDot && x.increment <= 0) n = 0;
  if (n > 0 && (!x.Check(name, "x", n) || (sum == Sum::kDot && !y.Check(name, "y", n)))) {
    return CUBLAS_STATUS_EXECUTION_FAILED;
  }
  return Reduce(handle, name, x.type, result, [=] {
    double total = 0;
    for (int i = 0; i < n; ++i) {
      const double value = x.At(i, n);
      total += sum == Sum::kDot    ? value * y.At(i, n)
               : sum == Sum::kNorm ? value * value
                                   : std::fabs(value);
    }
    return sum == Sum::kNorm ? std::sqrt(total) : total;
  });
}

struct MatrixVector {
  cublasHandle_t handle;
  const char* name;
  cublasOperation_t op;
  int m, n;
  const void* alpha;
  const void* a;
  int lda;
  Vector x;
  const void* beta;
  Vector y;
};

cublasStatus_t Gemv(const MatrixVector& p) {
  FAKECUBLAS_HANDLE(p.handle);
  if (p.m < 0 || p.n < 0 || p.lda < std::max(1, p.m) || p.x.increment == 0 || p.y.increment == 0 ||
      p.op < CUBLAS_OP_N || p.op > CUBLAS_OP_C || p.alpha == nullptr || p.beta == nullptr) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  const bool plain = p.op == CUBLAS_OP_N;
  const int rows = plain ? p.m : p.n, columns = plain ? p.n : p.m;
  if (rows == 0 || columns == 0) return CUBLAS_STATUS_SUCCESS;
  const Element type = p.x.type;
  const Scalar alpha(p.handle, type, p.alpha), beta(p.handle, type, p.beta);
  const size_t extent =
      static_cast<size_t>(p.m) + static_cast<size_t>(p.n - 1) * static_cast<size_t>(p.lda);
  if (!alpha.Valid(p.name) || !beta.Valid(p.name) ||
      !CheckRange(p.name, "A", p.a, extent * SizeOf(type)) || !p.x.Check(p.name, "x", columns) ||
      !p.y.Check(p.name, "y", rows)) {
    return CUBLAS_STATUS_EXECUTION_FAILED;
  }
  return Status(Enqueue(p.handle->stream, p.name, [=] {
    std::vector<double> sums(static_cast<size_t>(rows));
    for (int i = 0; i < rows; ++i) {
      for (int j = 0; j < columns; ++j) {
        const int64_t at =
            plain ? i + static_cast<int64_t>(j) * p.lda : j + static_cast<int64_t>(i) * p.lda;
        sums[static_cast<size_t>(i)] += Load(type, p.a, at) * p.x.At(j, columns);
      }
    }
    for (int i = 0; i < rows; ++i) {
      const double old = beta.Get() == 0 ? 0 : beta.Get() * p.y.At(i, rows);
      p.y.Set(i, rows, alpha.Get() * sums[static_cast<size_t>(i)] + old);
    }
  }));
}

struct Outer {
  cublasHandle_t handle;
  const char* name;
  int m, n;
  const void* alpha;
  Vector x, y;
  void* a;
  int lda;
};

cublasStatus_t Ger(const Outer& p) {
  FAKECUBLAS_HANDLE(p.handle);
  if (p.m < 0 || p.n < 0 || p.lda < std::max(1, p.m) || p.x.increment == 0 || p.y.increment == 0 ||
      p.alpha == nullptr) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  if (p.m == 0 || p.n == 0) return CUBLAS_STATUS_SUCCESS;
  const Element type = p.x.type;
  const Scalar alpha(p.handle, type, p.alpha);
  const size_t extent =
      static_cast<size_t>(p.m) + static_cast<size_t>(p.n - 1) * static_cast<size_t>(p.lda);
  if (!alpha.Valid(p.name) || !p.x.Check(p.name, "x", p.m) || !p.y.Check(p.name, "y", p.n) ||
      !CheckRange(p.name, "A", p.a, extent * SizeOf(type))) {
    return CUBLAS_STATUS_EXECUTION_FAILED;
  }
  return Status(Enqueue(p.handle->stream, p.name, [=] {
    for (int j = 0; j < p.n; ++j) {
      for (int i = 0; i < p.m; ++i) {
        const int64_t at = i + static_cast<int64_t>(j) * p.lda;
        Store(type, p.a, at, Load(type, p.a, at) + alpha.Get() * p.x.At(i, p.m) * p.y.At(j, p.n));
      }
    }
  }));
}

}  // namespace
}  // namespace fakecuda

using namespace fakecuda;

extern "C" {

#define FAKECUBLAS_VECTORS(LETTER, TYPE, ELEMENT)                                                  \
  cublasStatus_t cublas##LETTER##axpy(cublasHandle_t handle, int n, const TYPE* alpha,             \
                                      const TYPE* x, int incx, TYPE* y, int incy) {                \
    return Axpy(handle, __func__, n, alpha, {ELEMENT, x, incx}, {ELEMENT, y, incy});               \
  }                                                                                                \
  cublasStatus_t cublas##LETTER##copy(cublasHandle_t handle, int n, const TYPE* x, int incx,       \
                                      TYPE* y, int incy) {                                         \
    return Copy(handle, __func__, n, {ELEMENT, x, incx}, {ELEMENT, y, incy});                      \
  }                                                                                                \
  cublasStatus_t cublas##LETTER##scal(cublasHandle_t handle, int n, const TYPE* alpha, TYPE* x,    \
                                      int incx) {                                                  \
    return Scale(handle, __func__, n, alpha, {ELEMENT, x, incx});                                  \
  }                                                                                                \
  cublasStatus_t cublas##LETTER##dot(cublasHandle_t handle, int n, const TYPE* x, int incx,        \
                                     const TYPE* y, int incy, TYPE* result) {                      \
    return SumOf(handle, __func__, Sum::kDot, n, {ELEMENT, x, incx}, {ELEMENT, y, incy}, result);  \
  }                                                                                                \
  cublasStatus_t cublas##LETTER##nrm2(cublasHandle_t handle, int n, const TYPE* x, int incx,       \
                                      TYPE* result) {                                              \
    return SumOf(handle, __func__, Sum::kNorm, n, {ELEMENT, x, incx}, {ELEMENT, x, incx}, result); \
  }                                                                                                \
  cublasStatus_t cublas##LETTER##asum(cublasHandle_t handle, int n, const TYPE* x, int incx,       \
                                      TYPE* result) {                                              \
    return SumOf(handle, __func__, Sum::kAbsolute, n, {ELEMENT, x, incx}, {ELEMENT, x, incx},      \
                 result);                                                                          \
  }                                                                                                \
  cublasStatus_t cublas##LETTER##gemv(cublasHandle_t handle, cublasOperation_t op, int m, int n,   \
                                      const TYPE* alpha, const TYPE* a, int lda, const TYPE* x,    \
                                      int incx, const TYPE* beta, TYPE* y, int incy) {             \
    return Gemv({handle,                                                                           \
                 __func__,                                                                         \
                 op,                                                                               \
                 m,                                                                                \
                 n,                                                                                \
                 alpha,                                                                            \
                 a,                                                                                \
                 lda,                                                                              \
                 {ELEMENT, x, incx},                                                               \
                 beta,                                                                             \
                 {ELEMENT, y, incy}});                                                             \
  }                                                                                                \
  cublasStatus_t cublas##LETTER##ger(cublasHandle_t handle, int m, int n, const TYPE* alpha,       \
                                     const TYPE* x, int incx, const TYPE* y, int incy, TYPE* a,    \
                                     int lda) {                                                    \
    return Ger({handle, __func__, m, n, alpha, {ELEMENT, x, incx}, {ELEMENT, y, incy}, a, lda});   \
  }

FAKECUBLAS_VECTORS(S, float, Element::kFloat)
FAKECUBLAS_VECTORS(D, double, Element::kDouble)

}  // extern "C"
