#pragma once
// bfloat16: the upper half of a binary32, that is, its sign, its 8 bits of exponent and the first 7 of
// its mantissa.

#include <bit>
#include <concepts>
#include <cstdint>

#include "caffe2_core/base/language.h"

#pragma GCC visibility push(default)
namespace caffe2rt {

// A storage type: arithmetic is done in float. Conversion from float rounds to nearest, ties to even.
// Every NaN becomes 0x7fc0 with its sign, as a NaN cut off could become infinity.
struct bfloat16 {
  uint16_t x;  // the bits

  bfloat16() = default;
  bfloat16(float f) {  // NOLINT: converts
    const uint32_t bits = std::bit_cast<uint32_t>(f);
    if ((bits & 0x7fffffffu) > 0x7f800000u) {
      x = static_cast<uint16_t>(((bits >> 16) & 0x8000u) | 0x7fc0u);
    } else {
      const uint32_t odd = (bits >> 16) & 1u;
      x = static_cast<uint16_t>((bits + 0x7fffu + odd) >> 16);
    }
  }
  // An integer could mean a value or its bits: pass a float, or call FromBits.
  template <std::integral T>
  bfloat16(T) = delete;
  static constexpr bfloat16 FromBits(uint16_t bits) {
    bfloat16 b{};
    b.x = bits;
    return b;
  }

  operator float() const {  // NOLINT: converts
    return std::bit_cast<float>(static_cast<uint32_t>(x) << 16);
  }
};

}  // namespace caffe2rt
#pragma GCC visibility pop
