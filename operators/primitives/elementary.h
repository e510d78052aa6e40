#pragma once
// exp, log, tanh, erf and the logistic function for one float, written so that compilers can
// vectorize them: no branch, no table, no call. The error is at most 2 units in the last place if
// the result is a normal number, except for Erf. Infinities, NaN and signed zeros give the same
// results as <cmath>, and so do denormals, except for Erf.
//
//   for (int64_t i = 0; i < n; ++i) y[i] = math::Exp(x[i]);
//
// For double the functions call <cmath>.

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "caffe2_core/base/simd.h"

#pragma GCC visibility push(default)
namespace caffe2rt::math {

namespace internal {

// Like std::bit_cast, but also for vectors, which must not be returned by value.
template <class From, class To>
CAFFE2RT_SIMD_INLINE inline void CopyBits(const From& from, To& to) {
  static_assert(sizeof(From) == sizeof(To));
  __builtin_memcpy(&to, &from, sizeof(to));
}

// x = exp(max(x, lowest)). F is float or a vector of floats; I is int32_t or a vector of as many
// int32_t. Vectors are passed by reference (lanes.h).
//
// Method: x = n ln 2 + r, where n is the integer nearest to x / ln 2. Then exp(x) = 2^n exp(r) and
// |r| <= ln(2) / 2, and a polynomial gives exp(r). ln 2 is split into two constants, so that
// x - n ln 2 is accurate.

// 1.5 * 2^23. After it is added to a number, the low bits hold the nearest integer.
inline constexpr float kRoundToInteger = 12582912.0f;

// shifted = n + kRoundToInteger, p = exp(r). REQUIRES: x is in [-104, 89].
template <class F>
CAFFE2RT_SIMD_INLINE inline void DivideExp(const F& x, F& shifted, F& p) {
  shifted = x * 1.44269504088896341f + kRoundToInteger;
  const F n = shifted - kRoundToInteger;
  const F r = (x - n * 0.693359375f) - n * -2.12194440e-4f;
  // The polynomial of expf in Cephes.
  p = r * 1.9875691500e-4f + 1.3981999507e-3f;
  p = p * r + 8.3334519073e-3f;
  p = p * r + 4.1665795894e-2f;
  p = p * r + 1.6666665459e-1f;
  p = p * r + 5.0000001201e-1f;
  p = p * (r * r) + r + 1.0f;
}

template <class F, class I>
CAFFE2RT_SIMD_INLINE inline void ReplaceByExp(F& x, float lowest) {
  F c = x > 89.0f ? F{} + 89.0f : x;
  c = c < lowest ? F{} + lowest : c;
  F shifted, p;
  DivideExp(c, shifted, p);
  // Multiplies by 2^n in two steps, because 2^n alone may overflow, and because a denormal result
  // must be rounded only once.
  I whole;
  CopyBits(shifted, whole);
  whole -= std::bit_cast<int32_t>(kRoundToInteger);
  const I half = whole >> 1;
  const I first = (half + 127) << 23, second = (whole - half + 127) << 23;
  F factor;
  CopyBits(first, factor);
  p *= factor;
  CopyBits(second, factor);
  x = p * factor;
}

// x = erf(x). F is float or a vector of floats.
//
// Method: the quotient of an odd polynomial of degree 13 and an even one of degree 8, a minimax
// approximation on [-4, 4]. From 3.92 on, erf(x) rounds to 1 or -1.
template <class F>
CAFFE2RT_SIMD_INLINE inline void ReplaceByErf(F& x) {
  F c = x > 3.92f ? F{} + 3.92f : x;
  c = c < -3.92f ? F{} - 3.92f : c;
  const F z = c * c;
  F p = z * -2.72614225801306e-10f + 2.77068142495902e-08f;
  p = p * z - 2.10102402082508e-06f;
  p = p * z - 5.69250639462346e-05f;
  p = p * z - 7.34990630326855e-04f;
  p = p * z - 2.95459980854025e-03f;
  p = p * z - 1.60960333262415e-02f;
  F q = z * -1.45660718464996e-05f - 2.13374055278905e-04f;
  q = q * z - 1.68282697438203e-03f;
  q = q * z - 7.37332916720468e-03f;
  q = q * z - 1.42647390514189e-02f;
  p = c * p / q;
  p = c >= 3.92f ? F{} + 1.0f : p;
  x = c <= -3.92f ? F{} - 1.0f : p;
}

}  // namespace internal

CAFFE2RT_SIMD_INLINE inline float Exp(float x) {
  internal::ReplaceByExp<float, int32_t>(x, -104.0f);
  return x;
}

CAFFE2RT_SIMD_INLINE inline float Log(float x) {
  const bool tiny = x < std::numeric_limits<float>::min();
  const float scaled = tiny ? x * 8388608.0f : x;
  // x = m * 2^e with m in [sqrt(1/2), sqrt(2)).
  constexpr uint32_t kRootOfHalf = 0x3f3504f3u;
  const uint32_t offset = std::bit_cast<uint32_t>(scaled) - kRootOfHalf;
  const float m = std::bit_cast<float>((offset & 0x007fffffu) + kRootOfHalf);
  const float e = static_cast<float>(static_cast<int32_t>(offset) >> 23) - (tiny ? 23.0f : 0.0f);
  const float f = m - 1.0f;
  const float z = f * f;
  // The polynomial of logf in Cephes.
  float p = f * 7.0376836292e-2f - 1.1514610310e-1f;
  p = p * f + 1.1676998740e-1f;
  p = p * f - 1.2420140846e-1f;
  p = p * f + 1.4249322787e-1f;
  p = p * f - 1.6668057665e-1f;
  p = p * f + 2.0000714765e-1f;
  p = p * f - 2.4999993993e-1f;
  p = p * f + 3.3333331174e-1f;
  p = p * f * z;
  p = p + e * -2.12194440e-4f;
  p = p - 0.5f * z;
  float result = (f + p) + e * 0.693359375f;
  result = x == std::numeric_limits<float>::infinity() ? x : result;
  result = x == 0.0f ? -std::numeric_limits<float>::infinity() : result;
  return x >= 0.0f ? result : std::numeric_limits<float>::quiet_NaN();
}

CAFFE2RT_SIMD_INLINE inline float Tanh(float x) {
  const float size = x < 0.0f ? -x : x;
  // The polynomial of tanhf in Cephes near 0, and 1 - 2 / (exp(2x) + 1) elsewhere.
  const float z = x * x;
  float p = z * -5.70498872745e-3f + 2.06390887954e-2f;
  p = p * z - 5.37397155531e-2f;
  p = p * z + 1.33314422036e-1f;
  p = p * z - 3.33332819422e-1f;
  const float near = p * z * x + x;
  const float far = 1.0f - 2.0f / (Exp(size + size) + 1.0f);
  const float signed_far = x < 0.0f ? -far : far;
  return size < 0.625f ? near : signed_far;
}

CAFFE2RT_SIMD_INLINE inline float Logistic(float x) { return 1.0f / (1.0f + Exp(-x)); }

// The error is at most 5e-7.
CAFFE2RT_SIMD_INLINE inline float Erf(float x) {
  internal::ReplaceByErf(x);
  return x;
}

inline double Exp(double x) { return std::exp(x); }
inline double Log(double x) { return std::log(x); }
inline double Tanh(double x) { return std::tanh(x); }
inline double Erf(double x) { return std::erf(x); }
inline double Logistic(double x) { return 1.0 / (1.0 + std::exp(-x)); }

}  // namespace caffe2rt::math
#pragma GCC visibility pop
