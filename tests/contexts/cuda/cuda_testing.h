#pragma once
// Helpers that the tests of contexts/cuda share. They run on the fake CUDA and on hardware.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "contexts/cuda/cuda_device.h"
#include "contexts/cuda/cuda_stream.h"

// A function of the fake CUDA; undefined on hardware.
extern "C" __attribute__((weak)) long fakecuda_calls(const char* function);

namespace caffe2rt::test {

// Skips the test if there is no device. Starts on device 0, and checks that the test leaves the
// thread on device 0 without a pending error.
class CudaTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!HasCudaGPU()) GTEST_SKIP() << TheCudaMachine().message;
    CaffeCudaSetDevice(0);
  }
  void TearDown() override {
    if (!HasCudaGPU()) return;
    EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    EXPECT_EQ(cudaGetLastError(), cudaSuccess);
    EXPECT_EQ(CaffeCudaGetDevice(), 0);
  }
};

#define SKIP_BELOW_DEVICES(count) \
  if (NumCudaDevices() < (count)) \
  GTEST_SKIP() << "needs " << (count) << " devices, there are " << NumCudaDevices()

// Holds a stream at one position until the gate is opened, on the fake CUDA and on hardware. While it
// is closed, memory must not be allocated or freed by CUDA or its libraries: that may wait for the
// stream, forever. On the fake, the gate counts such calls.
class Gate {
 public:
  // Whether such calls are allowed, in a program of tests that never run on hardware.
  static inline bool allows_waiting_calls = false;

  explicit Gate(cudaStream_t stream)
      : state_(std::make_shared<State>()), waiting_calls_(WaitingCalls()) {
    auto* shared = new std::shared_ptr<State>(state_);  // the callback may outlive the gate
    EXPECT_EQ(cudaLaunchHostFunc(stream, &Gate::Wait, shared), cudaSuccess);
  }
  ~Gate() { Open(); }
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;
  void Open() {
    const std::lock_guard<std::mutex> lock(state_->mutex);
    if (!state_->open && !allows_waiting_calls) {
      EXPECT_LE(WaitingCalls(), waiting_calls_) << "memory was allocated or freed at a closed gate";
    }
    state_->open = true;
    state_->opened.notify_all();
  }

 private:
  struct State {
    std::mutex mutex;
    std::condition_variable opened;
    bool open = false;
  };
  static void Wait(void* shared) {
    const std::unique_ptr<std::shared_ptr<State>> owned(
        static_cast<std::shared_ptr<State>*>(shared));
    State& state = **owned;
    std::unique_lock<std::mutex> lock(state.mutex);
    state.opened.wait(lock, [&state] { return state.open; });
  }
  // The number of calls so far that may wait for the device.
  static long WaitingCalls() {
    if (&fakecuda_calls == nullptr) return 0;
    long calls = 0;
    for (const char* name :
         {"memory_wait", "cublasCreate", "cudnnCreate", "curandCreateGenerator"}) {
      calls += fakecuda_calls(name);
    }
    return calls;
  }
  const std::shared_ptr<State> state_;
  const long waiting_calls_;
};

inline void Synchronize(cudaStream_t stream) {
  EXPECT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
}

// Returns whether the stream is still busy after it had time to finish. A stream that waits for a
// gate is busy.
inline bool StaysBusy(int device, int stream_id) {
  for (int i = 0; i < 1000; ++i) {
    if (IsStreamFree(device, stream_id)) return false;
    std::this_thread::yield();
  }
  return true;
}

// Returns the message of the error that `action` throws, or "" if it throws none.
inline std::string ErrorOf(const std::function<void()>& action) {
  try {
    action();
  } catch (const EnforceNotMet& e) {
    return e.message();
  }
  return "";
}

}  // namespace caffe2rt::test
