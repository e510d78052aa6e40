#pragma once
// Vectors of sixteen floats, in the vector extension that g++ and clang share. A function that uses
// them can be compiled for several instruction sets (caffe2_core/base/simd.h); each version then
// uses the widest registers of its instruction set.
//
//   math::Lanes sum = {};
//   for (; i + math::kLanes <= n; i += math::kLanes) {
//     math::Lanes v;
//     math::Load(x + i, v);
//     sum += v;
//   }
//   total = math::Sum(sum);
//
// Vectors are passed by reference, because the ABI for passing them by value depends on the
// instruction set.

#include <cstdint>
#include <cstring>

#include "operators/primitives/elementary.h"

namespace caffe2rt::math {

inline constexpr int kLanes = 16;
typedef float Lanes __attribute__((vector_size(64)));
typedef int32_t LanesInt __attribute__((vector_size(64)));
// Narrower vectors, for the elements after the last full Lanes.
typedef float EightLanes __attribute__((vector_size(32)));
typedef float FourLanes __attribute__((vector_size(16)));

#define CAFFE2RT_LANES_INLINE inline __attribute__((always_inline))

CAFFE2RT_LANES_INLINE void Load(const float* x, Lanes& v) { std::memcpy(&v, x, sizeof(v)); }
CAFFE2RT_LANES_INLINE void Store(const Lanes& v, float* y) { std::memcpy(y, &v, sizeof(v)); }
CAFFE2RT_LANES_INLINE void Fill(float value, Lanes& v) { v = Lanes{} + value; }
// Loads the first `n` lanes from memory and sets the others to `rest`. REQUIRES: n <= kLanes.
CAFFE2RT_LANES_INLINE void LoadFirst(const float* x, int64_t n, float rest, Lanes& v) {
  Fill(rest, v);
  for (int64_t i = 0; i < n; ++i) v[i] = x[i];
}
CAFFE2RT_LANES_INLINE void StoreFirst(const Lanes& v, int64_t n, float* y) {
  for (int64_t i = 0; i < n; ++i) y[i] = v[i];
}

// v = a where all bits of the mask are set, b where none is.
CAFFE2RT_LANES_INLINE void Select(const LanesInt& mask, const Lanes& a, const Lanes& b, Lanes& v) {
  v = (Lanes)((mask & (LanesInt)a) | (~mask & (LanesInt)b));
}
// v = max(v, x). A NaN in x is ignored.
CAFFE2RT_LANES_INLINE void Maximum(const Lanes& x, Lanes& v) { v = x > v ? x : v; }

CAFFE2RT_LANES_INLINE float Sum(const Lanes& v) {
  float half[8], quarter[4];
  for (int i = 0; i < 8; ++i) half[i] = v[i] + v[i + 8];
  for (int i = 0; i < 4; ++i) quarter[i] = half[i] + half[i + 4];
  return (quarter[0] + quarter[2]) + (quarter[1] + quarter[3]);
}
CAFFE2RT_LANES_INLINE float Largest(const Lanes& v) {
  float largest = v[0];
  for (int i = 1; i < kLanes; ++i) largest = v[i] > largest ? v[i] : largest;
  return largest;
}

// v = exp(v), the same values as Exp, except that a result below the smallest normal number becomes
// 0: processors are slow with denormal numbers.
CAFFE2RT_LANES_INLINE void Exp(Lanes& v) {
  constexpr float kLowest = -87.336548f;
  const LanesInt tiny = v < kLowest;
  internal::ReplaceByExp<Lanes, LanesInt>(v, kLowest);
  v = (Lanes)((LanesInt)v & ~tiny);
}

}  // namespace caffe2rt::math
