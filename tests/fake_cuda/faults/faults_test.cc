// Features of the fake that CUDA does not have: injected failures, paused streams, hooks.

#include "faults/faults.h"

namespace faults {
namespace {

struct Add {
  float* data;
  int count;
  float value;
  static void Run(void* self) {
    const auto* add = static_cast<Add*>(self);
    for (int i = 0; i < add->count; ++i) add->data[i] += add->value;
  }
  static void Release(void* self) { delete static_cast<Add*>(self); }
};

cudaError_t LaunchAdd(cudaStream_t stream, float* data, int count, float value) {
  return fakecuda_enqueue_host(stream, "add", &Add::Run, new Add{data, count, value},
                               &Add::Release);
}

float ReadOne(const float* data) {
  float value = 0;
  EXPECT_EQ(cudaMemcpy(&value, data, sizeof value, cudaMemcpyDeviceToHost), cudaSuccess);
  return value;
}

TEST_F(FaultsTest, FailsTheCallThatWasChosen) {
  fakecuda_fail("cudaMalloc", 2, 1, cudaErrorMemoryAllocation, 0);
  void* ptr[4];
  EXPECT_EQ(cudaMalloc(&ptr[0], 8), cudaSuccess);
  EXPECT_EQ(cudaMalloc(&ptr[1], 8), cudaSuccess);
  EXPECT_EQ(cudaMalloc(&ptr[2], 8), cudaErrorMemoryAllocation);
  EXPECT_EQ(cudaGetLastError(), cudaErrorMemoryAllocation);
  EXPECT_EQ(cudaMalloc(&ptr[2], 8), cudaSuccess);
  EXPECT_EQ(fakecuda_calls("cudaMalloc"), 4);
}

TEST_F(FaultsTest, FailsAnyCallByAStar) {
  fakecuda_fail("*", 1, 1, cudaErrorUnknown, 0);
  cudaEvent_t event;
  cudaStream_t stream;
  EXPECT_EQ(cudaEventCreate(&event), cudaSuccess);
  EXPECT_EQ(cudaStreamCreate(&stream), cudaErrorUnknown);
  EXPECT_EQ(cudaStreamCreate(&stream), cudaSuccess);
}

TEST_F(FaultsTest, KeepsAStickyErrorUntilTheDeviceIsReset) {
  fakecuda_fail("cudaMalloc", 0, 1, cudaErrorIllegalAddress, 1);
  void* ptr;
  EXPECT_EQ(cudaMalloc(&ptr, 8), cudaErrorIllegalAddress);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
  EXPECT_EQ(cudaGetLastError(), cudaErrorIllegalAddress);
  EXPECT_EQ(cudaGetLastError(), cudaErrorIllegalAddress);
  EXPECT_EQ(cudaSetDevice(1), cudaSuccess);  // the other device is not affected
  EXPECT_EQ(cudaMalloc(&ptr, 8), cudaSuccess);
  cudaSetDevice(0);
  EXPECT_EQ(cudaDeviceReset(), cudaSuccess);
  EXPECT_EQ(cudaMalloc(&ptr, 8), cudaSuccess);
}

TEST_F(FaultsTest, ShowsAnAsynchronousFailureAtTheNextWait) {
  float* data = Floats(4);
  cudaStream_t stream = NewStream();
  ASSERT_EQ(cudaMemset(data, 0, 16), cudaSuccess);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  fakecuda_fail_async(1, cudaErrorLaunchFailure);
  fakecuda_pause(stream);
  EXPECT_EQ(LaunchAdd(stream, data, 4, 1), cudaSuccess);
  EXPECT_EQ(LaunchAdd(stream, data, 4, 1), cudaSuccess);  // this one fails
  EXPECT_EQ(LaunchAdd(stream, data, 4, 1), cudaSuccess);
  fakecuda_resume(stream);
  EXPECT_EQ(cudaStreamSynchronize(stream), cudaErrorLaunchFailure);
  EXPECT_EQ(cudaStreamSynchronize(stream), cudaErrorLaunchFailure);
}

TEST_F(FaultsTest, HoldsAPausedStream) {
  float* data = Floats(4);
  cudaStream_t stream = NewStream(), other = NewStream();
  ASSERT_EQ(cudaMemsetAsync(data, 0, 16, stream), cudaSuccess);
  ASSERT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  fakecuda_pause(stream);
  ASSERT_EQ(LaunchAdd(stream, data, 4, 1), cudaSuccess);
  ASSERT_EQ(cudaStreamSynchronize(other), cudaSuccess);
  EXPECT_EQ(cudaStreamQuery(stream), cudaErrorNotReady);
  EXPECT_EQ(cudaStreamSynchronize(nullptr), cudaSuccess);  // the legacy stream does not wait for it
  fakecuda_resume(stream);
  ASSERT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  EXPECT_EQ(ReadOne(data), 1);
}

TEST_F(FaultsTest, RunsAHookJustBeforeACall) {
  cudaStream_t stream = NewStream();
  fakecuda_before(
      "cudaStreamDestroy",
      [](void* state) {
        EXPECT_EQ(cudaStreamQuery(*static_cast<cudaStream_t*>(state)), cudaSuccess);
        *static_cast<cudaStream_t*>(state) = nullptr;
      },
      &stream);
  cudaStream_t handle = stream;
  EXPECT_EQ(cudaStreamDestroy(handle), cudaSuccess);
  EXPECT_EQ(stream, nullptr);
}

}  // namespace
}  // namespace faults
