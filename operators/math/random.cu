// CUDA implementation of random_vectors.h. One thread uses one block of four random words.
// Exact: uniform numbers are a function of the seed that a program can compute on the host.

#include "caffe2_core/base/enforce.h"
#include "contexts/cuda/cuda_kernel.cuh"
#include "operators/math/cuda.h"
#include "operators/primitives/philox.h"

namespace caffe2rt::math::internal {

namespace {

constexpr uint32_t kKey = 1;  // built-in operators use key 0

template <class T>
struct Uniform {
  uint32_t seed;
  uint64_t first;
  int64_t n;
  T a, b;
  T* r;
  CAFFE2RT_HOST_DEVICE void operator()(int64_t block) const {
    const uint64_t at = first + static_cast<uint64_t>(block);
    const PhiloxBlock words = Philox4x32(
        {{static_cast<uint32_t>(at), static_cast<uint32_t>(at >> 32), 0, 0}}, seed, kKey);
    for (int64_t i = 0; i < 4 && block * 4 + i < n; ++i) {
      T& to = r[block * 4 + i];
      if constexpr (std::is_integral_v<T>) {
        const uint64_t range = static_cast<uint64_t>(b) - static_cast<uint64_t>(a) + 1;
        to = static_cast<T>(static_cast<uint64_t>(a) + words.word[i] % range);
      } else {
        to = static_cast<T>(UnitFloat(words.word[i])) * (b - a) + a;
      }
    }
  }
};

template <class T>
struct Gaussian {
  uint32_t seed;
  uint64_t first;
  int64_t n;
  T mean, std;
  T* r;
  CAFFE2RT_HOST_DEVICE void operator()(int64_t block) const {
    const uint64_t at = first + static_cast<uint64_t>(block);
    const PhiloxBlock words = Philox4x32(
        {{static_cast<uint32_t>(at), static_cast<uint32_t>(at >> 32), 0, 0}}, seed, kKey);
    float values[4];
    NormalPair(words.word[0], words.word[1], values, values + 1);
    NormalPair(words.word[2], words.word[3], values + 2, values + 3);
    for (int64_t i = 0; i < 4 && block * 4 + i < n; ++i) {
      r[block * 4 + i] = static_cast<T>(values[i]) * std + mean;
    }
  }
};

}  // namespace

// g++ takes the visibility of a function template from its definition.
#pragma GCC visibility push(default)
template <class T>
void CudaRandUniform(CUDAContext& context, size_t n, T a, T b, T* r) {
  CAFFE_ENFORCE(a <= b, "random numbers from ", a, " to ", b, ", want a range");
  const int64_t blocks = static_cast<int64_t>((n + 3) / 4);
  const RandomBlocks taken = TakeRandomBlocks(context, nullptr, static_cast<uint64_t>(blocks));
  ForEach(context, blocks,
          Uniform<T>{taken.seed, taken.first, static_cast<int64_t>(n), a, b, r},
          "math::RandUniform");
}
template <class T>
void CudaRandGaussian(CUDAContext& context, size_t n, T mean, T std, T* r) {
  const int64_t blocks = static_cast<int64_t>((n + 3) / 4);
  const RandomBlocks taken = TakeRandomBlocks(context, nullptr, static_cast<uint64_t>(blocks));
  ForEach(context, blocks,
          Gaussian<T>{taken.seed, taken.first, static_cast<int64_t>(n), mean, std, r},
          "math::RandGaussian");
}

template void CudaRandUniform(CUDAContext&, size_t, float, float, float*);
template void CudaRandUniform(CUDAContext&, size_t, double, double, double*);
template void CudaRandUniform(CUDAContext&, size_t, int32_t, int32_t, int32_t*);
template void CudaRandGaussian(CUDAContext&, size_t, float, float, float*);
template void CudaRandGaussian(CUDAContext&, size_t, double, double, double*);
#pragma GCC visibility pop

}  // namespace caffe2rt::math::internal
