#include "operators/primitives/random.h"

#include <cmath>

namespace caffe2rt::math {

namespace {

// Converts 24 bits to a float in [0, 1). Every such value is exact.
float Unit(Generator& generator) {
  return static_cast<float>(generator() & 0xffffffu) * (1.0f / 16777216.0f);
}

}  // namespace

float UniformFloat(Generator& generator, float low, float high) {
  return Unit(generator) * (high - low) + low;
}

int32_t UniformInt(Generator& generator, int32_t low, int32_t high) {
  const uint64_t range = static_cast<uint64_t>(int64_t{high} - int64_t{low} + 1);
  return static_cast<int32_t>(int64_t{low} + static_cast<int64_t>(generator() % range));
}

uint64_t UniformBelow(Generator& generator, uint64_t bound) {
  uint64_t draw = generator();
  if (bound > 0xffffffffu) draw = (draw << 32) | generator();
  return draw % bound;
}

void FillUniform(Generator& generator, size_t n, float low, float high, float* y) {
  const float range = high - low;
  for (size_t i = 0; i < n; ++i) y[i] = Unit(generator) * range + low;
}

void FillUniform(Generator& generator, size_t n, int32_t low, int32_t high, int32_t* y) {
  for (size_t i = 0; i < n; ++i) y[i] = UniformInt(generator, low, high);
}

void FillNormal(Generator& generator, size_t n, float mean, float std, float* y) {
  constexpr float kTwoPi = 6.28318530717958647692f;
  for (size_t i = 0; i < n; i += 2) {
    const float u1 = Unit(generator);
    const float u2 = Unit(generator);
    const float r = std::sqrt(-2.0f * std::log1p(-u2));
    y[i] = r * std::cos(kTwoPi * u1) * std + mean;
    if (i + 1 < n) y[i + 1] = r * std::sin(kTwoPi * u1) * std + mean;
  }
}

}  // namespace caffe2rt::math
