#include "caffe2_core/base/float16.h"

#include <gtest/gtest.h>

#include <cmath>
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

}  // namespace
}  // namespace caffe2rt::float16_test
