#pragma once
// Half precision: IEEE 754 binary16, subnormal numbers, infinities and NaN included.

#include <bit>
#include <concepts>
#include <cstdint>

namespace caffe2rt {

// Arithmetic happens in float, which it converts from (to nearest, ties to even) and to.
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
      // Below the smallest normal half: let the float unit round at the right place.
      const float shifted = std::bit_cast<float>(magnitude) + 0.5f;
      x = static_cast<uint16_t>(sign | (std::bit_cast<uint32_t>(shifted) - 0x3f000000u));
    } else {
      const uint32_t odd = (magnitude >> 13) & 1u;
      x = static_cast<uint16_t>(sign | ((magnitude - 0x38000000u + 0xfffu + odd) >> 13));
    }
  }
  // Bits or a number? Say FromBits, or give a float.
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
