#include "caffe2_core/base/bfloat16.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace caffe2rt::bfloat16_test {
namespace {

TEST(Bfloat16Test, ReadsEveryKindOfNumber) {
  EXPECT_EQ(float{bfloat16::FromBits(0x3f80)}, 1.f);
  EXPECT_EQ(float{bfloat16::FromBits(0xc000)}, -2.f);
  EXPECT_EQ(float{bfloat16::FromBits(0x0001)},
            std::ldexp(1.f, -133));  // the smallest subnormal value
  EXPECT_EQ(float{bfloat16::FromBits(0xff80)}, -std::numeric_limits<float>::infinity());
  EXPECT_TRUE(std::isnan(float{bfloat16::FromBits(0x7fc0)}));
}

TEST(Bfloat16Test, RoundsToNearestTiesToEven) {
  const float ulp = std::ldexp(1.f, -7);  // the distance between bfloat16 values at 1
  EXPECT_EQ(bfloat16(1 + ulp / 2).x, 0x3f80);
  EXPECT_EQ(bfloat16(1 + 3 * ulp / 2).x, 0x3f82);
  EXPECT_EQ(bfloat16(1 + ulp * 0.75f).x, 0x3f81);
  EXPECT_EQ(bfloat16(std::numeric_limits<float>::max()).x, 0x7f80);
  // A NaN whose mantissa lies in the lower half only.
  EXPECT_EQ(bfloat16(std::bit_cast<float>(0xff800001u)).x, 0xffc0);
}

TEST(Bfloat16Test, GivesEveryNumberBack) {
  for (uint32_t x = 0; x < 0x10000; ++x) {
    const bfloat16 number = bfloat16::FromBits(static_cast<uint16_t>(x));
    if (std::isnan(float{number})) continue;
    ASSERT_EQ(bfloat16(float{number}).x, x);
  }
}

TEST(Bfloat16Test, ConvertsEveryRangeOfFloats) {
  const struct {
    uint32_t bits;
    int want;
  } rows[] = {
      {0x00000000u, 0x0000}, {0x80000000u, 0x8000}, {0x7f800000u, 0x7f80},
      {0xff800000u, 0xff80},  // infinity
      {0xff7fffffu, 0xff80},  // rounded to infinity
      {0x7f7f7fffu, 0x7f7f},  // just below the middle
      {0x7f7f8000u, 0x7f80},  // a tie, to the even value
      {0x00008000u, 0x0000}, {0x00008001u, 0x0001}, {0x00018000u, 0x0002},  // subnormal
      {0xbf808000u, 0xbf80}, {0xbf818000u, 0xbf82}, {0xbf808001u, 0xbf81},
      {0x3fffffffu, 0x4000},  // the mantissa carries into the exponent
      {0x7f800001u, 0x7fc0}, {0x7fffffffu, 0x7fc0}, {0xffc12345u, 0xffc0},  // NaN
  };
  for (const auto& row : rows) {
    EXPECT_EQ(int{bfloat16(std::bit_cast<float>(row.bits)).x}, row.want) << std::hex << row.bits;
  }
}

}  // namespace
}  // namespace caffe2rt::bfloat16_test
