#pragma once
// Random fills on the CPU. Every value is a fixed function of the generator's output, so a seed
// gives the same values on every machine and with every standard library. The distributions of the
// C++ standard library do not guarantee this.
//
//   uniform float  a + (b - a) * (24 low bits) / 2^24
//   uniform int    a + draw mod (b - a + 1)
//   normal         Box-Muller on pairs u1, u2:  r cos(2 pi u1), r sin(2 pi u1)
//                  with r = sqrt(-2 log(1 - u2))
//
// For the same seed, these are the sequences of the last version of Caffe2.

#include <cstddef>
#include <cstdint>
#include <random>

#pragma GCC visibility push(default)
namespace caffe2rt::math {

using Generator = std::mt19937;

// In [low, high).
float UniformFloat(Generator& generator, float low, float high);
// In [low, high], both ends included. REQUIRES: low <= high.
int32_t UniformInt(Generator& generator, int32_t low, int32_t high);
// In [0, bound). REQUIRES: bound > 0.
uint64_t UniformBelow(Generator& generator, uint64_t bound);

void FillUniform(Generator& generator, size_t n, float low, float high, float* y);
void FillUniform(Generator& generator, size_t n, int32_t low, int32_t high, int32_t* y);
void FillNormal(Generator& generator, size_t n, float mean, float std, float* y);

}  // namespace caffe2rt::math
#pragma GCC visibility pop
