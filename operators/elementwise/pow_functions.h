#pragma once
// Powers of one number. The most frequent exponents use plain arithmetic.

#include <cmath>
#include <limits>

#include "caffe2_core/base/simd.h"

namespace caffe2rt {

struct Square {
  CAFFE2RT_SIMD_INLINE float operator()(float x) const { return x * x; }
};

struct ThirdPower {
  CAFFE2RT_SIMD_INLINE float operator()(float x) const { return x * x * x; }
};

struct Inverse {
  CAFFE2RT_SIMD_INLINE float operator()(float x) const { return 1.0f / x; }
};

// Like std::pow and unlike std::sqrt, the power 1/2 of -infinity is infinity, and that of -0 is +0.
struct SquareRoot {
  CAFFE2RT_SIMD_INLINE float operator()(float x) const {
    constexpr float kInfinity = std::numeric_limits<float>::infinity();
    const float root = std::sqrt(x) + 0.0f;
    return x == -kInfinity ? kInfinity : root;
  }
};

struct AnyPower {
  float exponent;
  CAFFE2RT_SIMD_INLINE float operator()(float x) const { return std::pow(x, exponent); }
};

struct PowerFunction {
  CAFFE2RT_SIMD_INLINE float operator()(float a, float b) const { return std::pow(a, b); }
};

// Calls act(f), where f(x) = x ^ exponent.
template <class Act>
void WithPower(float exponent, const Act& act) {
  if (exponent == 2.0f) return act(Square{});
  if (exponent == 0.5f) return act(SquareRoot{});
  if (exponent == -1.0f) return act(Inverse{});
  if (exponent == 3.0f) return act(ThirdPower{});
  act(AnyPower{exponent});
}

}  // namespace caffe2rt
