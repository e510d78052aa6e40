#pragma once
// Philox4x32-10: a random number generator that computes each block of numbers from a counter and a
// key (Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2, 3", 2011). It
// gives the same numbers on host and device.
//
//   const PhiloxBlock block = Philox(seed, draw);     // four 32-bit numbers, a pure function
//
// The generator has no state besides the counter, so any thread can compute element i. The caller
// keeps the number of blocks it has used, and continues from there on the next run.

#include <cmath>
#include <cstdint>

#include "caffe2_core/base/simd.h"

namespace caffe2rt::math {

struct PhiloxBlock {
  uint32_t word[4];
};

// Applies ten rounds to a counter of four words, with a key of two words.
CAFFE2RT_SIMD_INLINE inline PhiloxBlock Philox4x32(PhiloxBlock counter, uint32_t key0,
                                                   uint32_t key1) {
  constexpr uint64_t kMultiplier0 = 0xD2511F53u, kMultiplier1 = 0xCD9E8D57u;
  constexpr uint32_t kWeyl0 = 0x9E3779B9u, kWeyl1 = 0xBB67AE85u;
  for (int round = 0; round < 10; ++round) {
    const uint64_t even = kMultiplier0 * counter.word[0];
    const uint64_t odd = kMultiplier1 * counter.word[2];
    counter = {
        {static_cast<uint32_t>(odd >> 32) ^ counter.word[1] ^ key0, static_cast<uint32_t>(odd),
         static_cast<uint32_t>(even >> 32) ^ counter.word[3] ^ key1, static_cast<uint32_t>(even)}};
    key0 += kWeyl0;
    key1 += kWeyl1;
  }
  return counter;
}

// Block `index` of the sequence for `seed`.
CAFFE2RT_SIMD_INLINE inline PhiloxBlock Philox(uint32_t seed, uint64_t index) {
  return Philox4x32({{static_cast<uint32_t>(index), static_cast<uint32_t>(index >> 32), 0, 0}},
                    seed, 0);
}

// Converts the upper 24 bits of a word to a float in [0, 1). Every such value is exact.
CAFFE2RT_SIMD_INLINE inline float UnitFloat(uint32_t word) {
  return static_cast<float>(word >> 8) * (1.0f / 16777216.0f);
}

// Computes two independent numbers of the standard normal distribution from two words (Box-Muller).
CAFFE2RT_SIMD_INLINE inline void NormalPair(uint32_t first, uint32_t second, float* y0, float* y1) {
  constexpr float kTwoPi = 6.28318530717958647692f;
  const float angle = kTwoPi * UnitFloat(first);
  const float radius = std::sqrt(-2.0f * std::log1p(-UnitFloat(second)));
  *y0 = radius * std::cos(angle);
  *y1 = radius * std::sin(angle);
}

}  // namespace caffe2rt::math
