#pragma once

// Helpers of the conformance tests. The tests describe CUDA and make no calls specific to the fake,
// so the same sources run against NVIDIA's runtime.

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <condition_variable>
#include <memory>
#include <mutex>
#include <vector>

namespace conformance {

#define EXPECT_CUDA(want, call)                                                   \
  do {                                                                            \
    const cudaError_t got_ = (call);                                              \
    EXPECT_EQ(got_, want) << #call << ": " << cudaGetErrorName(got_) << ", want " \
                          << cudaGetErrorName(want);                              \
  } while (0)
#define EXPECT_OK(call) EXPECT_CUDA(cudaSuccess, call)
#define ASSERT_OK(call) ASSERT_EQ(cudaSuccess, (call)) << cudaGetErrorString(cudaPeekAtLastError())

// Blocks a stream until the gate is opened, so that work is pending independently of timing. Block
// only one stream at a time: real devices may run callbacks one after the other. Allocate and free
// no memory while a gate is closed: both may wait for the device.
class Gate {
 public:
  explicit Gate(cudaStream_t stream) : state_(std::make_shared<State>()) {
    auto* shared = new std::shared_ptr<State>(state_);  // the callback may outlive the gate
    const cudaError_t error = cudaLaunchHostFunc(stream, &Gate::Wait, shared);
    EXPECT_EQ(error, cudaSuccess);
    if (error != cudaSuccess) delete shared;
  }
  ~Gate() { Open(); }
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;

  void Open() {
    std::lock_guard<std::mutex> lock(state_->mutex);
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

  const std::shared_ptr<State> state_;
};

// Skips if there is no device. Starts on device 0 without a last error, and checks at the end that
// the test left no error behind.
class CudaTest : public ::testing::Test {
 protected:
  void SetUp() override {
    int count = 0;
    const cudaError_t error = cudaGetDeviceCount(&count);
    if (error != cudaSuccess || count == 0) {
      cudaGetLastError();
      GTEST_SKIP() << "no CUDA device: " << cudaGetErrorString(error);
    }
    devices_ = count;
    EXPECT_OK(cudaSetDevice(0));
    cudaGetLastError();
  }
  void TearDown() override {
    if (devices_ == 0) return;
    EXPECT_OK(cudaSetDevice(0));
    EXPECT_OK(cudaDeviceSynchronize());
    EXPECT_CUDA(cudaSuccess, cudaGetLastError());
  }

  int devices_ = 0;
};

#define SKIP_BELOW(count) \
  if (devices_ < (count)) GTEST_SKIP() << "needs " << (count) << " devices, there are " << devices_

// RAII wrappers, so that a failed assertion leaks nothing.
class Stream {
 public:
  explicit Stream(unsigned flags = cudaStreamNonBlocking) {
    EXPECT_OK(cudaStreamCreateWithFlags(&stream_, flags));
  }
  ~Stream() { EXPECT_OK(cudaStreamDestroy(stream_)); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  operator cudaStream_t() const { return stream_; }

 private:
  cudaStream_t stream_ = nullptr;
};

class Event {
 public:
  explicit Event(unsigned flags = cudaEventDisableTiming) {
    EXPECT_OK(cudaEventCreateWithFlags(&event_, flags));
  }
  ~Event() { EXPECT_OK(cudaEventDestroy(event_)); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  operator cudaEvent_t() const { return event_; }

 private:
  cudaEvent_t event_ = nullptr;
};

template <class T>
class DeviceArray {
 public:
  explicit DeviceArray(size_t size) : size_(size) {
    EXPECT_OK(cudaMalloc(reinterpret_cast<void**>(&data_), size * sizeof(T)));
  }
  explicit DeviceArray(const std::vector<T>& values) : DeviceArray(values.size()) {
    EXPECT_OK(cudaMemcpy(data_, values.data(), bytes(), cudaMemcpyHostToDevice));
    EXPECT_OK(cudaStreamSynchronize(nullptr));  // the call may return before the copy has ended
  }
  ~DeviceArray() { EXPECT_OK(cudaFree(data_)); }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;

  T* get() const { return data_; }
  size_t bytes() const { return size_ * sizeof(T); }
  std::vector<T> Read() const {
    std::vector<T> values(size_);
    EXPECT_OK(cudaMemcpy(values.data(), data_, bytes(), cudaMemcpyDeviceToHost));
    return values;
  }

 private:
  T* data_ = nullptr;
  size_t size_;
};

template <class T>
class PinnedArray {
 public:
  explicit PinnedArray(size_t size, T value = T()) : size_(size) {
    EXPECT_OK(cudaMallocHost(reinterpret_cast<void**>(&data_), size * sizeof(T)));
    for (size_t i = 0; i < size; ++i) data_[i] = value;
  }
  ~PinnedArray() { EXPECT_OK(cudaFreeHost(data_)); }
  PinnedArray(const PinnedArray&) = delete;
  PinnedArray& operator=(const PinnedArray&) = delete;

  T* get() const { return data_; }
  T& operator[](size_t i) const { return data_[i]; }
  size_t bytes() const { return size_ * sizeof(T); }

 private:
  T* data_ = nullptr;
  size_t size_;
};

}  // namespace conformance
