#pragma once
// Arithmetic on sizes from files, in which an overflow is an error instead of wrapping around.

#include <cstddef>
#include <cstdint>
#include <limits>

#include "caffe2_core/base/enforce.h"

#pragma GCC visibility push(default)
namespace caffe2rt {

// a * b. THROWS if an operand is negative or the product does not fit into T.
template <class T>
[[nodiscard]] inline T CheckedMultiply(T a, T b) {
  T product;
  CAFFE_ENFORCE(a >= 0 && b >= 0 && !__builtin_mul_overflow(a, b, &product), "size overflow: ", a,
                " * ", b, " does not fit into ", sizeof(T) * 8, " bits");
  return product;
}

// a + b. THROWS if the sum does not fit into T.
template <class T>
[[nodiscard]] inline T CheckedAdd(T a, T b) {
  T sum;
  CAFFE_ENFORCE(!__builtin_add_overflow(a, b, &sum), "size overflow: ", a, " + ", b,
                " does not fit into ", sizeof(T) * 8, " bits");
  return sum;
}

// The product of the dimensions; 1 if there are none. THROWS if a dimension is negative, or if the
// product of the nonzero dimensions does not fit into int64_t: a zero dimension must not hide an
// oversized shape from later arithmetic.
template <class Dims>
[[nodiscard]] inline int64_t CheckedProduct(const Dims& dims) {
  int64_t product = 1;
  bool zero = false;
  for (const auto dim : dims) {
    CAFFE_ENFORCE_GE(dim, 0, "dimension of a shape, want at least 0");
    if (dim == 0) {
      zero = true;
    } else {
      product = CheckedMultiply<int64_t>(product, static_cast<int64_t>(dim));
    }
  }
  return zero ? 0 : product;
}

// Converts `value` to type To. THROWS if it does not fit.
template <class To, class From>
[[nodiscard]] inline To CheckedCast(From value, const char* subject = "value") {
  CAFFE_ENFORCE(std::in_range<To>(value), subject, " is ", value, ", want at most ",
                +std::numeric_limits<To>::max(), " and at least ", +std::numeric_limits<To>::min());
  return static_cast<To>(value);
}

}  // namespace caffe2rt
#pragma GCC visibility pop
