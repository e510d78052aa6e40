#pragma once
// Element functions of arithmetic, roots, exponentials and trigonometry. `unary_math.cc` lists
// them.

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/simd.h"
#include "caffe2_core/graph/arguments.h"
#include "operators/math/elementary.h"
#include "operators/math/wrapping.h"

namespace caffe2rt {

// A function without arguments.
#define CAFFE2RT_UNARY_FUNCTION(Name, expression)  \
  struct Name {                                    \
    explicit Name(const ArgumentHelper&) {}        \
    template <class T>                             \
    CAFFE2RT_SIMD_INLINE T operator()(T x) const { \
      return static_cast<T>(expression);           \
    }                                              \
  }

CAFFE2RT_UNARY_FUNCTION(Abs, std::abs(x));
CAFFE2RT_UNARY_FUNCTION(Acos, std::acos(x));
CAFFE2RT_UNARY_FUNCTION(Asin, std::asin(x));
CAFFE2RT_UNARY_FUNCTION(Atan, std::atan(x));
CAFFE2RT_UNARY_FUNCTION(Cbrt, std::cbrt(x));
CAFFE2RT_UNARY_FUNCTION(Ceil, std::ceil(x));
CAFFE2RT_UNARY_FUNCTION(Cos, std::cos(x));
CAFFE2RT_UNARY_FUNCTION(Cosh, std::cosh(x));
CAFFE2RT_UNARY_FUNCTION(Cube, math::WrappingMultiply(math::WrappingMultiply(x, x), x));
CAFFE2RT_UNARY_FUNCTION(Erf, std::erf(x));
CAFFE2RT_UNARY_FUNCTION(Exp, math::Exp(x));
CAFFE2RT_UNARY_FUNCTION(Floor, std::floor(x));
CAFFE2RT_UNARY_FUNCTION(Log, math::Log(x));
CAFFE2RT_UNARY_FUNCTION(Negative, math::WrappingNegate(x));
CAFFE2RT_UNARY_FUNCTION(Not, !x);
CAFFE2RT_UNARY_FUNCTION(Reciprocal, T(1) / x);
CAFFE2RT_UNARY_FUNCTION(Rsqrt, T(1) / std::sqrt(x));
// 0 for NaN.
CAFFE2RT_UNARY_FUNCTION(Sign, (x > T(0) ? T(1) : T(0)) - (x < T(0) ? T(1) : T(0)));
CAFFE2RT_UNARY_FUNCTION(Sin, std::sin(x));
CAFFE2RT_UNARY_FUNCTION(Sinh, std::sinh(x));
CAFFE2RT_UNARY_FUNCTION(Sqr, x* x);
CAFFE2RT_UNARY_FUNCTION(Sqrt, std::sqrt(x));
CAFFE2RT_UNARY_FUNCTION(Tan, std::tan(x));

#undef CAFFE2RT_UNARY_FUNCTION

struct Scale {
  float scale;
  explicit Scale(const ArgumentHelper& args)
      : scale(args.GetSingleArgument<float>("scale", 1.0f)) {}
  template <class T>
  CAFFE2RT_SIMD_INLINE T operator()(T x) const {
    return static_cast<T>(scale) * x;
  }
};

// The remainder of a division that truncates, which has the sign of x, or of one that rounds down,
// which has the divisor's.
struct Mod {
  int64_t divisor;
  bool follow;
  explicit Mod(const ArgumentHelper& args)
      : divisor(args.GetSingleArgument<int64_t>("divisor", 0)),
        follow(args.GetSingleArgument<bool>("sign_follow_divisor", false)) {
    CAFFE_ENFORCE_NE(divisor, 0, "argument divisor");
  }
  template <class T>
  CAFFE2RT_SIMD_INLINE T operator()(T x) const {
    if (divisor == -1) return 0;  // the smallest number has no counterpart
    int64_t rest = static_cast<int64_t>(x) % divisor;
    if (follow && rest != 0 && (rest > 0) != (divisor > 0)) rest += divisor;
    return static_cast<T>(rest);
  }
};

struct IsNaN {
  explicit IsNaN(const ArgumentHelper&) {}
  template <class T>
  CAFFE2RT_SIMD_INLINE uint8_t operator()(T x) const {
    return x != x ? 1 : 0;
  }
};

struct ReplaceNaN {
  float value;
  explicit ReplaceNaN(const ArgumentHelper& args)
      : value(args.GetSingleArgument<float>("value", 0.0f)) {}
  template <class T>
  CAFFE2RT_SIMD_INLINE T operator()(T x) const {
    return x != x ? static_cast<T>(value) : x;
  }
};

}  // namespace caffe2rt
