#pragma once
// float16: IEEE 754 binary16 (half precision), including subnormal numbers, infinities and NaN.

#include <bit>
#include <concepts>
#include <cstdint>

#include "caffe2_core/base/language.h"

#pragma GCC visibility push(default)
namespace caffe2rt {

// A storage type: arithmetic is done in float. Conversion from float rounds to nearest, ties to
// even.
struct float16 {
  uint16_t x;  // the bits

  float16() = default;
  float16(float f) {  // NOLINT: converts
    const uint32_t bits = std::bit_cast<uint32_t>(f);
    const uint32_t sign = (bits >> 16) & 0x8000u;
    const uint32_t magnitude = bits & 0x7fffffffu;
    if (magnitude > 0x7f800000u) {
      x = 0x7fff;
    } else if (magnitude >= 0x477ff000u) {
      x = static_cast<uint16_t>(sign | 0x7c00u);
    } else if (magnitude < 0x38800000u) {
      // Below the smallest normal half. The last mantissa bit of a float near 0.5 has the weight
      // 2^-24, that of the smallest subnormal half; so the addition of 0.5 does the rounding.
      const float shifted = std::bit_cast<float>(magnitude) + 0.5f;
      x = static_cast<uint16_t>(sign | (std::bit_cast<uint32_t>(shifted) - 0x3f000000u));
    } else {
      const uint32_t odd = (magnitude >> 13) & 1u;
      x = static_cast<uint16_t>(sign | ((magnitude - 0x38000000u + 0xfffu + odd) >> 13));
    }
  }
  // An integer could mean a value or its bits: pass a float, or call FromBits.
  template <std::integral T>
  float16(T) = delete;
  static constexpr float16 FromBits(uint16_t bits) {
    float16 h{};
    h.x = bits;
    return h;
  }

  operator float() const {  // NOLINT: converts
    const uint32_t sign = static_cast<uint32_t>(x & 0x8000u) << 16;
    uint32_t exponent = (x >> 10) & 0x1fu;
    uint32_t mantissa = x & 0x3ffu;
    if (exponent == 0x1f) return std::bit_cast<float>(sign | 0x7f800000u | (mantissa << 13));
    if (exponent == 0) {
      const float magnitude = static_cast<float>(mantissa) * 0x1p-24f;
      return sign != 0 ? -magnitude : magnitude;
    }
    return std::bit_cast<float>(sign | ((exponent + 112) << 23) | (mantissa << 13));
  }
};

}  // namespace caffe2rt
#pragma GCC visibility pop
