#pragma once

// Helpers for tests of the fake cuDNN.

#include <cudnn.h>
#include <gtest/gtest.h>

#include <cmath>
#include <initializer_list>
#include <random>
#include <vector>

#include "element/on_device.h"
#include "fake_cuda/fake_cuda.h"

namespace cudnn_test {

#define ASSERT_DNN(call) ASSERT_EQ(CUDNN_STATUS_SUCCESS, (call))
#define EXPECT_DNN(call) EXPECT_EQ(CUDNN_STATUS_SUCCESS, (call))

using Array = fakecuda::OnDevice<float>;

class TensorDescriptor {
 public:
  TensorDescriptor() { EXPECT_DNN(cudnnCreateTensorDescriptor(&descriptor_)); }
  TensorDescriptor(int n, int c, int h, int w, cudnnTensorFormat_t format = CUDNN_TENSOR_NCHW)
      : TensorDescriptor() {
    EXPECT_DNN(cudnnSetTensor4dDescriptor(descriptor_, format, CUDNN_DATA_FLOAT, n, c, h, w));
  }
  ~TensorDescriptor() { cudnnDestroyTensorDescriptor(descriptor_); }
  TensorDescriptor(const TensorDescriptor&) = delete;
  TensorDescriptor& operator=(const TensorDescriptor&) = delete;
  operator cudnnTensorDescriptor_t() const { return descriptor_; }

 private:
  cudnnTensorDescriptor_t descriptor_ = nullptr;
};

class CudnnTest : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_DNN(cudnnCreate(&handle_)); }
  void TearDown() override {
    EXPECT_DNN(cudnnDestroy(handle_));
    fakecuda_reset(nullptr);
  }
  std::vector<float> Random(size_t size) {
    std::vector<float> values(size);
    std::uniform_real_distribution<float> distribution(-1, 1);
    for (float& value : values) value = distribution(generator_);
    return values;
  }

  cudnnHandle_t handle_ = nullptr;
  std::mt19937 generator_{11};
  const float one_ = 1, zero_ = 0, two_ = 2;
};

inline void ExpectNear(const std::vector<float>& got, const std::vector<float>& want,
                       float tolerance = 1e-5f) {
  ASSERT_EQ(got.size(), want.size());
  for (size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], want[i], tolerance) << i;
}

inline float Dot(const std::vector<float>& a, const std::vector<float>& b) {
  float sum = 0;
  for (size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

}  // namespace cudnn_test
