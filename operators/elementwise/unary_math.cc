// Arithmetic, roots, exponentials and trigonometry of one number: each is a struct in
// unary_functions.h and a row here.

#include "caffe2_core/graph/gradient.h"
#include "operators/elementwise/unary.h"
#include "operators/elementwise/unary_functions.h"

namespace caffe2rt {

namespace {

void RegisterRounding() {
  RegisterUnary<Abs, float>({.type = "Abs", .doc = "y = |x|."}, __FILE__);
  RegisterUnary<Sign, float, double, int32_t, int64_t>(
      {.type = "Sign", .doc = "y = -1, 0 or 1, as x is below, at or above 0; 0 for NaN."},
      __FILE__);
  RegisterUnary<Negative, float, double, int32_t, int64_t>(
      {.type = "Negative", .doc = "y = -x.", .inplace = true}, __FILE__);
  RegisterUnary<Floor, float>(
      {.type = "Floor", .doc = "y = the largest integer not above x.", .inplace = true}, __FILE__);
  RegisterUnary<Ceil, float>(
      {.type = "Ceil", .doc = "y = the smallest integer not below x.", .inplace = true}, __FILE__);
  RegisterUnary<Mod, int32_t, int64_t>(
      {.type = "Mod",
       .doc = "y = the remainder of x / divisor.",
       .inplace = true,
       .args = {{"divisor", "not 0", 0},
                {"sign_follow_divisor", "1: y has the divisor's sign; 0: that of x", 0}}},
      __FILE__);
  RegisterUnary<Not, bool>({.type = "Not", .doc = "y = not x."}, __FILE__);
  RegisterUnary<IsNaN, float, double>({.type = "IsNaN",
                                       .doc = "y = 1 where x is NaN, 0 elsewhere, as uint8.",
                                       .result = TensorProto::UINT8},
                                      __FILE__);
  RegisterUnary<ReplaceNaN, float, double>({.type = "ReplaceNaN",
                                            .doc = "y = value where x is NaN, x elsewhere.",
                                            .inplace = true,
                                            .args = {{"value", "what stands for NaN", 0}}},
                                           __FILE__);
}

void RegisterPowersAndExponentials() {
  RegisterUnary<Scale, float, double>({.type = "Scale",
                                       .doc = "y = scale * x.",
                                       .inplace = true,
                                       .args = {{"scale", "the factor", 1}}},
                                      __FILE__);
  RegisterUnary<Sqr, float>({.type = "Sqr", .doc = "y = x * x.", .inplace = true}, __FILE__);
  RegisterUnary<Cube, float, double, int32_t, int64_t>({.type = "Cube", .doc = "y = x * x * x."},
                                                       __FILE__);
  RegisterUnary<Sqrt, float, double>({.type = "Sqrt", .doc = "y = sqrt(x).", .inplace = true},
                                     __FILE__);
  RegisterUnary<Rsqrt, float>({.type = "Rsqrt", .doc = "y = 1 / sqrt(x).", .inplace = true},
                              __FILE__);
  RegisterUnary<Cbrt, float>({.type = "Cbrt", .doc = "y = the cube root of x.", .inplace = true},
                             __FILE__);
  RegisterUnary<Reciprocal, float>({.type = "Reciprocal", .doc = "y = 1 / x.", .inplace = true},
                                   __FILE__);
  RegisterUnary<Exp, float>({.type = "Exp", .doc = "y = exp(x).", .inplace = true}, __FILE__);
  RegisterUnary<Log, float>(
      {.type = "Log", .doc = "y = the natural logarithm of x.", .inplace = true}, __FILE__);
  RegisterUnary<Erf, float>({.type = "Erf", .doc = "y = the error function of x."}, __FILE__);
}

void RegisterTrigonometry() {
  RegisterUnary<Sin, float>({.type = "Sin", .doc = "y = sin(x)."}, __FILE__);
  RegisterUnary<Cos, float>({.type = "Cos", .doc = "y = cos(x)."}, __FILE__);
  RegisterUnary<Tan, float>({.type = "Tan", .doc = "y = tan(x)."}, __FILE__);
  RegisterUnary<Asin, float>({.type = "Asin", .doc = "y = arcsin(x)."}, __FILE__);
  RegisterUnary<Acos, float>({.type = "Acos", .doc = "y = arccos(x)."}, __FILE__);
  RegisterUnary<Atan, float>({.type = "Atan", .doc = "y = arctan(x)."}, __FILE__);
  RegisterUnary<Sinh, float>({.type = "Sinh", .doc = "y = sinh(x)."}, __FILE__);
  RegisterUnary<Cosh, float>({.type = "Cosh", .doc = "y = cosh(x)."}, __FILE__);
}

}  // namespace

void RegisterUnaryMath() {
  RegisterRounding();
  RegisterPowersAndExponentials();
  RegisterTrigonometry();
  // Not differentiable.
  for (const char* type : {"Sign", "Not", "ReplaceNaN"}) {
    RegisterGradient<ThrowInTheTowelIfGradientIsCalled>(type, __FILE__);
  }
  // Caffe2 has none either.
  for (const char* type : {"Floor", "Ceil"}) {
    RegisterGradient<GradientNotImplementedYet>(type, __FILE__);
  }
}

}  // namespace caffe2rt
