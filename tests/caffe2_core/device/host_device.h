#pragma once
// A device over host memory, usable with any device number: the minimum that a device module needs.
// It has two operators, of which HostScale has a second engine.

#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <utility>

#include "caffe2_core/device/context.h"
#include "caffe2_core/device/device_module.h"
#include "caffe2_core/runtime/operator_registry.h"

namespace caffe2rt::test {

template <int kType>
class HostStaticContext;

template <int kType>
class HostContext final : public BaseContext {
 public:
  explicit HostContext(const DeviceOption&) {}
  static constexpr DeviceType GetDeviceType() { return static_cast<DeviceType>(kType); }
  static bool HasAsyncPartDefault() { return false; }
  static bool SupportsAsyncScheduling() { return false; }
  static bool IsStreamFree(const DeviceOption&, int) { return true; }
  BaseStaticContext* GetStaticContext() const override { return &HostStaticContext<kType>::Get(); }
  DeviceType device_type() const override { return GetDeviceType(); }
  void SwitchToDevice(int) override {}
  void WaitEvent(const Event&) override {}
  void Record(Event*, const char*) const override {}
  void FinishDeviceComputation() override {}
  void CopyBytesSameDevice(size_t n, const void* src, void* dst) override {
    std::memcpy(dst, src, n);
  }
  void CopyBytesFromCPU(size_t n, const void* src, void* dst) override { std::memcpy(dst, src, n); }
  void CopyBytesToCPU(size_t n, const void* src, void* dst) override { std::memcpy(dst, src, n); }
};

template <int kType>
class HostStaticContext final : public BaseStaticContext {
 public:
  static HostStaticContext& Get() {
    static auto* const context = new HostStaticContext;
    return *context;
  }
  std::pair<void*, MemoryDeleter> New(size_t nbytes) const override {
    return {std::calloc(nbytes == 0 ? 1 : nbytes, 1), MemoryDeleter(&std::free)};
  }
  std::unique_ptr<BaseContext> CreateContext() override { return CreateContext(DeviceOption()); }
  std::unique_ptr<BaseContext> CreateContext(const DeviceOption& option) override {
    return std::make_unique<HostContext<kType>>(option);
  }
  DeviceType GetDeviceType() override { return static_cast<DeviceType>(kType); }
};

// y = kFactor * x. The input and the output are on the CPU.
template <int kType, int kFactor>
class HostScaleOp final : public Operator<HostContext<kType>> {
 public:
  using Operator<HostContext<kType>>::Operator;
  bool RunOnDevice() override {
    const Tensor& x = this->Input(0, CPU);
    Tensor* const y = this->OutputTensor(0, CPU);
    y->ResizeLike(x);
    float* const out = y->template mutable_data<float>();
    for (int64_t i = 0; i < x.numel(); ++i) out[i] = kFactor * x.template data<float>()[i];
    return true;
  }
};

template <int kType>
void RegisterHostOperators() {
  constexpr auto kDevice = static_cast<DeviceType>(kType);
  RegisterOperator<HostScaleOp<kType, 2>>(kDevice, "HostScale", __FILE__);
  RegisterOperator<HostScaleOp<kType, 3>>(kDevice, "HostScale", __FILE__, "TRIPLE");
}

template <int kType>
DevicePresence RegisterHostContext() {
  RegisterStaticContext(static_cast<DeviceType>(kType), "HOST" + std::to_string(kType),
                        &HostStaticContext<kType>::Get());
  return {DeviceState::kReady, 1, "a note", ""};
}

template <int kType>
DeviceDescription DescribeHost() {
  return {{{"host memory", 4096, {{"word_size", "64"}}}}, {{"libhost", false, "not installed"}}};
}

inline const void* HostExtension(std::string_view name) {
  static const int table[] = {7};
  return name == "sevens" ? table : nullptr;
}

template <int kType>
const DeviceModule* HostModule() {
  static const DeviceModule module = {.register_operators = RegisterHostOperators<kType>,
                                      .register_context = RegisterHostContext<kType>,
                                      .describe = DescribeHost<kType>,
                                      .extension = HostExtension};
  return &module;
}

}  // namespace caffe2rt::test
