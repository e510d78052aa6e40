#pragma once
// Reductions: sums, dot products, extremes and moments, of vectors, of the rows and columns of
// matrices, and over axes.
//
//   math::Dot<float, CPUContext>(n, a, b, &result, &context_);
//   math::ReduceSum<float, CPUContext>(3, x_dims, y_dims, 1.0f, x, y, &context_);
//
// ReduceSum sums over the dimensions that are 1 in y_dims.
//
// Results are written through pointers, which on a device are to device memory. Sums of floats are
// accumulated in double.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "operators/math/binary.h"
#include "operators/math/context_dispatch.h"

#pragma GCC visibility push(default)
namespace caffe2rt {
class Tensor;

namespace math {
namespace internal {
template <class T>
using Sum = std::conditional_t<std::is_floating_point_v<T>, double, T>;

inline int64_t Product(int rank, const int* dims) {
  int64_t product = 1;
  for (int i = 0; i < rank; ++i) product *= dims[i];
  return product;
}
}  // namespace internal

template <class T, class Context>
void Dot(int64_t n, const T* a, const T* b, T* y, [[maybe_unused]] Context* context) {
  if constexpr (internal::kIsCuda<Context>) {
    internal::CudaDot(*context, n, a, b, y);
    return;
  }
  internal::RequireCpu<Context>();
  internal::Sum<T> sum = 0;
  for (int64_t i = 0; i < n; ++i) sum += static_cast<internal::Sum<T>>(a[i]) * b[i];
  *y = static_cast<T>(sum);
}

// `scratch` exists for compatibility and is ignored.
template <class T, class Context>
void Sum(int64_t n, const T* x, T* y, [[maybe_unused]] Context* context,
         Tensor* /*scratch*/ = nullptr) {
  if constexpr (internal::kIsCuda<Context>) {
    internal::CudaReduceMatrix<internal::Reduction::kSum>(*context, 1, n, false, x, y);
    return;
  }
  internal::RequireCpu<Context>();
  internal::Sum<T> sum = 0;
  for (int64_t i = 0; i < n; ++i) sum += x[i];
  *y = static_cast<T>(sum);
}
template <class T, class Context>
void SumSqr(int64_t n, const T* x, T* y, Context* context, Tensor* /*scratch*/ = nullptr) {
  Dot<T, Context>(n, x, x, y, context);
}
template <class T, class Context>
void ReduceMin(int64_t n, const T* x, T* y, Tensor* /*scratch*/,
               [[maybe_unused]] Context* context) {
  CAFFE_ENFORCE_GT(n, 0, "number of values to take the minimum of");
  if constexpr (internal::kIsCuda<Context>) {
    internal::CudaReduceMatrix<internal::Reduction::kMin>(*context, 1, n, false, x, y);
    return;
  }
  internal::RequireCpu<Context>();
  *y = *std::min_element(x, x + n);
}
template <class T, class Context>
void ReduceMax(int64_t n, const T* x, T* y, Tensor* /*scratch*/,
               [[maybe_unused]] Context* context) {
  CAFFE_ENFORCE_GT(n, 0, "number of values to take the maximum of");
  if constexpr (internal::kIsCuda<Context>) {
    internal::CudaReduceMatrix<internal::Reduction::kMax>(*context, 1, n, false, x, y);
    return;
  }
  internal::RequireCpu<Context>();
  *y = *std::max_element(x, x + n);
}

// y[i] = x[i, idx[i]], where x is [n, d]. The indices are checked on the CPU only.
template <class T, class Context>
void Select(int64_t n, int64_t d, const T* x, const int* idx, T* y,
            [[maybe_unused]] Context* context) {
  if constexpr (internal::kIsCuda<Context>) {
    internal::CudaSelect(*context, n, d, x, idx, y);
    return;
  }
  internal::RequireCpu<Context>();
  for (int64_t i = 0; i < n; ++i) {
    CAFFE_ENFORCE(idx[i] >= 0 && idx[i] < d, "index ", idx[i], " of row ", i, ", want 0 to ",
                  d - 1);
    y[i] = x[i * d + idx[i]];
  }
}
// The maximum of every row, or of every column, of x [n, d].
template <class T, class Context>
void RowwiseMax(int64_t n, int64_t d, const T* x, T* y, [[maybe_unused]] Context* context) {
  if (n == 0 || d == 0) return;
  if constexpr (internal::kIsCuda<Context>) {
    internal::CudaReduceMatrix<internal::Reduction::kMax>(*context, n, d, false, x, y);
    return;
  }
  internal::RequireCpu<Context>();
  for (int64_t i = 0; i < n; ++i) y[i] = *std::max_element(x + i * d, x + (i + 1) * d);
}
template <class T, class Context>
void ColwiseMax(int64_t n, int64_t d, const T* x, T* y, [[maybe_unused]] Context* context) {
  if (n == 0 || d == 0) return;
  if constexpr (internal::kIsCuda<Context>) {
    internal::CudaReduceMatrix<internal::Reduction::kMax>(*context, n, d, true, x, y);
    return;
  }
  internal::RequireCpu<Context>();
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < d; ++j) y[j] = i == 0 ? x[j] : std::max(y[j], x[i * d + j]);
  }
}
// Adds `batch` vectors of n elements to y. They start at first, first + stripe, and so on.
template <class T, class Context>
void AddStripedBatch(int64_t n, const T* first, T* y, int64_t stripe, int64_t batch,
                     [[maybe_unused]] Context* context) {
  if constexpr (internal::kIsCuda<Context>) {
    internal::CudaAddStripedBatch(*context, n, first, y, stripe, batch);
    return;
  }
  internal::RequireCpu<Context>();
  for (int64_t b = 0; b < batch; ++b) {
    for (int64_t i = 0; i < n; ++i) y[i] += first[b * stripe + i];
  }
}

