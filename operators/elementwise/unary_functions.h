#pragma once
// Unary arithmetic, roots, exponentials and trigonometry, and the table of their operators.

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <tuple>
#include <type_traits>

#include "caffe2_core/base/float16.h"
#include "caffe2_core/base/simd.h"
#include "operators/primitives/elementary.h"
#include "operators/primitives/function_table.h"
#include "operators/primitives/wrapping.h"

namespace caffe2rt {

struct Abs {
  CAFFE2RT_SIMD_INLINE float operator()(float x) const { return std::abs(x); }

  static constexpr GradientInputs kGradientInputs = GradientInputs::kXAndDy;
  CAFFE2RT_SIMD_INLINE float Gradient(float x, float dy) const {
    return x == 0.0f ? 0.0f : (x > 0.0f ? dy : -dy);
  }
};

// The smallest integer stays as it is.
struct AbsOfNumbers {
  template <class T>
  CAFFE2RT_SIMD_INLINE T operator()(T x) const {
    if constexpr (std::is_floating_point_v<T>) {
      return std::abs(x);
    } else if constexpr (std::is_unsigned_v<T>) {
      return x;
    } else {
      return x < 0 ? math::WrappingNegate(x) : x;
    }
  }
};

struct Acosh {
  CAFFE2RT_SIMD_INLINE float operator()(float x) const { return std::acosh(x); }

  static constexpr GradientInputs kGradientInputs = GradientInputs::kXAndDy;
  CAFFE2RT_SIMD_INLINE float Gradient(float x, float dy) const {
    return dy / std::sqrt(x * x - 1.0f);
  }
};

struct Asinh {
  CAFFE2RT_SIMD_INLINE float operator()(float x) const { return std::asinh(x); }

  static constexpr GradientInputs kGradientInputs = GradientInputs::kXAndDy;
  CAFFE2RT_SIMD_INLINE float Gradient(float x, float dy) const {
    return dy / std::sqrt(x * x + 1.0f);
  }
};

struct Atanh {
  CAFFE2RT_SIMD_INLINE float operator()(float x) const { return std::atanh(x); }

  static constexpr GradientInputs kGradientInputs = GradientInputs::kXAndDy;
  CAFFE2RT_SIMD_INLINE float Gradient(float x, float dy) const { return dy / (1.0f - x * x); }
};

struct Acos {
  CAFFE2RT_SIMD_INLINE float operator()(float x) const { return std::acos(x); }

  static constexpr GradientInputs kGradientInputs = GradientInputs::kXAndDy;
  CAFFE2RT_SIMD_INLINE float Gradient(float x, float dy) const {
    return -dy / std::sqrt(1.0f - x * x);
  }
};

struct Asin {
  CAFFE2RT_SIMD_INLINE float operator()(float x) const { return std::asin(x); }

  static constexpr GradientInputs kGradientInputs = GradientInputs::kXAndDy;
  CAFFE2RT_SIMD_INLINE float Gradient(float x, float dy) const {
    return dy / std::sqrt(1.0f - x * x);
  }
};

struct Atan {
  CAFFE2RT_SIMD_INLINE float operator()(float x) const { return std::atan(x); }

  static constexpr GradientInputs kGradientInputs = GradientInputs::kXAndDy;
  CAFFE2RT_SIMD_INLINE float Gradient(float x, float dy) const { return dy / (1.0f + x * x); }
};

struct Cbrt {
  CAFFE2RT_SIMD_INLINE float operator()(float x) const { return std::cbrt(x); }

  static constexpr GradientInputs kGradientInputs = GradientInputs::kDyAndY;
  CAFFE2RT_SIMD_INLINE float Gradient(float y, float dy) const { return dy / (3.0f * y * y); }
};

struct Ceil {
  template <class T>
  CAFFE2RT_SIMD_INLINE T operator()(T x) const {
    return std::ceil(x);
  }
};

struct Cos {
  CAFFE2RT_SIMD_INLINE float operator()(float x) const { return std::cos(x); }

  static constexpr GradientInputs kGradientInputs = GradientInputs::kXAndDy;
  CAFFE2RT_SIMD_INLINE float Gradient(float x, float dy) const { return -dy * std::sin(x); }
};

struct Cosh {
  CAFFE2RT_SIMD_INLINE float operator()(float x) const { return std::cosh(x); }

