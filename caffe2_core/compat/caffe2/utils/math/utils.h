#pragma once
// Small integer arithmetic.
#include <cstdint>
#include <type_traits>

namespace caffe2 {
namespace math {

template <class T>
constexpr T DivUp(const T a, const T b) {
  return (a + b - T(1)) / b;
}
template <class T>
constexpr T divUp(const T a, const T b) {
  return DivUp(a, b);
}
template <class T>
constexpr T RoundUp(const T a, const T b) {
  return DivUp(a, b) * b;
}
template <class T>
constexpr T roundUp(const T a, const T b) {
  return RoundUp(a, b);
}
template <class T>
constexpr T IntegerLog2(T n, T p = 0) {
  return n <= 1 ? p : IntegerLog2<T>(n / 2, p + 1);
}
template <class T>
constexpr T integerLog2(T n, T p = 0) {
  return IntegerLog2(n, p);
}
template <class T>
constexpr bool IntegerIsPowerOf2(T n) {
  return n != 0 && (n & (n - 1)) == 0;
}
template <class T>
constexpr bool integerIsPowerOf2(T n) {
  return IntegerIsPowerOf2(n);
}
// A power of two above n: twice n if n is one, otherwise the smallest.
template <class T>
constexpr T IntegerNextHighestPowerOf2(T n) {
  return IntegerIsPowerOf2(n) ? T(2) * n : T(1) << (IntegerLog2(n) + 1);
}
template <class T>
constexpr T integerNextHighestPowerOf2(T n) {
  return IntegerNextHighestPowerOf2(n);
}
constexpr bool is_a_ge_zero_and_a_lt_b(int a, int b) {
  return static_cast<unsigned>(a) < static_cast<unsigned>(b);
}

namespace utils {
constexpr bool IsAGeZeroAndALtB(int a, int b) { return is_a_ge_zero_and_a_lt_b(a, b); }

// Advances `index`, one position for each dimension, by one element in row-major order.
template <class TIndex>
void IncreaseIndexInDims(int ndim, const TIndex* dims, TIndex* index) {
  for (int i = ndim - 1; i >= 0; --i) {
    if (++index[i] < dims[i]) return;
    index[i] -= dims[i];
  }
}
// The offset in row-major order. A dimension of size 1 does not count, whatever its index is.
template <class TIndex>
TIndex GetIndexFromDims(const int n, const TIndex* dims, const TIndex* index) {
  TIndex offset = 0;
  for (int i = 0; i < n; ++i)
    if (dims[i] > 1) offset = offset * dims[i] + index[i];
  return offset;
}
inline bool IsIdentityPermutation(const int n, const int* perm) {
  for (int i = 0; i < n; ++i)
    if (perm[i] != i) return false;
  return true;
}
// The dimensions of A, B and their broadcast result, all of the greater rank. REQUIRES: the
// dimensions can be broadcast by numpy's rules.
template <class TIndex>
void ComputeBroadcastBinaryOpDims(const int A_ndim, const TIndex* A_dims, const int B_ndim,
                                  const TIndex* B_dims, TIndex* A_broadcast_dims,
                                  TIndex* B_broadcast_dims, TIndex* C_broadcast_dims) {
  const int ndim = A_ndim > B_ndim ? A_ndim : B_ndim;
  for (int i = 0; i < ndim; ++i) {
    const int a = i - (ndim - A_ndim), b = i - (ndim - B_ndim);
    A_broadcast_dims[i] = a < 0 ? TIndex(1) : A_dims[a];
    B_broadcast_dims[i] = b < 0 ? TIndex(1) : B_dims[b];
    C_broadcast_dims[i] = A_broadcast_dims[i] == 1 ? B_broadcast_dims[i] : A_broadcast_dims[i];
  }
}
// A permutation with the axes that are kept first and the reduced axes last.
inline void ComputeTransposeAxesForReduceOp(const int num_dims, const int num_reduce_axes,
                                            const int* reduce_axes, int* transpose_axes) {
  int kept = 0;
  for (int axis = 0; axis < num_dims; ++axis) {
    bool reduced = false;
    for (int i = 0; i < num_reduce_axes; ++i) reduced = reduced || reduce_axes[i] == axis;
    if (!reduced) transpose_axes[kept++] = axis;
  }
  for (int i = 0; i < num_reduce_axes; ++i) transpose_axes[kept + i] = reduce_axes[i];
}
// The same, where the reduced axes are those of size 1 in `dims`.
inline void ComputeTransposeAxesForReduceOp(const int ndim, const int* dims, int* axes) {
  int next = 0;
  for (int i = 0; i < ndim; ++i)
    if (dims[i] > 1) axes[next++] = i;
  for (int i = 0; i < ndim; ++i)
    if (dims[i] == 1) axes[next++] = i;
}
// For each axis of the transposed tensor, the stride of that axis in the original.
template <class TIndex>
void ComputeTransposedStrides(int ndim, const TIndex* dims, const int* axes, TIndex* strides) {
  for (int i = 0; i < ndim; ++i) {
    TIndex stride = 1;
    for (int k = axes[i] + 1; k < ndim; ++k) stride *= dims[k];
    strides[i] = stride;
  }
}
}  // namespace utils

}  // namespace math
}  // namespace caffe2
