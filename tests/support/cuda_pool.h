#pragma once
// The memory pool of tests on CUDA, which the environment variable CAFFE2_TEST_CUDA_POOL names.

#include <cstdlib>

#include "contexts/cuda/cuda_options.h"

namespace caffe2rt::test {

// Selects the pool. Without the variable the library's default stays. THROWS if it names no pool.
// REQUIRES: CUDA has not been started.
inline void UsePoolOfEnvironment() {
  const char* const pool = std::getenv("CAFFE2_TEST_CUDA_POOL");
  if (pool != nullptr) GlobalCudaMemoryOptions().pool = ParseCudaMemoryPoolType(pool);
}

}  // namespace caffe2rt::test
