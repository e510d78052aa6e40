// Pseudo-random generators: number i of a sequence is a function of the seed and i alone.

#include <curand.h>

#include <cmath>
#include <cstdint>

#include "element/live_handles.h"
#include "element/operation.h"

// The struct behind curandGenerator_t. Must be used by one thread at a time, as in cuRAND.
struct curandGenerator_st {
  cudaStream_t stream = nullptr;
  uint64_t seed = 0;
  uint64_t offset = 0;
  void* memory = nullptr;  // of "handle_bytes"
};

namespace fakecuda {
namespace {

constexpr double kPi = 3.14159265358979323846;

LiveHandles<curandGenerator_t>& TheLive() {
  static auto* live = new LiveHandles<curandGenerator_t>;
  return *live;
}

#define FAKECURAND_GENERATOR(generator) \
  if (!TheLive().Contains(generator)) return CURAND_STATUS_NOT_INITIALIZED

// SplitMix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators, 2014).
uint64_t Mix(uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

class Sequence {
 public:
  Sequence(uint64_t seed, uint64_t offset) : start_(Mix(seed + 1)), offset_(offset) {}
  uint64_t Bits(uint64_t i) const { return Mix(start_ + (offset_ + i + 1) * 0x9e3779b97f4a7c15u); }
  // In (0, 1].
  double Uniform(uint64_t i) const { return (static_cast<double>(Bits(i) >> 11) + 1) * 0x1.0p-53; }
  // Numbers 2k and 2k + 1 are a Box-Muller pair (Box and Muller, 1958).
  double Normal(uint64_t i) const {
    const uint64_t first = i & ~uint64_t{1};
    const double radius = std::sqrt(-2 * std::log(Uniform(first)));
    const double angle = 2 * kPi * Uniform(first + 1);
    return radius * (i == first ? std::cos(angle) : std::sin(angle));
  }

 private:
  uint64_t start_, offset_;
};

// Sets out[i] = value(sequence, i) in the order of the generator's stream.
template <class T, class Value>
curandStatus_t Fill(curandGenerator_t generator, const char* name, T* out, size_t count,
                    Value value) {
  FAKECURAND_GENERATOR(generator);
  if (count == 0) return CURAND_STATUS_SUCCESS;
  if (!CheckRange(name, "output", out, count * sizeof(T))) return CURAND_STATUS_LAUNCH_FAILURE;
  const Sequence sequence(generator->seed, generator->offset);
  generator->offset += count;
  const cudaError_t error = Enqueue(generator->stream, name, [=] {
    for (size_t i = 0; i < count; ++i) out[i] = static_cast<T>(value(sequence, i));
  });
  return error == cudaSuccess ? CURAND_STATUS_SUCCESS : CURAND_STATUS_LAUNCH_FAILURE;
}

template <class T>
curandStatus_t FillNormal(curandGenerator_t generator, const char* name, T* out, size_t count,
                          double mean, double deviation) {
  if (count % 2 != 0) return CURAND_STATUS_LENGTH_NOT_MULTIPLE;
  return Fill(generator, name, out, count, [=](const Sequence& sequence, size_t i) {
    return mean + deviation * sequence.Normal(i);
  });
}

template <class T>
curandStatus_t FillLogNormal(curandGenerator_t generator, const char* name, T* out, size_t count,
                             double mean, double deviation) {
  if (count % 2 != 0) return CURAND_STATUS_LENGTH_NOT_MULTIPLE;
  return Fill(generator, name, out, count, [=](const Sequence& sequence, size_t i) {
    return std::exp(mean + deviation * sequence.Normal(i));
  });
}

// The least k whose cumulative probability reaches u. For a large mean, a rounded normal number.
unsigned PoissonNumber(const Sequence& sequence, size_t i, double mean) {
  constexpr double kLarge = 500;
  if (mean > kLarge) {
    return static_cast<unsigned>(std::fmax(0, mean + std::sqrt(mean) * sequence.Normal(i) + 0.5));
  }
  const double u = sequence.Uniform(i);
  double share = std::exp(-mean), sum = share;
  unsigned k = 0;
  while (sum < u && share > 0) {
    share *= mean / ++k;
    sum += share;
  }
  return k;
}

}  // namespace
}  // namespace fakecuda

using namespace fakecuda;

extern "C" {

curandStatus_t curandCreateGenerator(curandGenerator_t* generator, curandRngType_t type) {
  if (generator == nullptr || type < CURAND_RNG_PSEUDO_DEFAULT || type >= CURAND_RNG_QUASI_DEFAULT)
    return CURAND_STATUS_TYPE_ERROR;
  int device = 0;
  if (!Begin(__func__) || cudaGetDevice(&device) != cudaSuccess) {
    return CURAND_STATUS_INITIALIZATION_FAILED;
  }
  void* memory = nullptr;
  if (!AllocateForHandle(&memory)) return CURAND_STATUS_ALLOCATION_FAILED;
  auto* made = new curandGenerator_st;
  made->memory = memory;
  TheLive().Add(made);
  *generator = made;
  return CURAND_STATUS_SUCCESS;
}

curandStatus_t curandDestroyGenerator(curandGenerator_t generator) {
  FAKECURAND_GENERATOR(generator);
  TheLive().Remove(generator);
  if (generator->memory != nullptr) cudaFree(generator->memory);
  delete generator;
  return CURAND_STATUS_SUCCESS;
}

curandStatus_t curandGetVersion(int* version) {
  if (version == nullptr) return CURAND_STATUS_OUT_OF_RANGE;
  *version = CURAND_VERSION;
  return CURAND_STATUS_SUCCESS;
}

curandStatus_t curandSetStream(curandGenerator_t generator, cudaStream_t stream) {
  FAKECURAND_GENERATOR(generator);
  if (!Begin(__func__)) return CURAND_STATUS_INTERNAL_ERROR;
  generator->stream = stream;
  return CURAND_STATUS_SUCCESS;
}

curandStatus_t curandSetPseudoRandomGeneratorSeed(curandGenerator_t generator,
                                                  unsigned long long seed) {
  FAKECURAND_GENERATOR(generator);
  generator->seed = seed;
  return CURAND_STATUS_SUCCESS;
}

curandStatus_t curandSetGeneratorOffset(curandGenerator_t generator, unsigned long long offset) {
  FAKECURAND_GENERATOR(generator);
  generator->offset = offset;
  return CURAND_STATUS_SUCCESS;
}

curandStatus_t curandGenerate(curandGenerator_t generator, unsigned int* out, size_t count) {
  return Fill(generator, __func__, out, count,
              [](const Sequence& sequence, size_t i) { return sequence.Bits(i) >> 32; });
}

curandStatus_t curandGenerateUniform(curandGenerator_t generator, float* out, size_t count) {
  return Fill(generator, __func__, out, count, [](const Sequence& sequence, size_t i) {
    return (static_cast<float>(sequence.Bits(i) >> 40) + 1) * 0x1.0p-24f;
  });
}

curandStatus_t curandGenerateUniformDouble(curandGenerator_t generator, double* out, size_t count) {
  return Fill(generator, __func__, out, count,
              [](const Sequence& sequence, size_t i) { return sequence.Uniform(i); });
}

curandStatus_t curandGenerateNormal(curandGenerator_t generator, float* out, size_t count,
                                    float mean, float deviation) {
  return FillNormal(generator, __func__, out, count, mean, deviation);
}

curandStatus_t curandGenerateNormalDouble(curandGenerator_t generator, double* out, size_t count,
                                          double mean, double deviation) {
  return FillNormal(generator, __func__, out, count, mean, deviation);
}

curandStatus_t curandGenerateLogNormal(curandGenerator_t generator, float* out, size_t count,
                                       float mean, float deviation) {
  return FillLogNormal(generator, __func__, out, count, mean, deviation);
}

curandStatus_t curandGenerateLogNormalDouble(curandGenerator_t generator, double* out, size_t count,
                                             double mean, double deviation) {
  return FillLogNormal(generator, __func__, out, count, mean, deviation);
}

curandStatus_t curandGeneratePoisson(curandGenerator_t generator, unsigned int* out, size_t count,
                                     double mean) {
  if (!(mean > 0)) return CURAND_STATUS_OUT_OF_RANGE;
  return Fill(generator, __func__, out, count,
              [=](const Sequence& sequence, size_t i) { return PoissonNumber(sequence, i, mean); });
}

}  // extern "C"
