#pragma once
// Numbers of 8 bits and less: floating point (OCP's formats, and those without negative zero), and integers
// of 4 and 2 bits. They are formats of files: tensors hold such numbers as float, int8 or uint8.

#include <cstdint>
#include <optional>
#include <string_view>

#pragma GCC visibility push(default)
namespace caffe2rt {

enum class NarrowFormat {
  kFloat8E4M3FN,    // no infinity
  kFloat8E4M3FNUZ,  // neither infinity nor negative zero
  kFloat8E5M2,
  kFloat8E5M2FNUZ,
  kFloat8E8M0,  // powers of two, 2^-127 to 2^127
  kFloat4E2M1,  // neither infinity nor NaN
  kInt4,
  kUint4,
  kInt2,
  kUint2
};

enum class NarrowRounding { kNearest, kUp, kDown };  // of kFloat8E8M0 only

// "float8e4m3fn", "int4" and the like; nullopt for other texts.
std::string_view NarrowFormatName(NarrowFormat format);
std::optional<NarrowFormat> NarrowFormatOfName(std::string_view name);

int NarrowBits(NarrowFormat format);  // of a number: 8, 4 or 2
bool IsNarrowInteger(NarrowFormat format);
bool IsNarrowSigned(NarrowFormat format);

// The number that the lowest NarrowBits(format) bits stand for; other bits have no effect.
float NarrowToFloat(NarrowFormat format, uint8_t bits);

// The bits of the nearest number of the format, ties to even. What is out of range becomes the number of the
// largest magnitude with `saturate`, else infinity, or NaN where the format has none. Integers drop the
// fraction and keep the lowest bits, as casts between integers do; NaN becomes 0 where the format has none.
uint8_t FloatToNarrow(NarrowFormat format, float x, bool saturate,
                      NarrowRounding rounding = NarrowRounding::kUp);

}  // namespace caffe2rt
#pragma GCC visibility pop
