#include "caffe2_core/base/narrow_number.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace caffe2rt::narrow_number_test {
namespace {

using Format = NarrowFormat;

constexpr Format kAll[] = {Format::kFloat8E4M3FN,   Format::kFloat8E4M3FNUZ, Format::kFloat8E5M2,
                           Format::kFloat8E5M2FNUZ, Format::kFloat8E8M0,     Format::kFloat4E2M1,
                           Format::kInt4,           Format::kUint4,          Format::kInt2,
                           Format::kUint2};
constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

// By ml_dtypes 0.5.
TEST(NarrowNumberTest, ReadsTheBitsOfEveryFormat) {
  struct Row {
    Format format;
    uint8_t bits;
    float number;
  };
  const std::vector<Row> rows = {
      {Format::kFloat8E4M3FN, 1, 0.001953125f},
      {Format::kFloat8E4M3FN, 0x38, 1.f},
      {Format::kFloat8E4M3FN, 0x7e, 448.f},
      {Format::kFloat8E4M3FN, 0x81, -0.001953125f},
      {Format::kFloat8E4M3FNUZ, 7, 0.0068359375f},
      {Format::kFloat8E4M3FNUZ, 0x38, 0.5f},
      {Format::kFloat8E4M3FNUZ, 0xff, -240.f},
      {Format::kFloat8E5M2, 1, 1.52587890625e-05f},
      {Format::kFloat8E5M2, 0x38, 0.5f},
      {Format::kFloat8E5M2, 0x7b, 57344.f},
      {Format::kFloat8E5M2, 0xfc, -kInfinity},
      {Format::kFloat8E5M2FNUZ, 8, 6.103515625e-05f},
      {Format::kFloat8E5M2FNUZ, 0x7f, 57344.f},
      {Format::kFloat8E8M0, 0, 5.877471754111438e-39f},
      {Format::kFloat8E8M0, 0x7b, 0.0625f},
      {Format::kFloat8E8M0, 0x81, 4.f},
      {Format::kFloat4E2M1, 1, 0.5f},
      {Format::kFloat4E2M1, 7, 6.f},
      {Format::kFloat4E2M1, 0xf, -6.f},
      {Format::kInt4, 7, 7.f},
      {Format::kInt4, 8, -8.f},
      {Format::kInt4, 0xff, -1.f},
      {Format::kUint4, 0xf, 15.f},
      {Format::kInt2, 2, -2.f},
      {Format::kUint2, 3, 3.f},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(NarrowToFloat(row.format, row.bits), row.number)
        << NarrowFormatName(row.format) << " " << int{row.bits};
  }
  for (const Format format : {Format::kFloat8E4M3FN, Format::kFloat8E5M2}) {
    EXPECT_TRUE(std::isnan(NarrowToFloat(format, 0x7f)));
  }
  for (const Format format : {Format::kFloat8E4M3FNUZ, Format::kFloat8E5M2FNUZ}) {
    EXPECT_TRUE(std::isnan(NarrowToFloat(format, 0x80)));
  }
  EXPECT_TRUE(std::isnan(NarrowToFloat(Format::kFloat8E8M0, 0xff)));
}

// By ml_dtypes 0.5, which does not saturate.
TEST(NarrowNumberTest, RoundsToNearestTiesToEven) {
  const float x[] = {
      0,   -0.f, 1,     -1.0625f, 1.1875f, 0.3f, 1e-4f, 0.001f, 0.0009765625f, 0.00146484375f, 448,
      464, 465,  57344, 61439,    61440,   2.5f, 3.5f,  5,      0.25f,         0.75f};
  struct Row {
    Format format;
    std::vector<int> bits;
  };
  const std::vector<Row> rows = {
      {Format::kFloat8E4M3FN,
       {0, 128, 56, 184, 58, 42, 0, 1, 0, 1, 126, 126, 127, 127, 127, 127, 66, 70, 74, 40, 52}},
      {Format::kFloat8E4M3FNUZ,
       {0, 0, 64, 192, 66, 50, 0, 1, 1, 2, 128, 128, 128, 128, 128, 128, 74, 78, 82, 48, 60}},
      {Format::kFloat8E5M2,
       {0, 128, 60, 188, 61, 53, 7, 20, 20, 22, 95, 95, 95, 123, 123, 124, 65, 67, 69, 52, 58}},
      {Format::kFloat8E5M2FNUZ,
       {0, 0, 64, 192, 65, 57, 11, 24, 24, 26, 99, 99, 99, 127, 127, 128, 69, 71, 73, 56, 62}},
      {Format::kFloat4E2M1, {0, 8, 2, 10, 2, 1, 0, 0, 0, 0, 7, 7, 7, 7, 7, 7, 4, 6, 6, 0, 2}},
  };
  for (const Row& row : rows) {
    for (size_t i = 0; i < row.bits.size(); ++i) {
      EXPECT_EQ(int{FloatToNarrow(row.format, x[i], /*saturate=*/false)}, row.bits[i])
          << NarrowFormatName(row.format) << " " << x[i];
    }
  }
}

TEST(NarrowNumberTest, SaturatesWhatIsOutOfRange) {
  EXPECT_EQ(FloatToNarrow(Format::kFloat8E4M3FN, -kInfinity, true), 0xfe);
  EXPECT_EQ(FloatToNarrow(Format::kFloat8E4M3FN, 1e6f, true), 0x7e);
  EXPECT_EQ(FloatToNarrow(Format::kFloat8E4M3FNUZ, -kInfinity, true), 0xff);
  EXPECT_EQ(FloatToNarrow(Format::kFloat8E4M3FNUZ, -kInfinity, false), 0x80);
  EXPECT_EQ(FloatToNarrow(Format::kFloat8E5M2, kInfinity, true), 0x7b);
  EXPECT_EQ(FloatToNarrow(Format::kFloat8E5M2, -kInfinity, false), 0xfc);
  EXPECT_EQ(FloatToNarrow(Format::kFloat4E2M1, -kInfinity, false), 0xf);
}

TEST(NarrowNumberTest, RoundsToPowersOfTwoAsAsked) {
  const auto bits = [](float x, NarrowRounding rounding) {
    return int{FloatToNarrow(Format::kFloat8E8M0, x, true, rounding)};
  };
  EXPECT_EQ(bits(1.1f, NarrowRounding::kUp), 128);
  EXPECT_EQ(bits(1.9f, NarrowRounding::kDown), 127);
  EXPECT_EQ(bits(1.4f, NarrowRounding::kNearest), 127);
  EXPECT_EQ(bits(1.5f, NarrowRounding::kNearest), 128);
  EXPECT_EQ(bits(std::numeric_limits<float>::max(), NarrowRounding::kUp), 0xfe);
  EXPECT_EQ(bits(kNaN, NarrowRounding::kUp), 0xff);
}

TEST(NarrowNumberTest, IntegersKeepTheirLowestBits) {
  EXPECT_EQ(FloatToNarrow(Format::kInt4, -9, true), 7);
  EXPECT_EQ(FloatToNarrow(Format::kInt4, 15.9f, true), 15);
  EXPECT_EQ(FloatToNarrow(Format::kUint4, -1, true), 15);
  EXPECT_EQ(FloatToNarrow(Format::kInt2, 5, true), 1);
  EXPECT_EQ(FloatToNarrow(Format::kUint2, -3, true), 1);
  EXPECT_EQ(FloatToNarrow(Format::kUint2, kNaN, true), 0);
}

TEST(NarrowNumberTest, GivesEveryNumberBack) {
  for (const Format format : kAll) {
    for (int bits = 0; bits < 1 << NarrowBits(format); ++bits) {
      const float number = NarrowToFloat(format, static_cast<uint8_t>(bits));
      if (std::isnan(number)) continue;
      ASSERT_EQ(int{FloatToNarrow(format, number, false, NarrowRounding::kDown)}, bits)
          << NarrowFormatName(format);
    }
  }
}

TEST(NarrowNumberTest, EveryFormatHasAName) {
  for (const Format format : kAll) EXPECT_EQ(NarrowFormatOfName(NarrowFormatName(format)), format);
  EXPECT_EQ(NarrowFormatOfName("float8"), std::nullopt);
}

}  // namespace
}  // namespace caffe2rt::narrow_number_test
