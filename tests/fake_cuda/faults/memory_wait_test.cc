// Allocations and frees that wait for the device, and those that would wait forever because a
// stream is held.

#include <cstdio>
#include <mutex>
#include <string>
#include <thread>

#include "faults/faults.h"

namespace faults {
namespace {

using ::testing::internal::CaptureStderr;
using ::testing::internal::GetCapturedStderr;

constexpr size_t kBytes = 256;

class MemoryWaitTest : public FaultsTest {
 protected:
  void SetUp() override {
    FaultsTest::SetUp();
    stream_ = NewStream();
    data_ = Floats(64);
    cudaMallocHost(&pinned_, kBytes);
    fakecuda_set("held_wait_ms", 20);
    fakecuda_reset_calls();
  }

  // Gives the stream work that does not run before Resume.
  void Hold() {
    fakecuda_pause(stream_);
    ASSERT_EQ(cudaMemsetAsync(data_, 0, kBytes, stream_), cudaSuccess);
  }
  void Resume() { fakecuda_resume(stream_); }

  // Whether the stream's work is over when the call returns; the stream is resumed just before.
  template <class Function>
  bool Waits(const char* name, Function call) {
    Hold();
    struct State {
      cudaStream_t stream;
      std::thread resumer;
    } state{stream_, {}};
    fakecuda_before(
        name,
        [](void* self) {
          auto& held = *static_cast<State*>(self);
          held.resumer = std::thread([stream = held.stream] { fakecuda_resume(stream); });
        },
        &state);
    fakecuda_set("held_wait_ms", 10000);
    EXPECT_EQ(call(), cudaSuccess) << name;
    const bool is_over = cudaStreamQuery(stream_) == cudaSuccess;
    state.resumer.join();
    EXPECT_EQ(cudaStreamSynchronize(stream_), cudaSuccess);
    fakecuda_set("held_wait_ms", 20);
    return is_over;
  }

  // What the call prints while the stream is held.
  template <class Function>
  std::string Printed(Function call) {
    CaptureStderr();
    EXPECT_EQ(call(), cudaErrorNotPermitted);
    EXPECT_EQ(cudaGetLastError(), cudaErrorNotPermitted);
    return GetCapturedStderr();
  }

