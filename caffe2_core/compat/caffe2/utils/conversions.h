#pragma once
// Half precision to float and back, and values by type.
#include <bit>
#include <cstdint>

#include "caffe2/core/types.h"

namespace caffe2 {
namespace convert {

inline float cpu_half2float(float16 h) {
  const uint32_t sign = static_cast<uint32_t>(h.x & 0x8000u) << 16;
  uint32_t exponent = (h.x >> 10) & 0x1fu;
  uint32_t mantissa = h.x & 0x3ffu;
  if (exponent == 0x1f) return std::bit_cast<float>(sign | 0x7f800000u | (mantissa << 13));
  if (exponent == 0) {
    const float magnitude = static_cast<float>(mantissa) * 0x1p-24f;
    return sign != 0 ? -magnitude : magnitude;
  }
  return std::bit_cast<float>(sign | ((exponent + 112) << 23) | (mantissa << 13));
}

// Rounds to nearest, ties to even.
inline float16 cpu_float2half_rn(float f) {
  const uint32_t bits = std::bit_cast<uint32_t>(f);
  const uint32_t sign = (bits >> 16) & 0x8000u;
  const uint32_t magnitude = bits & 0x7fffffffu;
  float16 h;
  if (magnitude > 0x7f800000u) {
    h.x = 0x7fff;
  } else if (magnitude >= 0x477ff000u) {
    h.x = static_cast<uint16_t>(sign | 0x7c00u);
  } else if (magnitude < 0x38800000u) {
    // Below the smallest normal half: let the float unit round at the right place.
    const float shifted = std::bit_cast<float>(magnitude) + 0.5f;
    h.x = static_cast<uint16_t>(sign | (std::bit_cast<uint32_t>(shifted) - 0x3f000000u));
  } else {
    const uint32_t odd = (magnitude >> 13) & 1u;
    h.x = static_cast<uint16_t>(sign | ((magnitude - 0x38000000u + 0xfffu + odd) >> 13));
  }
  return h;
}

template <class In, class Out>
inline Out To(const In& in) {
  if constexpr (std::is_same_v<In, float16> && std::is_same_v<Out, float16>) {
    return in;
  } else if constexpr (std::is_same_v<In, float16>) {
    return static_cast<Out>(cpu_half2float(in));
  } else if constexpr (std::is_same_v<Out, float16>) {
    return cpu_float2half_rn(static_cast<float>(in));
  } else {
    return static_cast<Out>(in);
  }
}
template <class Out, class In>
inline Out Get(In in) {
  return To<In, Out>(in);
}

}  // namespace convert
}  // namespace caffe2