// --- reductions over axes: y_dims is x_dims with 1 for each axis that is reduced ---
#define CAFFE2RT_MATH_REDUCE(Name, kind, start, step, finish)                                   \
  template <class T, class Context>                                                             \
  void Name(int rank, const int* x_dims, const int* y_dims, std::type_identity_t<T> alpha,      \
            const T* x, T* y, [[maybe_unused]] Context* context) {                              \
    if constexpr (internal::kIsCuda<Context>) {                                                 \
      internal::CudaReduce<internal::Reduction::kind>(*context, rank, x_dims, y_dims, alpha, x, \
                                                      y);                                       \
      return;                                                                                   \
    }                                                                                           \
    internal::RequireCpu<Context>();                                                            \
    const int64_t x_size = internal::Product(rank, x_dims),                                     \
                  y_size = internal::Product(rank, y_dims);                                     \
    const double count = y_size == 0 ? 0 : static_cast<double>(x_size / y_size);                \
    (void)count;                                                                                \
    std::vector<internal::Sum<T>> sums(static_cast<size_t>(y_size), internal::Sum<T>(start));   \
    internal::ForEachBroadcast(rank, x_dims, rank, y_dims,                                      \
                               [&](int64_t, int64_t from, int64_t to) {                         \
                                 const internal::Sum<T> v = x[from];                            \
                                 internal::Sum<T>& s = sums[static_cast<size_t>(to)];           \
                                 s = (step);                                                    \
                               });                                                              \
    for (int64_t i = 0; i < y_size; ++i) {                                                      \
      const internal::Sum<T> s = sums[static_cast<size_t>(i)];                                  \
      y[i] = static_cast<T>(alpha * (finish));                                                  \
    }                                                                                           \
  }
CAFFE2RT_MATH_REDUCE(ReduceSum, kSum, 0, s + v, s)
CAFFE2RT_MATH_REDUCE(ReduceMean, kMean, 0, s + v, s / count)
CAFFE2RT_MATH_REDUCE(ReduceL1, kL1, 0, s + (v < 0 ? -v : v), s)
CAFFE2RT_MATH_REDUCE(ReduceL2, kL2, 0, s + v * v, std::sqrt(static_cast<double>(s)))
CAFFE2RT_MATH_REDUCE(ReduceMin, kMin, std::numeric_limits<T>::max(), v < s ? v : s, s)
CAFFE2RT_MATH_REDUCE(ReduceMax, kMax, std::numeric_limits<T>::lowest(), v > s ? v : s, s)
#undef CAFFE2RT_MATH_REDUCE

// Mean and biased variance.
template <class T, class Context>
void Moments(int rank, const int* x_dims, const int* y_dims, const T* x, T* mean, T* var,
             [[maybe_unused]] Context* context) {
  if constexpr (internal::kIsCuda<Context>) {
    internal::CudaMoments(*context, rank, x_dims, y_dims, x, mean, var);
    return;
  }
  internal::RequireCpu<Context>();
  const int64_t x_size = internal::Product(rank, x_dims), y_size = internal::Product(rank, y_dims);
  if (x_size == 0 || y_size == 0) return;
  const double count = static_cast<double>(x_size / y_size);
  std::vector<double> sums(static_cast<size_t>(y_size)), squares(sums);
  internal::ForEachBroadcast(rank, x_dims, rank, y_dims, [&](int64_t, int64_t from, int64_t to) {
    sums[static_cast<size_t>(to)] += x[from];
  });
  for (int64_t i = 0; i < y_size; ++i)
    mean[i] = static_cast<T>(sums[static_cast<size_t>(i)] / count);
  internal::ForEachBroadcast(rank, x_dims, rank, y_dims, [&](int64_t, int64_t from, int64_t to) {
    const double d = x[from] - sums[static_cast<size_t>(to)] / count;
    squares[static_cast<size_t>(to)] += d * d;
  });
  for (int64_t i = 0; i < y_size; ++i)
    var[i] = static_cast<T>(squares[static_cast<size_t>(i)] / count);
}

// y = alpha * x, repeated along the axes in which x has size 1 or which x does not have.
template <class T, class Context>
void Broadcast(int x_rank, const int* x_dims, int y_rank, const int* y_dims,
               std::type_identity_t<T> alpha, const T* x, T* y, [[maybe_unused]] Context* context) {
  if constexpr (internal::kIsCuda<Context>) {
    internal::CudaBroadcast<T>(*context, internal::Walk::Broadcast(x_rank, x_dims, y_rank, y_dims),
                               alpha, x, y);
    return;
  }
  internal::RequireCpu<Context>();
  internal::ForEachBroadcast(x_rank, x_dims, y_rank, y_dims,
                             [&](int64_t i, int64_t from, int64_t) { y[i] = alpha * x[from]; });
}

}  // namespace math
}  // namespace caffe2rt
#pragma GCC visibility pop
