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
// The smallest power of two that is at least n; 0 for n == 0.
template <class T>
constexpr T IntegerNextHighestPowerOf2(T n) {
  T power = 1;
  while (power < n) power *= 2;
  return n == 0 ? T(0) : power;
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
}  // namespace utils

}  // namespace math
}  // namespace caffe2
