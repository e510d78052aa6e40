#pragma once
// IDEEP: the CPU with tensors in oneDNN's layouts. Its memory is host memory from the CPU's
// allocator, and all work runs synchronously on the calling thread. What distinguishes it from the
// CPU is that its tensors may be opaque (onednn_tensor.h): operators of this device exchange data
// in blocked or channels-last layouts, and a copy from or to the CPU converts the layout.
//
// A graph pass places operators on this device (caffe2_core/graph/passes/onednn_regions.h). Nets
// need not name it.
//
// The static context is thread safe; an IDEEPContext is used by one thread at a time.

#include <memory>
#include <utility>

#include "caffe2_core/device/context.h"

#pragma GCC visibility push(default)
namespace caffe2rt {

// Registers the static context and the events of the device. Later calls do nothing.
// REQUIRES: the CPU is registered.
void RegisterIDEEPContext();

// Returns the static context of the process.
BaseStaticContext* GetIDEEPStaticContext();

class IDEEPContext final : public BaseContext {
 public:
  IDEEPContext() = default;
  // THROWS if the option has another device type or a device id other than 0.
  explicit IDEEPContext(const DeviceOption& option);

  static constexpr DeviceType GetDeviceType() { return IDEEP; }
  BaseStaticContext* GetStaticContext() const override { return GetIDEEPStaticContext(); }
  DeviceType device_type() const override { return IDEEP; }

  void SwitchToDevice(int) override {}
  using BaseContext::SwitchToDevice;
  void WaitEvent(const Event& event) override { event.Wait(IDEEP, this); }
  void Record(Event* event, const char* error = nullptr) const override {
    event->Record(IDEEP, this, error);
  }
  void FinishDeviceComputation() override {}

  // Copies of bytes keep their order. Tensor::CopyFrom converts opaque tensors without them.
  void CopyBytesSameDevice(size_t nbytes, const void* src, void* dst) override;
  void CopyBytesFromCPU(size_t nbytes, const void* src, void* dst) override {
    CopyBytesSameDevice(nbytes, src, dst);
  }
  void CopyBytesToCPU(size_t nbytes, const void* src, void* dst) override {
    CopyBytesSameDevice(nbytes, src, dst);
  }

  static bool HasAsyncPartDefault() { return false; }
  static bool SupportsAsyncScheduling() { return false; }
  static bool IsStreamFree(const DeviceOption&, int) { return true; }
};

}  // namespace caffe2rt
#pragma GCC visibility pop
