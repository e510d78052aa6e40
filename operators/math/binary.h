#pragma once
// Functions of two arrays, c = f(a, b). The arrays have equal sizes, or are a matrix and a row or
// column, or are broadcast by numpy's rules.
//
//   math::Add<float, CPUContext>(n, a, b, c, &context_);
//   math::RowwiseMul<float, CPUContext>(rows, cols, a, row, c, &context_);
//   math::Sub<float, CPUContext>(2, a_dims, 1, b_dims, a, b, c, &context_);

#include <algorithm>
#include <cstdint>
#include <vector>

#include "operators/math/context_dispatch.h"

#pragma GCC visibility push(default)
namespace caffe2rt::math {
namespace internal {

// Calls f(index into the result, index into a, index into b) for every element of the broadcast
// shape, in row-major order.
template <class F>
void ForEachBroadcast(int a_rank, const int* a_dims, int b_rank, const int* b_dims, F f) {
  const int rank = std::max(a_rank, b_rank);
  std::vector<int64_t> dims(static_cast<size_t>(rank)), a_step(dims), b_step(dims), at(dims);
  int64_t a_size = 1, b_size = 1, size = 1;
  for (int i = rank - 1; i >= 0; --i) {
    const int64_t a = i - (rank - a_rank) >= 0 ? a_dims[i - (rank - a_rank)] : 1;
    const int64_t b = i - (rank - b_rank) >= 0 ? b_dims[i - (rank - b_rank)] : 1;
    CAFFE_ENFORCE(a == b || a == 1 || b == 1, "dims ", a, " and ", b, " do not broadcast");
    const auto axis = static_cast<size_t>(i);
    dims[axis] = a == 1 ? b : a;
    a_step[axis] = a == 1 ? 0 : a_size;
    b_step[axis] = b == 1 ? 0 : b_size;
    a_size *= a;
    b_size *= b;
    size *= dims[axis];
  }
  for (int64_t i = 0; i < size; ++i) {
    int64_t a = 0, b = 0;
    for (size_t axis = 0; axis < dims.size(); ++axis) {
      a += at[axis] * a_step[axis];
      b += at[axis] * b_step[axis];
    }
    f(i, a, b);
    for (size_t axis = dims.size(); axis-- > 0;) {
      if (++at[axis] < dims[axis]) break;
      at[axis] = 0;
    }
  }
}

// z = f(x, y) for arrays of equal size (Zip), for a matrix and a row (ZipRows), for a matrix and a
// column (ZipColumns), and with broadcasting (ZipBroadcast). If kFirst is true, x is the row or
// column; otherwise y is.
template <class Context, class T, class Result, class F>
void Zip(Context* context, int64_t n, const T* x, const T* y, Result* z, const F& f) {
  if constexpr (kIsCuda<Context>) {
    Walk walk;
    walk.Add(n, 1, 1);
    CudaZip<F>(*context, walk, x, y, z);
  } else {
    RequireCpu<Context>();
    for (int64_t i = 0; i < n; ++i) z[i] = f(x[i], y[i]);
  }
}
template <bool kFirst, class Context, class T, class Result, class F>
void ZipRows(Context* context, int64_t rows, int64_t cols, const T* x, const T* y, Result* z,
             const F& f) {
  if constexpr (kIsCuda<Context>) {
    Walk walk;
    walk.Add(rows, kFirst ? 0 : cols, kFirst ? cols : 0);
    walk.Add(cols, 1, 1);
    CudaZip<F>(*context, walk, x, y, z);
  } else {
    RequireCpu<Context>();
    for (int64_t i = 0; i < rows * cols; ++i) {
      z[i] = f(kFirst ? x[i % cols] : x[i], kFirst ? y[i] : y[i % cols]);
    }
  }
}
template <bool kFirst, class Context, class T, class Result, class F>
void ZipColumns(Context* context, int64_t rows, int64_t cols, const T* x, const T* y, Result* z,
                const F& f) {
  if constexpr (kIsCuda<Context>) {
    Walk walk;
    walk.Add(rows, kFirst ? 1 : cols, kFirst ? cols : 1);
    walk.Add(cols, kFirst ? 0 : 1, kFirst ? 1 : 0);
    CudaZip<F>(*context, walk, x, y, z);
  } else {
    RequireCpu<Context>();
    for (int64_t i = 0; i < rows * cols; ++i) {
      z[i] = f(kFirst ? x[i / cols] : x[i], kFirst ? y[i] : y[i / cols]);
    }
  }
}
template <class Context, class T, class Result, class F>
void ZipBroadcast(Context* context, int a_rank, const int* a_dims, int b_rank, const int* b_dims,
                  const T* x, const T* y, Result* z, const F& f) {
  if constexpr (kIsCuda<Context>) {
    CudaZip<F>(*context, Walk::Broadcast(a_rank, a_dims, b_rank, b_dims), x, y, z);
  } else {
    RequireCpu<Context>();
    ForEachBroadcast(a_rank, a_dims, b_rank, b_dims,
                     [&](int64_t i, int64_t a, int64_t b) { z[i] = f(x[a], y[b]); });
  }
}

}  // namespace internal

// Functions on elements of type T with results of type Result. If kBroadcast1st is true, the first
// operand is the row or column.
#define CAFFE2RT_MATH_BINARY(Name, Result, value)                                                 \
  namespace internal {                                                                            \
  struct Name##Value {                                                                            \
    template <class T>                                                                            \
    CAFFE2RT_SIMD_INLINE Result operator()(T a, T b) const {                                      \
      return static_cast<Result>(value);                                                          \
    }                                                                                             \
  };                                                                                              \
  }                                                                                               \
  template <class T, class Context>                                                               \
  void Name(int64_t n, const T* x, const T* y, Result* z, Context* context) {                     \
    internal::Zip(context, n, x, y, z, internal::Name##Value());                                  \
  }                                                                                               \
  template <class T, class Context, bool kBroadcast1st = false>                                   \
  void Rowwise##Name(int rows, int cols, const T* x, const T* y, Result* z, Context* context) {   \
    internal::ZipRows<kBroadcast1st>(context, rows, cols, x, y, z, internal::Name##Value());      \
  }                                                                                               \
  template <class T, class Context, bool kBroadcast1st = false>                                   \
  void Colwise##Name(int rows, int cols, const T* x, const T* y, Result* z, Context* context) {   \
    internal::ZipColumns<kBroadcast1st>(context, rows, cols, x, y, z, internal::Name##Value());   \
  }                                                                                               \
  template <class T, class Context>                                                               \
  void Name(int a_rank, const int* a_dims, int b_rank, const int* b_dims, const T* x, const T* y, \
            Result* z, Context* context) {                                                        \
    internal::ZipBroadcast(context, a_rank, a_dims, b_rank, b_dims, x, y, z,                      \
                           internal::Name##Value());                                              \
  }                                                                                               \
  template <class T, class Context>                                                               \
  void Name##ToRow(int m, int n, const T* x, const T* y, Result* z, Context* context) {           \
    Rowwise##Name<T, Context, false>(m, n, x, y, z, context);                                     \
  }
CAFFE2RT_MATH_BINARY(Add, T, a + b)
CAFFE2RT_MATH_BINARY(Sub, T, a - b)
CAFFE2RT_MATH_BINARY(Mul, T, a* b)
CAFFE2RT_MATH_BINARY(Div, T, a / b)
CAFFE2RT_MATH_BINARY(Min, T, a < b ? a : b)
CAFFE2RT_MATH_BINARY(Max, T, a > b ? a : b)
CAFFE2RT_MATH_BINARY(And, T, a&& b)
CAFFE2RT_MATH_BINARY(Or, T, a || b)
CAFFE2RT_MATH_BINARY(Xor, T, bool(a) != bool(b))
CAFFE2RT_MATH_BINARY(BitwiseAnd, T, a& b)
CAFFE2RT_MATH_BINARY(BitwiseOr, T, a | b)
CAFFE2RT_MATH_BINARY(BitwiseXor, T, a ^ b)
CAFFE2RT_MATH_BINARY(EQ, bool, a == b)
CAFFE2RT_MATH_BINARY(NE, bool, a != b)
CAFFE2RT_MATH_BINARY(LT, bool, a < b)
CAFFE2RT_MATH_BINARY(LE, bool, a <= b)
CAFFE2RT_MATH_BINARY(GT, bool, a > b)
CAFFE2RT_MATH_BINARY(GE, bool, a >= b)
#undef CAFFE2RT_MATH_BINARY

// y = y op x, in place, with x applied to every row or to every column of y.
#define CAFFE2RT_MATH_IN_PLACE(Name)                                   \
  template <class T, class Context>                                    \
  void Name##ToRow(int m, int n, const T* x, T* y, Context* context) { \
    Rowwise##Name<T, Context, false>(m, n, y, x, y, context);          \
  }                                                                    \
  template <class T, class Context>                                    \
  void Name##ToCol(int m, int n, const T* x, T* y, Context* context) { \
    Colwise##Name<T, Context, false>(m, n, y, x, y, context);          \
  }
CAFFE2RT_MATH_IN_PLACE(Add)
CAFFE2RT_MATH_IN_PLACE(Sub)
CAFFE2RT_MATH_IN_PLACE(Mul)
CAFFE2RT_MATH_IN_PLACE(Div)
#undef CAFFE2RT_MATH_IN_PLACE

template <class T, class Context>
void ElemwiseMax(int64_t n, const T* x, const T* y, T* z, Context* context) {
  Max<T, Context>(n, x, y, z, context);
}

}  // namespace caffe2rt::math
#pragma GCC visibility pop
