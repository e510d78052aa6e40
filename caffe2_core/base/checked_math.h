#pragma once
// Arithmetic on sizes that come from files: overflow is an error, never a wrap.

#include <cstddef>
#include <cstdint>
#include <limits>

#include "caffe2_core/base/enforce.h"

namespace caffe2rt {

// a * b. REQUIRES: both >= 0. THROWS when the product does not fit.
template <class T>
[[nodiscard]] inline T CheckedMultiply(T a, T b) {
  T product;
  CAFFE_ENFORCE(a >= 0 && b >= 0 && !__builtin_mul_overflow(a, b, &product), "size overflow: ", a,
                " * ", b, " does not fit into ", sizeof(T) * 8, " bits");
  return product;
}

// a + b. THROWS when the sum does not fit.
template <class T>
[[nodiscard]] inline T CheckedAdd(T a, T b) {
  T sum;
  CAFFE_ENFORCE(!__builtin_add_overflow(a, b, &sum), "size overflow: ", a, " + ", b,
                " does not fit into ", sizeof(T) * 8, " bits");
  return sum;
}

// Product of dimensions; 1 for none. THROWS on a negative dimension or when the product of the
// non-zero dimensions does not fit into int64_t (so that a zero cannot hide an absurd shape from
// later arithmetic).
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

// `value` as To. THROWS when it does not fit.
template <class To, class From>
[[nodiscard]] inline To CheckedCast(From value, const char* subject = "value") {
  CAFFE_ENFORCE(std::in_range<To>(value), subject, " is ", value, ", want at most ",
                +std::numeric_limits<To>::max(), " and at least ", +std::numeric_limits<To>::min());
  return static_cast<To>(value);
}

}  // namespace caffe2rt
