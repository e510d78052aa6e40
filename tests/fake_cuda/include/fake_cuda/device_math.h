#pragma once
// Makes kernels that are compiled as C++ compute like a device: results of mathematical functions of
// floats are off by as much as CUDA permits (CUDA C++ Programming Guide, "Mathematical Functions"),
// so that a test whose tolerance only the host's library meets fails without a GPU, too. Included by
// the command line before everything else, because it replaces the functions that <cmath> calls. For
// clang: libstdc++'s functions are constexpr for g++, which does not accept replacements that are not.
//
// A result that is a whole number, an infinity or not a number is left as it is: devices return the
// exact values of exp(0), log(1) or a saturated tanh as well.

namespace caffe2rt_device_math {

inline float Off(float exact, float x, int units) {
  constexpr float kWholeFrom = 8388608.f;  // 2^23: every larger float is a whole number
  if (!(exact > -kWholeFrom && exact < kWholeFrom)) return exact;
  if (exact == static_cast<float>(static_cast<int>(exact))) return exact;
  unsigned bits, argument;
  __builtin_memcpy(&bits, &exact, sizeof(bits));
  __builtin_memcpy(&argument, &x, sizeof(argument));
  // Some arguments give too much, others too little.
  const unsigned offset = static_cast<unsigned>(units);
  bits = (argument >> 3 & 1) != 0 ? bits + offset : bits - offset;
  __builtin_memcpy(&exact, &bits, sizeof(bits));
  return exact;
}

}  // namespace caffe2rt_device_math

#define CAFFE2RT_DEVICE_MATH(name, units)                                                     \
  extern "C" double caffe2rt_host_##name(double x) noexcept __asm__(#name);                   \
  inline float caffe2rt_device_##name##f(float x) {                                           \
    return caffe2rt_device_math::Off(static_cast<float>(caffe2rt_host_##name(x)), x, units); \
  }
CAFFE2RT_DEVICE_MATH(acos, 2)
CAFFE2RT_DEVICE_MATH(asin, 2)
CAFFE2RT_DEVICE_MATH(atan, 2)
CAFFE2RT_DEVICE_MATH(cbrt, 1)
CAFFE2RT_DEVICE_MATH(cos, 2)
CAFFE2RT_DEVICE_MATH(cosh, 2)
CAFFE2RT_DEVICE_MATH(erf, 2)
CAFFE2RT_DEVICE_MATH(erfc, 4)
CAFFE2RT_DEVICE_MATH(exp, 1)
CAFFE2RT_DEVICE_MATH(expm1, 1)
CAFFE2RT_DEVICE_MATH(log, 1)
CAFFE2RT_DEVICE_MATH(log1p, 1)
CAFFE2RT_DEVICE_MATH(sin, 2)
CAFFE2RT_DEVICE_MATH(sinh, 3)
CAFFE2RT_DEVICE_MATH(tan, 4)
CAFFE2RT_DEVICE_MATH(tanh, 2)
#undef CAFFE2RT_DEVICE_MATH

extern "C" double caffe2rt_host_pow(double x, double y) noexcept __asm__("pow");
inline float caffe2rt_device_powf(float x, float y) {
  return caffe2rt_device_math::Off(static_cast<float>(caffe2rt_host_pow(x, y)), x, 4);
}

// What the functions of std call.
#define __builtin_acosf caffe2rt_device_acosf
#define __builtin_asinf caffe2rt_device_asinf
#define __builtin_atanf caffe2rt_device_atanf
#define __builtin_cbrtf caffe2rt_device_cbrtf
#define __builtin_cosf caffe2rt_device_cosf
#define __builtin_coshf caffe2rt_device_coshf
#define __builtin_erff caffe2rt_device_erff
#define __builtin_erfcf caffe2rt_device_erfcf
#define __builtin_expf caffe2rt_device_expf
#define __builtin_expm1f caffe2rt_device_expm1f
#define __builtin_logf caffe2rt_device_logf
#define __builtin_log1pf caffe2rt_device_log1pf
#define __builtin_powf caffe2rt_device_powf
#define __builtin_sinf caffe2rt_device_sinf
#define __builtin_sinhf caffe2rt_device_sinhf
#define __builtin_tanf caffe2rt_device_tanf
#define __builtin_tanhf caffe2rt_device_tanhf
#include <cmath>
// Direct calls.
#define cosf(x) caffe2rt_device_cosf(x)
#define expf(x) caffe2rt_device_expf(x)
#define logf(x) caffe2rt_device_logf(x)
#define powf(x, y) caffe2rt_device_powf(x, y)
#define sinf(x) caffe2rt_device_sinf(x)