  cudaStream_t stream_ = nullptr;
  float* data_ = nullptr;
  void* pinned_ = nullptr;
  void* made_ = nullptr;
};

TEST_F(MemoryWaitTest, AllocationsDoNotWaitByDefault) {
  Hold();
  char registered[kBytes];
  EXPECT_EQ(cudaMalloc(&made_, kBytes), cudaSuccess);
  EXPECT_EQ(cudaMallocHost(&made_, kBytes), cudaSuccess);
  EXPECT_EQ(cudaHostRegister(registered, kBytes, 0), cudaSuccess);
  EXPECT_EQ(cudaStreamQuery(stream_), cudaErrorNotReady);
  Resume();
  EXPECT_EQ(cudaHostUnregister(registered), cudaSuccess);
}

TEST_F(MemoryWaitTest, EachAllocationWaitsForTheDeviceIfSet) {
  fakecuda_set("allocation_waits", 1);
  size_t pitch = 0;
  char registered[kBytes];
  EXPECT_TRUE(Waits("cudaMalloc", [&] { return cudaMalloc(&made_, kBytes); }));
  EXPECT_TRUE(Waits("cudaMallocPitch", [&] { return cudaMallocPitch(&made_, &pitch, 8, 8); }));
  EXPECT_TRUE(Waits("cudaMallocManaged",
                    [&] { return cudaMallocManaged(&made_, kBytes, cudaMemAttachGlobal); }));
  EXPECT_TRUE(Waits("cudaMallocHost", [&] { return cudaMallocHost(&made_, kBytes); }));
  EXPECT_TRUE(Waits("cudaHostAlloc", [&] { return cudaHostAlloc(&made_, kBytes, 0); }));
  EXPECT_TRUE(Waits("cudaHostRegister", [&] { return cudaHostRegister(registered, kBytes, 0); }));
  EXPECT_EQ(cudaHostUnregister(registered), cudaSuccess);
}

TEST_F(MemoryWaitTest, EachFreeWaitsForTheDevice) {
  char registered[kBytes];
  void* freed = Floats(64);
  ASSERT_EQ(cudaHostRegister(registered, kBytes, 0), cudaSuccess);
  EXPECT_TRUE(Waits("cudaFree", [&] { return cudaFree(freed); }));
  EXPECT_TRUE(Waits("cudaFreeHost", [&] { return cudaFreeHost(pinned_); }));
  EXPECT_TRUE(Waits("cudaHostUnregister", [&] { return cudaHostUnregister(registered); }));
}

TEST_F(MemoryWaitTest, WaitsForItsOwnDeviceOnlyUnlessTheMemoryIsPinned) {
  fakecuda_set("allocation_waits", 1);
  Hold();
  ASSERT_EQ(cudaSetDevice(1), cudaSuccess);
  EXPECT_EQ(cudaMalloc(&made_, kBytes), cudaSuccess);
  EXPECT_EQ(cudaFree(made_), cudaSuccess);
  Printed([&] { return cudaMallocHost(&made_, kBytes); });
  EXPECT_EQ(cudaSetDevice(0), cudaSuccess);
  Resume();
}

TEST_F(MemoryWaitTest, NamesTheCallThatWaitsForAPausedStream) {
  fakecuda_set("allocation_waits", 1);
  Hold();
  char address[32];
  snprintf(address, sizeof address, "%p", static_cast<void*>(stream_));
  const std::string held = std::string(" waits for the device, but fakecuda_pause holds stream ") +
                           address + " of device 0\n";
  char registered[kBytes];
  EXPECT_EQ(Printed([&] { return cudaMalloc(&made_, kBytes); }), "[fakecuda] cudaMalloc" + held);
  EXPECT_EQ(made_, nullptr);
  EXPECT_EQ(Printed([&] { return cudaFree(data_); }), "[fakecuda] cudaFree" + held);
  EXPECT_EQ(Printed([&] { return cudaFreeHost(pinned_); }), "[fakecuda] cudaFreeHost" + held);
  EXPECT_EQ(Printed([&] { return cudaHostRegister(registered, kBytes, 0); }),
            "[fakecuda] cudaHostRegister" + held);
  Resume();
  // The memory was not freed.
  EXPECT_EQ(cudaFree(data_), cudaSuccess);
  EXPECT_EQ(cudaFreeHost(pinned_), cudaSuccess);
}

TEST_F(MemoryWaitTest, NamesTheCallThatWaitsForAHostFunction) {
  std::mutex mutex;
  mutex.lock();
  const auto wait = [](void* gate) {
    const std::lock_guard<std::mutex> opened(*static_cast<std::mutex*>(gate));
  };
  ASSERT_EQ(cudaLaunchHostFunc(stream_, wait, &mutex), cudaSuccess);
  EXPECT_NE(Printed([&] { return cudaFree(data_); })
                .find("cudaFree waits for the device, but a host "
                      "function holds stream "),
            std::string::npos);
  mutex.unlock();
  EXPECT_EQ(cudaFree(data_), cudaSuccess);
}

TEST_F(MemoryWaitTest, FindsTheHeldStreamBehindOthers) {
  cudaEvent_t event;
  ASSERT_EQ(cudaEventCreate(&event), cudaSuccess);
  void* there = nullptr;
  ASSERT_EQ(cudaSetDevice(1), cudaSuccess);
  ASSERT_EQ(cudaMalloc(&there, kBytes), cudaSuccess);
  ASSERT_EQ(cudaSetDevice(0), cudaSuccess);
  Hold();
  ASSERT_EQ(cudaEventRecord(event, stream_), cudaSuccess);
  ASSERT_EQ(cudaSetDevice(1), cudaSuccess);
  const cudaStream_t behind = NewStream();
  ASSERT_EQ(cudaStreamWaitEvent(behind, event, 0), cudaSuccess);
  EXPECT_NE(Printed([&] { return cudaFree(there); }).find("of device 0"), std::string::npos);
  ASSERT_EQ(cudaSetDevice(0), cudaSuccess);
  Resume();
}

TEST_F(MemoryWaitTest, AllocationReportsWorkThatFailed) {
  fakecuda_set("allocation_waits", 1);
  fakecuda_fail_async(0, cudaErrorLaunchFailure);
  ASSERT_EQ(cudaMemsetAsync(data_, 0, kBytes, stream_), cudaSuccess);
  EXPECT_EQ(cudaMalloc(&made_, kBytes), cudaErrorLaunchFailure);
}

TEST_F(MemoryWaitTest, CountsAllocationsAndFreesTogether) {
  fakecuda_reset_calls();
  ASSERT_EQ(cudaMalloc(&made_, kBytes), cudaSuccess);
  ASSERT_EQ(cudaFree(made_), cudaSuccess);
  ASSERT_EQ(cudaFreeHost(pinned_), cudaSuccess);
  ASSERT_EQ(cudaFree(nullptr), cudaSuccess);  // frees nothing
  EXPECT_EQ(fakecuda_calls("memory_wait"), 3);
  // The driver's pool allocates in stream order.
  ASSERT_EQ(cudaMallocAsync(&made_, kBytes, stream_), cudaSuccess);
  ASSERT_EQ(cudaFreeAsync(made_, stream_), cudaSuccess);
  EXPECT_EQ(fakecuda_calls("memory_wait"), 3);
}

}  // namespace
}  // namespace faults
