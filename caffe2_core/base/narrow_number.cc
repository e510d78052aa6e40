#include "caffe2_core/base/narrow_number.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <iterator>
#include <limits>

namespace caffe2rt {
namespace {

// A format of floating point: a sign, an exponent, and the first digits of the mantissa.
struct FloatLayout {
  int mantissa = 0, bias = 0;
  uint8_t largest = 0;   // the bits of the largest number
  uint8_t infinity = 0;  // its bits, or 0
  uint8_t nan = 0;       // its bits, or 0
  bool negative_zero = true;
};

struct FormatRow {
  NarrowFormat format;
  std::string_view name;
  int bits;
  FloatLayout layout = {};
};

constexpr FormatRow kFormats[] = {
    {NarrowFormat::kFloat8E4M3FN, "float8e4m3fn", 8, {3, 7, 0x7e, 0, 0x7f}},
    {NarrowFormat::kFloat8E4M3FNUZ, "float8e4m3fnuz", 8, {3, 8, 0x7f, 0, 0x80, false}},
    {NarrowFormat::kFloat8E5M2, "float8e5m2", 8, {2, 15, 0x7b, 0x7c, 0x7f}},
    {NarrowFormat::kFloat8E5M2FNUZ, "float8e5m2fnuz", 8, {2, 16, 0x7f, 0, 0x80, false}},
    {NarrowFormat::kFloat8E8M0, "float8e8m0", 8},
    {NarrowFormat::kFloat4E2M1, "float4e2m1", 4, {1, 1, 0x7, 0, 0}},
    {NarrowFormat::kInt4, "int4", 4},
    {NarrowFormat::kUint4, "uint4", 4},
    {NarrowFormat::kInt2, "int2", 2},
    {NarrowFormat::kUint2, "uint2", 2}};

const FormatRow& RowOf(NarrowFormat format) {
  return *std::find_if(std::begin(kFormats), std::end(kFormats),
                       [&](const FormatRow& row) { return row.format == format; });
}

// The number of bits without a sign that are no NaN and no infinity.
float MagnitudeOf(const FloatLayout& layout, int bits) {
  const int exponent = bits >> layout.mantissa, fraction = bits & ((1 << layout.mantissa) - 1);
  const int implied = exponent == 0 ? 0 : 1 << layout.mantissa;
  return std::ldexp(static_cast<float>(implied + fraction),
                    std::max(exponent, 1) - layout.bias - layout.mantissa);
}

float FloatOf(const FloatLayout& layout, int bits, int width) {
  const int sign_bit = 1 << (width - 1), magnitude = bits & (sign_bit - 1);
  const float sign = (bits & sign_bit) != 0 ? -1.f : 1.f;
  if (layout.nan == 0x80 && bits == 0x80) return std::numeric_limits<float>::quiet_NaN();
  if (layout.infinity != 0 && magnitude == layout.infinity)
    return sign * std::numeric_limits<float>::infinity();
  if (magnitude > layout.largest) return std::numeric_limits<float>::quiet_NaN();
  return sign * MagnitudeOf(layout, magnitude);
}

uint8_t BitsOf(const FloatLayout& layout, int width, float x, bool saturate) {
  if (std::isnan(x)) return layout.nan;
  const auto sign = static_cast<uint8_t>(std::signbit(x) ? 1 << (width - 1) : 0);
  const float magnitude = std::fabs(x), largest = MagnitudeOf(layout, layout.largest);
  const auto beyond = [&]() {
    const bool limited = saturate || (layout.nan == 0 && layout.infinity == 0);
    const uint8_t bits = limited                ? layout.largest
                         : layout.infinity != 0 ? layout.infinity
                                                : layout.nan;
    return static_cast<uint8_t>(bits == 0x80 ? bits : bits | sign);
  };
  if (std::isinf(x)) return beyond();
  const int lowest = 1 - layout.bias;
  const int exponent = magnitude == 0 ? lowest : std::max(std::ilogb(magnitude), lowest);
  const float steps = std::nearbyint(std::ldexp(magnitude, layout.mantissa - exponent));
  if (std::ldexp(steps, exponent - layout.mantissa) > largest) return beyond();
  // A number rounded up to the next power of two carries into the exponent.
  const int bits = (exponent + layout.bias - 1) * (1 << layout.mantissa) + static_cast<int>(steps);
  if (bits == 0 && !layout.negative_zero) return 0;
  return static_cast<uint8_t>(bits | sign);
}

uint8_t PowerBitsOf(float x, bool saturate, NarrowRounding rounding) {
  const auto all = std::bit_cast<uint32_t>(x);
  const uint32_t exponent = (all >> 23) & 0xff, fraction = all & 0x7fffff;
  constexpr uint32_t kHalf = 0x400000;
  if (exponent == 0xff) return 0xff;
  const bool up = rounding == NarrowRounding::kUp ? fraction != 0
                  : rounding == NarrowRounding::kNearest
                      ? fraction > kHalf || (fraction == kHalf && exponent > 0)
                      : false;
  if (!up || (saturate && exponent == 0xfe)) return static_cast<uint8_t>(exponent);
  return static_cast<uint8_t>(exponent + 1);
}

}  // namespace

std::string_view NarrowFormatName(NarrowFormat format) { return RowOf(format).name; }

std::optional<NarrowFormat> NarrowFormatOfName(std::string_view name) {
  for (const FormatRow& row : kFormats) {
    if (row.name == name) return row.format;
  }
  return std::nullopt;
}

int NarrowBits(NarrowFormat format) { return RowOf(format).bits; }

bool IsNarrowInteger(NarrowFormat format) { return format >= NarrowFormat::kInt4; }

bool IsNarrowSigned(NarrowFormat format) {
  return format == NarrowFormat::kInt4 || format == NarrowFormat::kInt2;
}

float NarrowToFloat(NarrowFormat format, uint8_t bits) {
  const FormatRow& row = RowOf(format);
  const int kept = bits & ((1 << row.bits) - 1);
  if (IsNarrowInteger(format)) {
    const bool negative = IsNarrowSigned(format) && (kept >> (row.bits - 1)) != 0;
    return static_cast<float>(negative ? kept - (1 << row.bits) : kept);
  }
  if (format != NarrowFormat::kFloat8E8M0) return FloatOf(row.layout, kept, row.bits);
  return kept == 0xff ? std::numeric_limits<float>::quiet_NaN() : std::ldexp(1.f, kept - 127);
}

uint8_t FloatToNarrow(NarrowFormat format, float x, bool saturate, NarrowRounding rounding) {
  const FormatRow& row = RowOf(format);
  if (IsNarrowInteger(format)) {
    if (!std::isfinite(x)) return 0;
    const float modulus = static_cast<float>(1 << row.bits);
    const float rest = std::fmod(std::trunc(x), modulus);
    return static_cast<uint8_t>(static_cast<int>(rest) & ((1 << row.bits) - 1));
  }
  if (format == NarrowFormat::kFloat8E8M0) return PowerBitsOf(x, saturate, rounding);
  return BitsOf(row.layout, row.bits, x, saturate);
}

}  // namespace caffe2rt
