#pragma once
// What tests need that make calls of the fake's own.

#include <cstdlib>
#include <functional>

#include "fake_cuda/fake_cuda.h"
#include "tests/contexts/cuda/cuda_testing.h"

namespace caffe2rt::test {

// Runs `body` on a machine of this kind and ends the process; for the child of a death test, where
// nobody has used CUDA. Exits with 0 when no check failed.
[[noreturn]] inline void OnMachine(const FakeCudaConfig& config,
                                   const std::function<void()>& body) {
  fakecuda_reset(&config);
  body();
  const bool failed = testing::Test::HasFailure();
  fakecuda_set_unloading(0);
  std::exit(failed ? 1 : 0);
}

}  // namespace caffe2rt::test
