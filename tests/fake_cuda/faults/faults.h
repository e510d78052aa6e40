#pragma once

// A fixture for tests of the fake's own features: each test starts with two small devices.

#include <gtest/gtest.h>

#include "fake_cuda/fake_cuda.h"

namespace faults {

class FaultsTest : public ::testing::Test {
 protected:
  void SetUp() override { Reset(Config(2)); }
  void TearDown() override { fakecuda_reset(nullptr); }
  static void Reset(FakeCudaConfig config) { fakecuda_reset(&config); }
  static FakeCudaConfig Config(int devices, size_t bytes = size_t{16} << 20) {
    FakeCudaConfig config = {};
    config.devices = devices;
    config.bytes_per_device = bytes;
    return config;
  }
  static float* Floats(size_t count) {
    void* ptr = nullptr;
    EXPECT_EQ(cudaMalloc(&ptr, count * sizeof(float)), cudaSuccess);
    return static_cast<float*>(ptr);
  }
  static cudaStream_t NewStream() {
    cudaStream_t stream = nullptr;
    EXPECT_EQ(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
    return stream;
  }
};

}  // namespace faults
