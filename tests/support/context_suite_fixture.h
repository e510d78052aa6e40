#pragma once
// The fixture of context_suite.h: the device under test, and access to its memory as strings.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/device/context.h"
#include "caffe2_core/device/event.h"
#include "caffe2rt/caffe2.pb.h"

namespace caffe2rt::test {

struct ContextSuiteDevice {
  DeviceType type = CPU;
  // Alignment of the memory that New returns, in bytes.
  size_t alignment = 64;
  // true: a recorded event finishes by itself once the preceding work is done (devices). false: it
  // finishes when SetFinished is called (the CPU).
  bool events_finish_alone = true;
  // Blocks a context's stream until the returned function is called. Empty if the device executes
  // work synchronously.
  std::function<std::function<void()>(BaseContext&)> hold = {};
};

inline void PrintTo(const ContextSuiteDevice& device, std::ostream* out) {
  *out << DeviceTypeName(device.type);
}

class ContextSuite : public testing::TestWithParam<ContextSuiteDevice> {
 protected:
  ContextSuite()
      : statics_(GetStaticContext(GetParam().type)),
        context_(statics_->CreateContext()),
        cpu_(GetStaticContext(CPU)->CreateContext()) {
    option_.set_device_type(GetParam().type);
    cpu_option_.set_device_type(CPU);
    context_->SwitchToDevice();
  }

  DataPtr New(size_t nbytes) const { return DataPtr(statics_->New(nbytes)); }
  // Returns device memory that holds `bytes`.
  DataPtr NewWith(const std::string& bytes) {
    DataPtr memory = New(bytes.size());
    context_->CopyBytesFromCPU(bytes.size(), bytes.data(), memory.get());
    context_->FinishDeviceComputation();
    return memory;
  }
  std::string BytesOf(const DataPtr& memory, size_t nbytes) {
    std::string bytes(nbytes, '?');
    context_->CopyBytesToCPU(nbytes, memory.get(), bytes.data());
    context_->FinishDeviceComputation();
    return bytes;
  }
  // Finishes an event that does not finish by itself.
  void Complete(Event* event) const {
    if (!GetParam().events_finish_alone) event->SetFinished();
  }
  static std::string Pattern(size_t nbytes, int seed) {
    std::string bytes(nbytes, '\0');
    for (size_t i = 0; i < nbytes; ++i) {
      bytes[i] = static_cast<char>(i * 31 + i / 251 + static_cast<size_t>(seed));
    }
    return bytes;
  }

  BaseStaticContext* const statics_;
  const std::unique_ptr<BaseContext> context_;
  const std::unique_ptr<BaseContext> cpu_;
  DeviceOption option_;
  DeviceOption cpu_option_;
};

// Further tests for devices that execute work asynchronously. Requires `hold`.
class AsyncContextSuite : public ContextSuite {};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(AsyncContextSuite);

}  // namespace caffe2rt::test
