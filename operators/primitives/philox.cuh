#pragma once
// Random fills on CUDA. The seed, or the stream of the run, comes from the context. `draws` is the
// number of blocks of four words that have been used of the seed; the caller keeps it between runs.

#include <cstdint>

#include "contexts/cuda/cuda_kernel.cuh"
#include "operators/primitives/philox.h"

namespace caffe2rt::math {

// Thread i computes elements 4 i to 4 i + 3 of n from one block: make(block, first element, number
// of elements).
template <class Make>
struct PhiloxKernel {
  uint32_t seed;
  uint64_t first;
  int64_t n;
  Make make;
  CAFFE2RT_HOST_DEVICE void operator()(int64_t i) const {
    const int64_t rest = n - 4 * i;
    make(Philox(seed, first + static_cast<uint64_t>(i)), 4 * i, rest < 4 ? rest : 4);
  }
};

// Calls make(block, first element, number of elements) for every group of four of the n elements.
template <class Make>
void ForEachDraw(CUDAContext& context, uint64_t* draws, int64_t n, const Make& make,
                 const char* name) {
  const int64_t blocks = (n + 3) / 4;
  const RandomBlocks taken = TakeRandomBlocks(context, draws, static_cast<uint64_t>(blocks));
  ForEach(context, blocks, PhiloxKernel<Make>{taken.seed, taken.first, n, make}, name);
}

struct MakeUniform {
  float low, range;
  float* y;
  CAFFE2RT_HOST_DEVICE void operator()(const PhiloxBlock& block, int64_t place,
                                       int64_t count) const {
    for (int64_t k = 0; k < count; ++k) y[place + k] = UnitFloat(block.word[k]) * range + low;
  }
};

// Integers in [low, low + range).
struct MakeUniformInt {
  int32_t low;
  uint64_t range;
  int32_t* y;
  CAFFE2RT_HOST_DEVICE void operator()(const PhiloxBlock& block, int64_t place,
                                       int64_t count) const {
    for (int64_t k = 0; k < count; ++k) {
      y[place + k] = static_cast<int32_t>(low + static_cast<int64_t>(block.word[k] % range));
    }
  }
};

struct MakeNormal {
  float mean, std;
  float* y;
  CAFFE2RT_HOST_DEVICE void operator()(const PhiloxBlock& block, int64_t place,
                                       int64_t count) const {
    float normal[4];
    NormalPair(block.word[0], block.word[1], &normal[0], &normal[1]);
    NormalPair(block.word[2], block.word[3], &normal[2], &normal[3]);
    for (int64_t k = 0; k < count; ++k) y[place + k] = normal[k] * std + mean;
  }
};

}  // namespace caffe2rt::math
