// Objects compiled by nvcc on the fake: they load, host twins run, device code is rejected.

#include <gtest/gtest.h>

#include <vector>

#include "fake_cuda/fake_cuda.h"

cudaError_t LaunchWithoutTwin(float* data);
cudaError_t LaunchWithWrongShape(float* data);
cudaError_t LaunchWithTwin(float* data, long n, cudaStream_t stream);

namespace {

class NvccTest : public ::testing::Test {
 protected:
  void SetUp() override {
    void* ptr = nullptr;
    ASSERT_EQ(cudaMalloc(&ptr, 4 * sizeof(float)), cudaSuccess);
    data_ = static_cast<float*>(ptr);
  }
  void TearDown() override { fakecuda_reset(nullptr); }
  float* data_ = nullptr;
};

TEST_F(NvccTest, RejectsAKernelWithoutTwinByName) {
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(LaunchWithoutTwin(data_), cudaErrorInvalidDeviceFunction);
  const std::string text = ::testing::internal::GetCapturedStderr();
  EXPECT_NE(text.find("cannot run device code: kernel _Z11HandWrittenPf has no host twin"),
            std::string::npos)
      << text;
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);  // LaunchWithoutTwin cleared the launch's error
}

TEST_F(NvccTest, ChecksTheShapeOfALaunchFirst) {
  EXPECT_EQ(LaunchWithWrongShape(data_), cudaErrorInvalidConfiguration);
}

TEST_F(NvccTest, RunsAHostTwinInStreamOrder) {
  ASSERT_EQ(cudaMemset(data_, 0, 16), cudaSuccess);
  ASSERT_EQ(LaunchWithTwin(data_, 4, nullptr), cudaSuccess);
  ASSERT_EQ(LaunchWithTwin(data_, 2, nullptr), cudaSuccess);
  std::vector<float> values(4);
  ASSERT_EQ(cudaMemcpy(values.data(), data_, 16, cudaMemcpyDeviceToHost), cudaSuccess);
  EXPECT_EQ(values, (std::vector<float>{2, 2, 1, 1}));
}

}  // namespace
