#pragma once
// The tests' own device type: COUNTING, number 20. See contexts/README.md for what each part is
// for.
//
// All work is asynchronous on the stream that SwitchToDevice chose, copies from and to the CPU
// included: host memory must stay until FinishDeviceComputation. Errors of work come out of
// FinishDeviceComputation and of events.

#include <functional>
#include <memory>
#include <utility>

#include "caffe2_core/device/context.h"
#include "tests/contexts/counting/counting_device.h"

namespace caffe2rt::test {

inline constexpr auto kCounting = static_cast<DeviceType>(20);

class CountingStaticContext final : public BaseStaticContext {
 public:
  std::pair<void*, MemoryDeleter> New(size_t nbytes) const override;
  std::unique_ptr<BaseContext> CreateContext() override;
  std::unique_ptr<BaseContext> CreateContext(const DeviceOption& option) override;
  DeviceType GetDeviceType() override { return kCounting; }
  // The device id too: of the pointer, for null of the thread's current device.
  void ExtractDeviceOption(DeviceOption* option, const void* data) override;
  std::unique_ptr<DeviceGraph> CreateGraph(const DeviceOption& option) override;
  void RecordUse(const MemoryDeleter& memory, const BaseContext& user) const override;
};

// The process's one, registered with its events.
CountingStaticContext* TheCountingStaticContext();

class CountingContext : public BaseContext {
 public:
  // On the thread's current device, stream 0.
  CountingContext();
  // THROWS when the option asks for another device type, or for a device that is not there.
  explicit CountingContext(const DeviceOption& option);

  static constexpr DeviceType GetDeviceType() { return kCounting; }
  static bool HasAsyncPartDefault() { return true; }
  static bool SupportsAsyncScheduling() { return true; }
  static bool IsStreamFree(const DeviceOption& option, int stream_id);

  BaseStaticContext* GetStaticContext() const override { return TheCountingStaticContext(); }
  DeviceType device_type() const override { return kCounting; }
  // The device becomes the thread's current one.
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

  // A kernel: runs on the stream, may touch device memory.
  void Launch(std::function<void()> kernel);
  CountingDevice& device() const { return *device_; }
  CountingStream& stream() const { return *stream_; }

 private:
  void Copy(int64_t CountingCounts::*counter, size_t nbytes, const void* src, void* dst);

  CountingDevice* device_;
  CountingStream* stream_;
};

}  // namespace caffe2rt::test
