#include "caffe2_core/base/float16.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>

namespace caffe2rt::float16_test {
namespace {

TEST(Float16Test, ReadsEveryKindOfNumber) {
  EXPECT_EQ(float{float16::FromBits(0x3c00)}, 1.f);
  EXPECT_EQ(float{float16::FromBits(0xc000)}, -2.f);
  EXPECT_EQ(float{float16::FromBits(0x7bff)}, 65504.f);               // the largest value
  EXPECT_EQ(float{float16::FromBits(0x0400)}, std::ldexp(1.f, -14));  // the smallest normal value
  // The smallest subnormal value.
  EXPECT_EQ(float{float16::FromBits(0x0001)}, std::ldexp(1.f, -24));
  EXPECT_TRUE(std::signbit(float{float16::FromBits(0x8000)}));
  EXPECT_EQ(float{float16::FromBits(0xfc00)}, -std::numeric_limits<float>::infinity());
  EXPECT_TRUE(std::isnan(float{float16::FromBits(0x7e00)}));
}

TEST(Float16Test, RoundsToNearestTiesToEven) {
  const float ulp = std::ldexp(1.f, -10);  // the distance between float16 values at 1
  EXPECT_EQ(float16(1 + ulp / 2).x, 0x3c00);
  EXPECT_EQ(float16(1 + 3 * ulp / 2).x, 0x3c02);
  EXPECT_EQ(float16(65519.f).x, 0x7bff);
  EXPECT_EQ(float16(65520.f).x, 0x7c00);
  EXPECT_EQ(float16(std::ldexp(1.f, -25)).x, 0x0000);
  EXPECT_EQ(float16(std::ldexp(1.5f, -25)).x, 0x0001);
}

TEST(Float16Test, GivesEveryNumberBack) {
  for (uint32_t x = 0; x < 0x10000; ++x) {
    const float16 half = float16::FromBits(static_cast<uint16_t>(x));
    if (std::isnan(float{half})) continue;
    ASSERT_EQ(float16(float{half}).x, x);
  }
}

TEST(Float16Test, ConvertsEveryRangeOfFloats) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const float step = std::ldexp(1.f, -24);  // the distance between subnormal values
  const struct {
    float number;
    int bits;
  } rows[] = {
      {0.f, 0x0000},
      {-0.f, 0x8000},
      {kInfinity, 0x7c00},
      {-kInfinity, 0xfc00},
      {-65519.f, 0xfbff},
      {-65520.f, 0xfc00},
      {65535.f, 0x7c00},
      {1e30f, 0x7c00},
      {-std::numeric_limits<float>::max(), 0xfc00},
      {2049.f, 0x6800},  // a tie, to 2048
      {2051.f, 0x6802},  // a tie, to 2052
      {2050.5f, 0x6801},
      {2047.75f, 0x6800},  // the mantissa carries into the exponent
      {0.5f * step, 0x0000},
      {1.5f * step, 0x0002},
      {2.5f * step, 0x0002},
      {-1.25f * step, 0x8001},
      {-0.5f * step, 0x8000},
      {1023.f * step, 0x03ff},
      {1023.25f * step, 0x03ff},
      {1023.5f * step, 0x0400},  // the smallest normal value
      {1024.f * step, 0x0400},
      {std::numeric_limits<float>::denorm_min(), 0x0000},
  };
  for (const auto& row : rows) {
    EXPECT_EQ(int{float16(row.number).x}, row.bits) << row.number;
  }
}

TEST(Float16Test, NaNStaysNaN) {
  for (const uint32_t bits : {0x7f800001u, 0x7fc00000u, 0xff800001u, 0xffffffffu}) {
    const float nan = std::bit_cast<float>(bits);
    EXPECT_EQ(float16(nan).x, 0x7fff) << bits;
  }
  // The mantissa and the sign of the bits.
  EXPECT_EQ(std::bit_cast<uint32_t>(float{float16::FromBits(0xfe01)}), 0xffc02000u);
  EXPECT_EQ(std::bit_cast<uint32_t>(float{float16::FromBits(0x7c01)}) & 0x7f802000u, 0x7f802000u);
}

TEST(Float16Test, ReadsSubnormalValuesWithTheirSign) {
  for (int x = 1; x < 0x400; ++x) {
    const float want = static_cast<float>(x) * std::ldexp(1.f, -24);
    ASSERT_EQ(float{float16::FromBits(static_cast<uint16_t>(x))}, want);
    ASSERT_EQ(float{float16::FromBits(static_cast<uint16_t>(x | 0x8000))}, -want);
  }
}

}  // namespace
}  // namespace caffe2rt::float16_test
