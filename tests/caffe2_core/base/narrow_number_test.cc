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

TEST(NarrowNumberTest, UsesTheBitsOfTheFormatAlone) {
  const struct {
    Format format;
    uint8_t bits;
    float number;
  } rows[] = {
      {Format::kInt4, 0xf1, 1.f},       {Format::kInt4, 0x78, -8.f},
      {Format::kUint4, 0xf3, 3.f},      {Format::kInt2, 0xfd, 1.f},
      {Format::kInt2, 0x07, -1.f},      {Format::kUint2, 0xfe, 2.f},
      {Format::kFloat4E2M1, 0xf2, 1.f}, {Format::kFloat4E2M1, 0x7a, -1.f},
  };
  for (const auto& row : rows) {
    EXPECT_EQ(NarrowToFloat(row.format, row.bits), row.number)
        << NarrowFormatName(row.format) << " " << int{row.bits};
  }
}

TEST(NarrowNumberTest, KnowsTheKindOfEachFormat) {
  const struct {
    Format format;
    const char* name;
    int bits;
    bool integer, is_signed;
  } rows[] = {
      {Format::kFloat8E4M3FN, "float8e4m3fn", 8, false, false},
      {Format::kFloat8E4M3FNUZ, "float8e4m3fnuz", 8, false, false},
      {Format::kFloat8E5M2, "float8e5m2", 8, false, false},
      {Format::kFloat8E5M2FNUZ, "float8e5m2fnuz", 8, false, false},
      {Format::kFloat8E8M0, "float8e8m0", 8, false, false},
      {Format::kFloat4E2M1, "float4e2m1", 4, false, false},
      {Format::kInt4, "int4", 4, true, true},
      {Format::kUint4, "uint4", 4, true, false},
      {Format::kInt2, "int2", 2, true, true},
      {Format::kUint2, "uint2", 2, true, false},
  };
  for (const auto& row : rows) {
    EXPECT_EQ(NarrowFormatName(row.format), row.name);
    EXPECT_EQ(NarrowBits(row.format), row.bits) << row.name;
    EXPECT_EQ(IsNarrowInteger(row.format), row.integer) << row.name;
    EXPECT_EQ(IsNarrowSigned(row.format), row.is_signed) << row.name;
  }
}

TEST(NarrowNumberTest, RoundsPowersOfTwoAtEachBound) {
  const struct {
    float x;
    NarrowRounding rounding;
    bool saturate;
    int bits;
  } rows[] = {
      {1.f, NarrowRounding::kUp, true, 127},
      {1.f, NarrowRounding::kNearest, true, 127},
      {-1.1f, NarrowRounding::kUp, true, 128},  // the sign is dropped
      {1.25f, NarrowRounding::kDown, true, 127},
      {0x1.fffffep127f, NarrowRounding::kUp, false, 0xff},
      {0x1.fffffep127f, NarrowRounding::kNearest, true, 0xfe},
      {0x1.4p127f, NarrowRounding::kNearest, false, 0xfe},
      {0x1p126f, NarrowRounding::kUp, true, 0xfd},
      {0x1.8p126f, NarrowRounding::kUp, true, 0xfe},
      {kInfinity, NarrowRounding::kDown, true, 0xff},
      {0.f, NarrowRounding::kUp, true, 0},
      {0x1p-127f, NarrowRounding::kNearest, true, 0},  // the smallest number
      {0x1.8p-127f, NarrowRounding::kNearest, true, 1},
  };
  for (const auto& row : rows) {
    EXPECT_EQ(int{FloatToNarrow(Format::kFloat8E8M0, row.x, row.saturate, row.rounding)}, row.bits)
        << row.x;
  }
}

TEST(NarrowNumberTest, IntegersAreCutOffTowardZero) {
  const struct {
    Format format;
    float x;
    int bits;
  } rows[] = {
      {Format::kInt4, 2.9f, 2},   {Format::kInt4, -2.9f, 14},    {Format::kUint4, 16.f, 0},
      {Format::kUint4, 17.5f, 1}, {Format::kInt2, -1.5f, 3},     {Format::kUint2, 4.f, 0},
      {Format::kInt4, -0.5f, 0},  {Format::kInt4, kInfinity, 0}, {Format::kUint4, -kInfinity, 0},
      {Format::kInt4, 1e30f, 0},
  };
  for (const auto& row : rows) {
    EXPECT_EQ(int{FloatToNarrow(row.format, row.x, true)}, row.bits)
        << NarrowFormatName(row.format) << " " << row.x;
  }
}

TEST(NarrowNumberTest, NaNHasTheBitsOfEachFormat) {
  const std::pair<Format, int> rows[] = {{Format::kFloat8E4M3FN, 0x7f},
                                         {Format::kFloat8E4M3FNUZ, 0x80},
                                         {Format::kFloat8E5M2FNUZ, 0x80},
                                         {Format::kFloat8E8M0, 0xff}};
  for (const auto& [format, bits] : rows) {
    for (const bool saturate : {true, false}) {
      EXPECT_EQ(int{FloatToNarrow(format, kNaN, saturate)}, bits) << NarrowFormatName(format);
    }
  }
  EXPECT_TRUE(std::isnan(
      NarrowToFloat(Format::kFloat8E5M2, FloatToNarrow(Format::kFloat8E5M2, kNaN, true))));
}

}  // namespace
}  // namespace caffe2rt::narrow_number_test
