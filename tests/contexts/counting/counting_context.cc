#include "tests/contexts/counting/counting_context.h"

#include <cstring>

#include "caffe2rt/caffe2.pb.h"
#include "tests/contexts/counting/counting_event.h"
#include "tests/contexts/counting/counting_graph.h"

namespace caffe2rt::test {
namespace {

CountingDevice& DeviceOf(const DeviceOption& option) {
  CAFFE_ENFORCE_EQ(option.device_type(), static_cast<int>(kCounting),
                   "device type of a CountingContext's device option");
  return CountingDevice::Get(option.has_device_id() ? option.device_id()
                                                    : CountingDevice::Current());
}

}  // namespace

std::pair<void*, MemoryDeleter> CountingStaticContext::New(size_t nbytes) const {
  return CountingDevice::Get(CountingDevice::Current()).New(nbytes);
}

std::unique_ptr<BaseContext> CountingStaticContext::CreateContext() {
  return std::make_unique<CountingContext>();
}

std::unique_ptr<BaseContext> CountingStaticContext::CreateContext(const DeviceOption& option) {
  return std::make_unique<CountingContext>(option);
}

void CountingStaticContext::ExtractDeviceOption(DeviceOption* option, const void* data) {
  option->set_device_type(kCounting);
  const int id = data != nullptr ? CountingDevice::Of(data) : CountingDevice::Current();
  if (id >= 0) option->set_device_id(id);
}

std::unique_ptr<DeviceGraph> CountingStaticContext::CreateGraph(const DeviceOption& option) {
  return supports_graphs ? NewCountingGraph(&DeviceOf(option)) : nullptr;
}

void CountingStaticContext::RecordUse(const MemoryDeleter& memory, const BaseContext& user) const {
  const auto& context = static_cast<const CountingContext&>(user);
  CountingDevice::RecordUse(memory, context.device(), &context.stream());
}

CountingStaticContext* TheCountingStaticContext() {
  static CountingStaticContext* const context = [] {
    RegisterCountingEvents();
    return new CountingStaticContext;
  }();
  return context;
}

REGISTER_STATIC_CONTEXT(20, "COUNTING", TheCountingStaticContext());

CountingContext::CountingContext()
    : device_(&CountingDevice::Get(CountingDevice::Current())), stream_(&device_->stream(0)) {}

CountingContext::CountingContext(const DeviceOption& option)
    : device_(&DeviceOf(option)), stream_(&device_->stream(0)) {}

bool CountingContext::IsStreamFree(const DeviceOption& option, int stream_id) {
  return DeviceOf(option).stream(stream_id).IsFree();
}

void CountingContext::SwitchToDevice(int stream_id) {
  stream_ = &device_->stream(stream_id);
  CountingDevice::SetCurrent(device_->id());
}

void CountingContext::FinishDeviceComputation() {
  device_->Count(&CountingCounts::waits);
  stream_->Finish();
}

void CountingContext::Launch(std::function<void()> kernel) {
  if (stream_->Launch(std::move(kernel))) device_->Count(&CountingCounts::operations);
}

void CountingContext::Copy(int64_t CountingCounts::*counter, size_t nbytes, const void* src,
                           void* dst) {
  if (nbytes == 0) return;
  CAFFE_ENFORCE(src != nullptr && dst != nullptr, "copy of ", nbytes, " bytes from or to null");
  device_->Count(counter);
  Launch([=] { std::memcpy(dst, src, nbytes); });
}

void CountingContext::CopyBytesSameDevice(size_t nbytes, const void* src, void* dst) {
  Copy(&CountingCounts::copies_same_device, nbytes, src, dst);
}
void CountingContext::CopyBytesFromCPU(size_t nbytes, const void* src, void* dst) {
  stream_->EnforceNotCapturing("a copy from the CPU");
  Copy(&CountingCounts::copies_from_cpu, nbytes, src, dst);
}
void CountingContext::CopyBytesToCPU(size_t nbytes, const void* src, void* dst) {
  stream_->EnforceNotCapturing("a copy to the CPU");
  Copy(&CountingCounts::copies_to_cpu, nbytes, src, dst);
}

}  // namespace caffe2rt::test
