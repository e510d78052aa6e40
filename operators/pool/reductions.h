#pragma once
// The two reductions of pools (maximum and sum), and functions that apply them to rows: reduce a
// row to one number, add a row to another, combine several rows.
//
// A reduction has kEmpty (the neutral element), Add(x, sum) for numbers and vectors, and
// Across(sum) (the reduction of the lanes). kCounts is whether the result is divided by the number
// of elements. Everything is inlined into functions that are compiled for several instruction sets.

#include <cstdint>
#include <cstring>
#include <limits>

#include "caffe2_core/base/simd.h"
#include "operators/primitives/lanes.h"

namespace caffe2rt {

struct Largest {
  static constexpr bool kCounts = false;
  static constexpr float kEmpty = -std::numeric_limits<float>::infinity();
  template <class T>
  static CAFFE2RT_SIMD_INLINE void Add(const T& x, T& sum) {
    sum = x > sum ? x : sum;
  }
  static CAFFE2RT_SIMD_INLINE float Across(const math::Lanes& sum) { return math::Largest(sum); }
};

struct Total {
  static constexpr bool kCounts = true;
  static constexpr float kEmpty = 0;
  template <class T>
  static CAFFE2RT_SIMD_INLINE void Add(const T& x, T& sum) {
    sum += x;
  }
  static CAFFE2RT_SIMD_INLINE float Across(const math::Lanes& sum) { return math::Sum(sum); }
};

// Reduces n contiguous numbers to one.
template <class R>
CAFFE2RT_SIMD_INLINE inline float ReduceRun(const float* x, int64_t n) {
  float rest = R::kEmpty;
  if (n < math::kLanes) {
    for (int64_t i = 0; i < n; ++i) R::Add(x[i], rest);
    return rest;
  }
  math::Lanes sums[4], v;
  for (math::Lanes& sum : sums) math::Fill(R::kEmpty, sum);
  int64_t i = 0;
  for (; i + 4 * math::kLanes <= n; i += 4 * math::kLanes) {
    for (int j = 0; j < 4; ++j) {
      math::Load(x + i + j * math::kLanes, v);
      R::Add(v, sums[j]);
    }
  }
  for (; i + math::kLanes <= n; i += math::kLanes) {
    math::Load(x + i, v);
    R::Add(v, sums[0]);
  }
  for (; i < n; ++i) R::Add(x[i], rest);
  R::Add(sums[1], sums[0]);
  R::Add(sums[3], sums[2]);
  R::Add(sums[2], sums[0]);
  R::Add(R::Across(sums[0]), rest);
  return rest;
}

// sum[i] = reduction of sum[i] and x[i], for all lanes of V.
template <class R, class V>
CAFFE2RT_SIMD_INLINE inline void AddVector(const float* x, float* sum) {
  V v, s;
  std::memcpy(&v, x, sizeof(v));
  std::memcpy(&s, sum, sizeof(s));
  R::Add(v, s);
  std::memcpy(sum, &s, sizeof(s));
}
template <class R>
CAFFE2RT_SIMD_INLINE inline void AddRow(const float* x, int64_t n, float* sum) {
  int64_t i = 0;
  for (; i + 16 <= n; i += 16) AddVector<R, math::Lanes>(x + i, sum + i);
  if (i + 8 <= n) AddVector<R, math::EightLanes>(x + i, sum + i), i += 8;
  if (i + 4 <= n) AddVector<R, math::FourLanes>(x + i, sum + i), i += 4;
  for (; i < n; ++i) R::Add(x[i], sum[i]);
}

// sum[i] = reduction of kRows rows at distance `pitch`, for all lanes of V. For a maximum, adds x *
// 0 of row 0 to `zeros`: this stays 0 where row 0 is finite and becomes NaN elsewhere.
template <class R, int kRows, class V>
CAFFE2RT_SIMD_INLINE inline void ReduceVector(const float* x, int64_t pitch, float* sum, V& zeros) {
  V v, s = V{} + R::kEmpty;
  for (int r = 0; r < kRows; ++r) {
    std::memcpy(&v, x + r * pitch, sizeof(v));
    if (!R::kCounts && r == 0) zeros += v * 0.0f;
    R::Add(v, s);
  }
  std::memcpy(sum, &s, sizeof(s));
}
// The same for n elements. The result is 0 if row 0 is finite.
template <class R, int kRows>
CAFFE2RT_SIMD_INLINE inline float ReduceRows(const float* x, int64_t pitch, int64_t n, float* sum) {
  math::Lanes zeros = {};
  if (n >= 16) {
    for (int64_t i = 0; i < n; i += 16) {
      i = i < n - 16 ? i : n - 16;  // the last vector may overlap
      ReduceVector<R, kRows>(x + i, pitch, sum + i, zeros);
    }
    return R::kCounts ? 0 : math::Sum(zeros);
  }
  int64_t i = 0;
  math::EightLanes zeros8 = {};
  math::FourLanes zeros4 = {};
  float zero = 0;
  if (i + 8 <= n) ReduceVector<R, kRows>(x + i, pitch, sum + i, zeros8), i += 8;
  if (i + 4 <= n) ReduceVector<R, kRows>(x + i, pitch, sum + i, zeros4), i += 4;
  for (; i < n; ++i) ReduceVector<R, kRows>(x + i, pitch, sum + i, zero);
  if (R::kCounts) return 0;
  for (int k = 0; k < 4; ++k) zero += zeros4[k] + zeros8[k] + zeros8[k + 4];
  return zero;
}

}  // namespace caffe2rt