  static constexpr GradientInputs kGradientInputs = GradientInputs::kDyAndX;
  CAFFE2RT_SIMD_INLINE float Gradient(float x, float dy) const { return dy * std::sinh(x); }
};

struct Erf {
  CAFFE2RT_SIMD_INLINE float operator()(float x) const { return math::Erf(x); }

  static constexpr GradientInputs kGradientInputs = GradientInputs::kXAndDy;
  CAFFE2RT_SIMD_INLINE float Gradient(float x, float dy) const {
    return dy * 1.12837916709551257f * math::Exp(-x * x);
  }
};

struct Exp {
  CAFFE2RT_SIMD_INLINE float operator()(float x) const { return math::Exp(x); }
  CAFFE2RT_SIMD_INLINE double operator()(double x) const { return std::exp(x); }
};

struct Floor {
  template <class T>
  CAFFE2RT_SIMD_INLINE T operator()(T x) const {
    return std::floor(x);
  }
};

struct Log {
  CAFFE2RT_SIMD_INLINE float operator()(float x) const { return math::Log(x); }
  CAFFE2RT_SIMD_INLINE double operator()(double x) const { return std::log(x); }
};

// Halves are rounded to even numbers.
struct Round {
  template <class T>
  CAFFE2RT_SIMD_INLINE T operator()(T x) const {
    return std::nearbyint(x);
  }
};

struct BitwiseNot {
  template <class T>
  CAFFE2RT_SIMD_INLINE T operator()(T x) const {
    return static_cast<T>(~x);
  }
};

struct IsInf {
  static constexpr std::tuple kArguments{
      ArgumentSpec<bool>{"detect_negative", true, "1: negative infinity counts"},
      ArgumentSpec<bool>{"detect_positive", true, "1: positive infinity counts"}};
  bool negative, positive;
  template <class T>
  CAFFE2RT_SIMD_INLINE bool operator()(T x) const {
    constexpr T kInfinity = std::numeric_limits<T>::infinity();
    return (positive && x == kInfinity) || (negative && x == -kInfinity);
  }
};

struct Reciprocal {
  CAFFE2RT_SIMD_INLINE float operator()(float x) const { return 1.0f / x; }

  static constexpr GradientInputs kGradientInputs = GradientInputs::kYAndDy;
  CAFFE2RT_SIMD_INLINE float Gradient(float y, float dy) const { return -dy * y * y; }
};

struct Rsqrt {
  CAFFE2RT_SIMD_INLINE float operator()(float x) const { return 1.0f / std::sqrt(x); }

  static constexpr GradientInputs kGradientInputs = GradientInputs::kDyAndY;
  CAFFE2RT_SIMD_INLINE float Gradient(float y, float dy) const { return dy * -0.5f * y * y * y; }
};

struct Sin {
  CAFFE2RT_SIMD_INLINE float operator()(float x) const { return std::sin(x); }

  static constexpr GradientInputs kGradientInputs = GradientInputs::kXAndDy;
  CAFFE2RT_SIMD_INLINE float Gradient(float x, float dy) const { return dy * std::cos(x); }
};

struct Sinh {
  CAFFE2RT_SIMD_INLINE float operator()(float x) const { return std::sinh(x); }

  static constexpr GradientInputs kGradientInputs = GradientInputs::kDyAndX;
  CAFFE2RT_SIMD_INLINE float Gradient(float x, float dy) const { return dy * std::cosh(x); }
};

struct Sqr {
  CAFFE2RT_SIMD_INLINE float operator()(float x) const { return x * x; }
};

struct Tan {
  CAFFE2RT_SIMD_INLINE float operator()(float x) const { return std::tan(x); }

  static constexpr GradientInputs kGradientInputs = GradientInputs::kXAndDy;
  CAFFE2RT_SIMD_INLINE float Gradient(float x, float dy) const {
    const float cosine = std::cos(x);
    return dy / (cosine * cosine);
  }
};

struct Cube {
  template <class T>
  CAFFE2RT_SIMD_INLINE T operator()(T x) const {
    return math::WrappingMultiply(math::WrappingMultiply(x, x), x);
  }

