#include "contexts/synced/synced_memory.h"

#include <cstring>

#include "caffe2_core/base/byte_size.h"
#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/logging.h"
#include "caffe2rt/caffe2.pb.h"
#include "contexts/synced/synced_math.h"

namespace caffe2rt {
namespace {

#ifdef NDEBUG
constexpr bool kDebugBuild = false;
#else
constexpr bool kDebugBuild = true;
#endif

const char* NameOf(SyncedMemory::SyncedHead head) {
  constexpr const char* names[] = {"UNINITIALIZED", "HEAD_AT_CPU", "HEAD_AT_GPU", "SYNCED"};
  return names[head];
}

void* Data(const std::shared_ptr<const DataPtr>& buffer) {
  return buffer != nullptr ? buffer->get() : nullptr;
}

// An event for contexts on any device of the type.
std::unique_ptr<Event> NewEvent(DeviceType type) {
  DeviceOption option;
  option.set_device_type(type);
  return std::make_unique<Event>(option);
}

std::shared_ptr<const DataPtr> Borrowed(void* data) {
  return std::make_shared<const DataPtr>(data, MemoryDeleter());
}

}  // namespace

SyncedContexts DefaultSyncedContexts() { return {GetStaticContext(CPU), FindStaticContext(CUDA)}; }

SyncedOptions& GlobalSyncedOptions() {
  static SyncedOptions options = {.check_device = kDebugBuild};
  return options;
}

SyncedMemory::SyncedMemory(size_t size_bytes, SyncedContexts contexts)
    : size_(size_bytes), contexts_(contexts), device_id_(CurrentDevice()) {
  CAFFE_ENFORCE(contexts_.cpu != nullptr, "synced memory has no context for the CPU side");
}

SyncedMemory::~SyncedMemory() {
  try {
    FinishPush();
    CheckDevice();
  } catch (...) {
    LOG(ERROR) << "destructor of synced memory: " << CurrentExceptionMessage();
  }
}

const void* SyncedMemory::cpu_data() {
  CheckDevice();
  ToCPU();
  return Data(cpu_);
}

const void* SyncedMemory::gpu_data() {
  CheckDevice();
  ToGPU();
  return Data(gpu_);
}

void* SyncedMemory::mutable_cpu_data() {
  CheckDevice();
  ToCPU();
  FinishPush();  // the push may still read the memory that the caller is about to write
  head_ = HEAD_AT_CPU;
  return Data(cpu_);
}

void* SyncedMemory::mutable_gpu_data() {
  CheckDevice();
  ToGPU();
  head_ = HEAD_AT_GPU;
  return Data(gpu_);
}

void SyncedMemory::set_cpu_data(void* data) {
  CAFFE_ENFORCE(data != nullptr, "set_cpu_data of null, want a buffer of ", ByteSizeText(size_));
  CheckDevice();
  FinishPush();
  cpu_ = Borrowed(data);
  head_ = HEAD_AT_CPU;
}

void SyncedMemory::set_gpu_data(void* data) {
  CAFFE_ENFORCE(data != nullptr, "set_gpu_data of null, want a buffer of ", ByteSizeText(size_));
  (void)DeviceSide();
  CheckDevice();
  FinishPush();
  gpu_ = Borrowed(data);
  own_gpu_ = false;
  head_ = HEAD_AT_GPU;
}

void SyncedMemory::async_gpu_push(int stream_id) {
  const std::unique_ptr<BaseContext> context = NewDeviceContext();
  context->SwitchToDevice(stream_id);
  async_gpu_push(*context);
}

void SyncedMemory::async_gpu_push(BaseContext& context) {
  CAFFE_ENFORCE(head_ == HEAD_AT_CPU, "async_gpu_push of memory whose state is ", NameOf(head_),
                ", want HEAD_AT_CPU: write it through mutable_cpu_data first");
  BaseStaticContext& device = DeviceSide();
  CAFFE_ENFORCE(context.device_type() == device.GetDeviceType(), "async_gpu_push on a context of ",
                DeviceTypeName(context.device_type()), ", want one of ",
                DeviceTypeName(device.GetDeviceType()));
  CheckDevice();
  FinishPush();
  const bool own = gpu_ == nullptr;
  std::shared_ptr<const DataPtr> buffer = own ? NewBufferFor(context) : gpu_;
  if (!HasEvents()) {
    context.CopyBytesFromCPU(size_, Data(cpu_), Data(buffer));
    context.FinishDeviceComputation();  // without events nothing else can wait for the copy
  } else {
    if (push_ == nullptr) push_ = NewEvent(device.GetDeviceType());
    push_->Reset();
    context.CopyBytesFromCPU(size_, Data(cpu_), Data(buffer));
    try {
      context.Record(push_.get());
    } catch (...) {
      context.FinishDeviceComputation();  // nothing else can wait for the copy
      throw;
    }
    push_pending_ = true;
  }
  gpu_ = std::move(buffer);
  own_gpu_ = own_gpu_ || own;
  head_ = SYNCED;
}

std::unique_ptr<BaseContext> SyncedMemory::NewDeviceContext() const {
  return DeviceSide().CreateContext();
}

void SyncedMemory::ToCPU() {
  if (head_ == HEAD_AT_CPU || head_ == SYNCED) return;
  std::shared_ptr<const DataPtr> buffer = cpu_ != nullptr ? cpu_ : NewBuffer(*contexts_.cpu);
  if (head_ == UNINITIALIZED) {
    if (size_ > 0) std::memset(buffer->get(), 0, size_);
    cpu_ = std::move(buffer);
    head_ = HEAD_AT_CPU;
    return;
  }
  FinishPush();
  const std::unique_ptr<BaseContext> context = NewDeviceContext();
  context->CopyBytesToCPU(size_, Data(gpu_), buffer->get());
  context->FinishDeviceComputation();
  cpu_ = std::move(buffer);
  head_ = SYNCED;
}

void SyncedMemory::ToGPU() {
  BaseStaticContext& device = DeviceSide();
  if (head_ == HEAD_AT_GPU || head_ == SYNCED) return;
  const bool own = gpu_ == nullptr;
  std::shared_ptr<const DataPtr> buffer = own ? NewBuffer(device) : gpu_;
  const std::unique_ptr<BaseContext> context = NewDeviceContext();
  if (head_ == UNINITIALIZED) {
    SyncedMathOf(device.GetDeviceType()).Zero(*context, size_, buffer->get());
  } else {
    context->CopyBytesFromCPU(size_, Data(cpu_), buffer->get());
  }
  context->FinishDeviceComputation();
  gpu_ = std::move(buffer);
  own_gpu_ = own_gpu_ || own;
  head_ = head_ == UNINITIALIZED ? HEAD_AT_GPU : SYNCED;
}

int SyncedMemory::CurrentDevice() const {
  if (contexts_.device == nullptr) return -1;
  DeviceOption option;
  contexts_.device->ExtractDeviceOption(&option, nullptr);
  return option.has_device_id() ? option.device_id() : -1;
}

void SyncedMemory::CheckDevice() const {
  if (!GlobalSyncedOptions().check_device || contexts_.device == nullptr || device_id_ < 0) return;
  CAFFE_ENFORCE_EQ(
      CurrentDevice(), device_id_,
      "current device of the thread that uses synced memory, want the one at its construction");
  if (!own_gpu_ || gpu_->get() == nullptr) return;
  DeviceOption option;
  contexts_.device->ExtractDeviceOption(&option, gpu_->get());
  CAFFE_ENFORCE_EQ(
      option.device_id(), device_id_,
      "device of the memory that synced memory owns, want the one at its construction");
}

BaseStaticContext& SyncedMemory::DeviceSide() const {
  CAFFE_ENFORCE(contexts_.device != nullptr,
                "this synced memory has no device side: use the CPU data, or construct it with a "
                "device");
  return *contexts_.device;
}

std::shared_ptr<const DataPtr> SyncedMemory::NewBuffer(BaseStaticContext& context) const {
  DataPtr memory(context.New(size_));
  return std::make_shared<const DataPtr>(std::move(memory));
}

bool SyncedMemory::HasEvents() const {
  return EventFunctionsOf(DeviceSide().GetDeviceType()).create != nullptr;
}

std::shared_ptr<const DataPtr> SyncedMemory::NewBufferFor(BaseContext& context) const {
  BaseStaticContext& device = DeviceSide();
  const auto allocation = device.New(size_);
  auto buffer = std::make_shared<const DataPtr>(DataPtr(allocation));
  // The pool may have reused a block that earlier work of the current stream still uses.
  const std::unique_ptr<BaseContext> home = NewDeviceContext();
  if (HasEvents()) {
    const std::unique_ptr<Event> ready = NewEvent(device.GetDeviceType());
    home->Record(ready.get());
    context.WaitEvent(*ready);
  } else {
    home->FinishDeviceComputation();
  }
  device.RecordUse(allocation.second, context);
  return buffer;
}

void SyncedMemory::FinishPush() {
  if (!push_pending_) return;
  push_pending_ = false;
  push_->Finish();
  const bool failed = push_->Query() == EventStatus::EVENT_FAILED;
  if (failed && head_ == SYNCED) head_ = HEAD_AT_CPU;  // the device side is incomplete
  CAFFE_ENFORCE(!failed, "async_gpu_push failed: ", push_->ErrorMessage());
}

}  // namespace caffe2rt
