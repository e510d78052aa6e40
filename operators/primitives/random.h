#pragma once
// Random fills. Every value is a fixed function of the generator's output, so that a seed gives the
// same values on every machine and with every standard library (the standard's own distributions do
// not promise that):
//
//   uniform float  a + (b - a) * (24 low bits) / 2^24
//   uniform int    a + draw mod (b - a + 1)
//   normal         Box-Muller on pairs u1, u2:  r cos(2 pi u1), r sin(2 pi u1)  with  r = sqrt(-2
//   log(1 - u2))
//
// These are the sequences of the last Caffe2 for the same seed.

#include <cstddef>
#include <cstdint>
#include <random>

namespace caffe2rt::math {

using Generator = std::mt19937;

// In [low, high).
float UniformFloat(Generator& generator, float low, float high);
// In [low, high], both included. REQUIRES: low <= high.
int32_t UniformInt(Generator& generator, int32_t low, int32_t high);
// In [0, bound). REQUIRES: bound > 0.
uint64_t UniformBelow(Generator& generator, uint64_t bound);

void FillUniform(Generator& generator, size_t n, float low, float high, float* y);
void FillUniform(Generator& generator, size_t n, int32_t low, int32_t high, int32_t* y);
void FillNormal(Generator& generator, size_t n, float mean, float std, float* y);

}  // namespace caffe2rt::math