  static constexpr GradientInputs kGradientInputs = GradientInputs::kDyAndX;
  template <class T>
  CAFFE2RT_SIMD_INLINE T Gradient(T x, T dy) const {
    return math::WrappingMultiply(math::WrappingMultiply(dy, math::WrappingMultiply(x, x)), T(3));
  }
};

struct Negative {
  template <class T>
  CAFFE2RT_SIMD_INLINE T operator()(T x) const {
    return math::WrappingNegate(x);
  }
};

struct Not {
  CAFFE2RT_SIMD_INLINE bool operator()(bool x) const { return !x; }
};

// NaN gives 0.
struct Sign {
  template <class T>
  CAFFE2RT_SIMD_INLINE T operator()(T x) const {
    return (x > T(0) ? T(1) : T(0)) - (x < T(0) ? T(1) : T(0));
  }
};

struct Sqrt {
  template <class T>
  CAFFE2RT_SIMD_INLINE T operator()(T x) const {
    return std::sqrt(x);
  }
};

inline constexpr ArgumentSpec<float> kScaleFactor{"scale", 1.0f, "the factor"};

struct Scale {
  static constexpr std::tuple kArguments{kScaleFactor};
  float scale;
  template <class T>
  CAFFE2RT_SIMD_INLINE T operator()(T x) const {
    return static_cast<T>(scale) * x;
  }
};

// The remainder of x / divisor. By default the division truncates, and the result has the sign of
// x. With sign_follow_divisor the division rounds down, and the result has the sign of the divisor.
struct Mod {
  static constexpr std::tuple kArguments{
      ArgumentSpec<int64_t>{.name = "divisor",
                            .doc = "the divisor",
                            .check = {[](int64_t divisor) { return divisor != 0; }, "not 0"},
                            .required = true},
      ArgumentSpec<bool>{"sign_follow_divisor", false,
                         "1: y has the sign of the divisor; 0: of x"}};
  int64_t divisor;
  bool follow;
  template <class T>
  CAFFE2RT_SIMD_INLINE T operator()(T x) const {
    if (divisor == -1) return 0;  // x / -1 would overflow for the smallest x
    int64_t rest = static_cast<int64_t>(x) % divisor;
    if (follow && rest != 0 && (rest > 0) != (divisor > 0)) rest += divisor;
    return static_cast<T>(rest);
  }
};

struct IsNaN {
  template <class T>
  CAFFE2RT_SIMD_INLINE uint8_t operator()(T x) const {
    return x != x ? 1 : 0;
  }
};

struct ReplaceNaN {
  static constexpr std::tuple kArguments{
      ArgumentSpec<float>{"value", 0.0f, "the value that replaces NaN"}};
  float value;
  template <class T>
  CAFFE2RT_SIMD_INLINE T operator()(T x) const {
    return x != x ? static_cast<T>(value) : x;
  }
};

inline constexpr ArgumentSpec<bool> kHalfClip{
    "clip", false, "FloatToHalf: 1: infinities and numbers out of range become the largest half"};

// Rounds to nearest, ties to even. The same values as float16's constructor, but without branches,
// so that compilers can vectorize it, and for devices too.
struct FloatToHalf {
  static constexpr std::tuple kArguments{kHalfClip};
  bool clip;
  CAFFE2RT_SIMD_INLINE float16 operator()(float x) const {
    const uint32_t bits = std::bit_cast<uint32_t>(x);
    const uint32_t magnitude = bits & 0x7fffffffu, infinity = clip ? 0x7bffu : 0x7c00u;
    // The addition of 0.5 rounds numbers below the smallest normal half to a multiple of 2^-24.
    const float shifted = std::bit_cast<float>(magnitude) + 0.5f;
    const uint32_t subnormal = std::bit_cast<uint32_t>(shifted) - 0x3f000000u;
    const uint32_t normal = (magnitude - 0x38000000u + 0xfffu + ((magnitude >> 13) & 1u)) >> 13;
    uint32_t half = magnitude < 0x38800000u ? subnormal : normal;
    half = magnitude >= 0x477ff000u ? infinity : half;
    half |= (bits >> 16) & 0x8000u;
    float16 result;
    result.x = static_cast<uint16_t>(magnitude > 0x7f800000u ? 0x7fffu : half);
    return result;
  }
};

struct HalfToFloat {
  static constexpr std::tuple kArguments{kHalfClip};
  bool clip;  // not used
  CAFFE2RT_SIMD_INLINE float operator()(float16 x) const {
    const uint32_t magnitude = x.x & 0x7fffu, sign = static_cast<uint32_t>(x.x & 0x8000u) << 16;
    const float subnormal = static_cast<float>(static_cast<int32_t>(magnitude)) * 0x1p-24f;
    // The exponent of infinities and NaN is moved by twice the difference of the biases.
    const uint32_t exponent = magnitude < 0x7c00u ? 112u << 23 : 224u << 23;
    const uint32_t normal = (magnitude << 13) + exponent;
    const uint32_t bits = magnitude < 0x400u ? std::bit_cast<uint32_t>(subnormal) : normal;
    return std::bit_cast<float>(bits | sign);
  }
};

// unary_math.cc registers the gradient makers of Exp, FloatToHalf, HalfToFloat, Log, Negative,
// Scale, Sqr and Sqrt, which use other operators.
inline constexpr FunctionTable kUnaryMath{
    // Signs and rounding.
    UnaryRow<Abs, float>{.type = "Abs", .doc = "y = |x|."},
    UnaryRow<Sign, float, double, int32_t, int64_t>{
        .type = "Sign",
        .doc = "y = -1 for x < 0, 1 for x > 0, 0 for 0 and NaN.",
        .gradient = GradientKind::kUndefined},
    UnaryRow<Negative, float, double, int32_t, int64_t>{
        .type = "Negative", .doc = "y = -x.", .inplace = true},
    UnaryRow<Floor, float>{.type = "Floor",
                                   .doc = "y = the largest integer not above x.",
                                   .inplace = true,
                                   .gradient = GradientKind::kNotImplemented},
    UnaryRow<Ceil, float>{.type = "Ceil",
                                  .doc = "y = the smallest integer not below x.",
                                  .inplace = true,
                                  .gradient = GradientKind::kNotImplemented},
    UnaryRow<Round, float, double>{.type = "Round",
                                   .doc = "y = the nearest integer; halves give even numbers.",
                                   .inplace = true,
                                   .gradient = GradientKind::kZero},
    UnaryRow<BitwiseNot, int32_t, int64_t, int8_t, int16_t, uint8_t, uint16_t>{
        .type = "BitwiseNot",
        .doc = "y = x with all bits inverted.",
        .inplace = true,
        .gradient = GradientKind::kUndefined,
        .traits = {.family = OperatorFamily::kOther}},
    UnaryRow<IsInf, float, double>{.type = "IsInf",
                                   .doc = "y = whether x is infinite, as bool.",
                                   .gradient = GradientKind::kUndefined,
                                   .traits = {.family = OperatorFamily::kOther}},
    // ONNX's types, which Caffe2's operators reject.
    UnaryRow<AbsOfNumbers, double, int32_t, int64_t, int8_t, int16_t, uint8_t>{
        .type = "ONNXAbs", .doc = "y = |x|.", .gradient = GradientKind::kNotImplemented},
    UnaryRow<Floor, double>{.type = "ONNXFloor",
                            .doc = "y = the largest integer not above x.",
                            .gradient = GradientKind::kNotImplemented},
    UnaryRow<Ceil, double>{.type = "ONNXCeil",
                           .doc = "y = the smallest integer not below x.",
                           .gradient = GradientKind::kNotImplemented},
    UnaryRow<Exp, double>{
        .type = "ONNXExp", .doc = "y = exp(x).", .gradient = GradientKind::kNotImplemented},
    UnaryRow<Log, double>{.type = "ONNXLog",
                          .doc = "y = the natural logarithm of x.",
                          .gradient = GradientKind::kNotImplemented},
    UnaryRow<Mod, int32_t, int64_t>{
        .type = "Mod", .doc = "y = the remainder of x / divisor.", .inplace = true},
    UnaryRow<Not, bool>{.type = "Not", .doc = "y = not x.", .gradient = GradientKind::kUndefined},
    UnaryRow<IsNaN, float, double>{.type = "IsNaN",
                                   .doc = "y = 1 where x is NaN, 0 elsewhere, as uint8.",
                                   .traits = {.family = OperatorFamily::kOther}},
    UnaryRow<ReplaceNaN, float, double>{.type = "ReplaceNaN",
                                        .doc = "y = value where x is NaN, x elsewhere.",
                                        .inplace = true,
                                        .gradient = GradientKind::kUndefined,
                                        .traits = {.family = OperatorFamily::kOther}},
    // Half precision.
    UnaryRow<FloatToHalf, float>{.type = "FloatToHalf",
                                 .doc = "y = x in half precision, rounded to nearest.",
                                 .traits = {.family = OperatorFamily::kOther}},
    UnaryRow<HalfToFloat, float16>{.type = "HalfToFloat",
                                   .doc = "y = x, which has half precision, as float.",
                                   .traits = {.family = OperatorFamily::kOther}},
    // Powers and exponentials.
    UnaryRow<Scale, float, double>{.type = "Scale",
                                   .doc = "y = scale * x.",
                                   .inplace = true,
                                   .traits = {.same_shape = true, .affine = AffineForm::kScale}},
    UnaryRow<Sqr, float>{.type = "Sqr", .doc = "y = x * x.", .inplace = true},
    UnaryRow<Cube, float, double, int32_t, int64_t>{.type = "Cube", .doc = "y = x * x * x."},
    UnaryRow<Sqrt, float, double>{.type = "Sqrt", .doc = "y = sqrt(x).", .inplace = true},
    UnaryRow<Rsqrt, float>{
        .type = "Rsqrt", .doc = "y = 1 / sqrt(x).", .inplace = true, .gradient_inplace = true},
    UnaryRow<Cbrt, float>{.type = "Cbrt",
                          .doc = "y = the cube root of x.",
                          .inplace = true,
                          .gradient_inplace = true,
                          .traits = {.family = OperatorFamily::kOther}},
    UnaryRow<Reciprocal, float>{
        .type = "Reciprocal", .doc = "y = 1 / x.", .inplace = true, .gradient_inplace = true},
    UnaryRow<Exp, float>{.type = "Exp", .doc = "y = exp(x).", .inplace = true},
    UnaryRow<Log, float>{
        .type = "Log", .doc = "y = the natural logarithm of x.", .inplace = true},
    UnaryRow<Erf, float>{.type = "Erf",
                         .doc = "y = the error function of x.",
                         .traits = {.family = OperatorFamily::kOther}},
    // Trigonometry.
    UnaryRow<Sin, float>{.type = "Sin", .doc = "y = sin(x)."},
    UnaryRow<Cos, float>{.type = "Cos", .doc = "y = cos(x)."},
    UnaryRow<Tan, float>{
        .type = "Tan", .doc = "y = tan(x).", .traits = {.family = OperatorFamily::kOther}},
    UnaryRow<Asin, float>{
        .type = "Asin", .doc = "y = arcsin(x).", .traits = {.family = OperatorFamily::kOther}},
    UnaryRow<Acos, float>{
        .type = "Acos", .doc = "y = arccos(x).", .traits = {.family = OperatorFamily::kOther}},
    UnaryRow<Acosh, float>{
        .type = "Acosh", .doc = "y = arcosh(x).", .traits = {.family = OperatorFamily::kOther}},
    UnaryRow<Asinh, float>{
        .type = "Asinh", .doc = "y = arsinh(x).", .traits = {.family = OperatorFamily::kOther}},
    UnaryRow<Atanh, float>{
        .type = "Atanh", .doc = "y = artanh(x).", .traits = {.family = OperatorFamily::kOther}},
    UnaryRow<Atan, float>{
        .type = "Atan", .doc = "y = arctan(x).", .traits = {.family = OperatorFamily::kOther}},
    UnaryRow<Sinh, float>{
        .type = "Sinh", .doc = "y = sinh(x).", .traits = {.family = OperatorFamily::kOther}},
    UnaryRow<Cosh, float>{
        .type = "Cosh", .doc = "y = cosh(x).", .traits = {.family = OperatorFamily::kOther}},
};

}  // namespace caffe2rt
