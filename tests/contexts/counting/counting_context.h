#pragma once
// The device type of the tests: COUNTING, number 20. contexts/README.md explains each part.
//
// All work is asynchronous on the stream that SwitchToDevice chose, including copies from and to
// the CPU. Host memory must remain valid until FinishDeviceComputation. Errors in the work are
// reported by FinishDeviceComputation and by events.

#include <atomic>
#include <functional>
#include <memory>
#include <utility>

#include "caffe2_core/device/context.h"
#include "tests/contexts/counting/counting_device.h"

namespace caffe2rt::test {

inline constexpr auto kCounting = static_cast<DeviceType>(20);

class CountingStaticContext final : public BaseStaticContext {
 public:
  // Whether CreateGraph returns graphs. A test that sets it to false sets it back.
  static inline std::atomic<bool> supports_graphs{true};

  std::pair<void*, MemoryDeleter> New(size_t nbytes) const override;
  std::unique_ptr<BaseContext> CreateContext() override;
  std::unique_ptr<BaseContext> CreateContext(const DeviceOption& option) override;
  DeviceType GetDeviceType() override { return kCounting; }
  // Also sets the device id: that of the pointer, or, for a null pointer, that of the thread's
  // current device.
  void ExtractDeviceOption(DeviceOption* option, const void* data) override;
  std::unique_ptr<DeviceGraph> CreateGraph(const DeviceOption& option) override;
  void RecordUse(const MemoryDeleter& memory, const BaseContext& user) const override;
};

// The static context of the process, registered together with its events.
CountingStaticContext* TheCountingStaticContext();

class CountingContext : public BaseContext {
 public:
  // Uses the thread's current device and stream 0.
  CountingContext();
  // THROWS when the option names another device type, or a device that does not exist.
  explicit CountingContext(const DeviceOption& option);

  static constexpr DeviceType GetDeviceType() { return kCounting; }
  static bool HasAsyncPartDefault() { return true; }
  static bool SupportsAsyncScheduling() { return true; }
  static bool IsStreamFree(const DeviceOption& option, int stream_id);

  BaseStaticContext* GetStaticContext() const override { return TheCountingStaticContext(); }
  DeviceType device_type() const override { return kCounting; }
  // Makes the context's device the thread's current one.
  void SwitchToDevice(int stream_id) override;
  using BaseContext::SwitchToDevice;
  void WaitEvent(const Event& event) override { event.Wait(kCounting, this); }
  void Record(Event* event, const char* error = nullptr) const override {
    event->Record(kCounting, this, error);
  }
  void FinishDeviceComputation() override;

  void CopyBytesSameDevice(size_t nbytes, const void* src, void* dst) override;
  void CopyBytesFromCPU(size_t nbytes, const void* src, void* dst) override;
  void CopyBytesToCPU(size_t nbytes, const void* src, void* dst) override;

  // Runs a kernel on the stream. The kernel may access device memory.
  void Launch(std::function<void()> kernel);
  CountingDevice& device() const { return *device_; }
  CountingStream& stream() const { return *stream_; }

 private:
  void Copy(int64_t CountingCounts::*counter, size_t nbytes, const void* src, void* dst);

  CountingDevice* device_;
  CountingStream* stream_;
};

}  // namespace caffe2rt::test
