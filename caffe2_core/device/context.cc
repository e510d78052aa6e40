#include "caffe2_core/device/context.h"

#include <absl/strings/str_join.h>

#include <array>
#include <atomic>
#include <utility>

#include "caffe2_core/base/conflicts.h"
#include "caffe2_core/base/mutex.h"
#include "caffe2_core/device/context_conflict.h"
#include "caffe2_core/device/cpu_allocator.h"
#include "caffe2_core/device/device_descriptor.h"
#include "caffe2_core/device/device_graph.h"
#include "caffe2_core/device/device_module.h"
#include "caffe2rt/caffe2.pb.h"

namespace caffe2rt {
namespace {

struct StaticContexts {
  std::array<std::atomic<BaseStaticContext*>, kMaxDeviceTypes> rows{};
  Mutex mutex;  // also serializes the writers of `rows`
  std::array<std::string, kMaxDeviceTypes> names ABSL_GUARDED_BY(mutex);
  // Of a static registration, reported by a later lookup.
  std::string conflict ABSL_GUARDED_BY(mutex);
};

StaticContexts& Contexts() {
  static StaticContexts* const contexts = new StaticContexts;  // outlives every tensor
  return *contexts;
}

bool TryRegister(int64_t type, const std::string& name, BaseStaticContext* context,
                 std::string* conflict) {
  StaticContexts& contexts = Contexts();
  const MutexLock lock(contexts.mutex);
  if (!IsValidDeviceType(type)) {
    *conflict = MakeString("cannot register \"", name, "\" as device type ", type, ", want 0 to ",
                           kMaxDeviceTypes - 1);
    return false;
  }
  if (contexts.rows[type].load() != nullptr) {
    *conflict = MakeString("device type ", type, " is registered twice: as \"",
                           contexts.names[type], "\" and as \"", name, "\"");
    return false;
  }
  contexts.names[type] = name;
  contexts.rows[type].store(context, std::memory_order_release);
  return true;
}

}  // namespace

std::string DeviceTypeName(int64_t type) {
  if (IsValidDeviceType(type)) {
    const auto known = static_cast<DeviceType>(type);
    {
      StaticContexts& contexts = Contexts();
      const MutexLock lock(contexts.mutex);
      if (!contexts.names[type].empty()) return contexts.names[type];
    }
    if (const DeviceDescriptor* const device = FindDeviceDescriptor(known)) return device->name;
    if (const char* const name = Caffe2DeviceName(known)) return name;
  }
  return MakeString("device type ", type);
}

void RegisterStaticContext(DeviceType type, const std::string& name, BaseStaticContext* context) {
  std::string conflict;
  if (!TryRegister(type, name, context, &conflict)) CAFFE_THROW(conflict);
}

BaseStaticContext* FindStaticContext(DeviceType type) {
  if (!IsValidDeviceType(type)) return nullptr;
  StaticContexts& contexts = Contexts();
  BaseStaticContext* context = contexts.rows[type].load(std::memory_order_acquire);
  if (__builtin_expect(context == nullptr, 0)) {
    EnsureBuiltinContexts();
    context = contexts.rows[type].load(std::memory_order_acquire);
    if (context == nullptr && FindDeviceDescriptor(type) != nullptr) {
      FindDevice(type);  // registers the context if the device is available; queries once
      context = contexts.rows[type].load(std::memory_order_acquire);
    }
  }
  return context;
}

BaseStaticContext* GetStaticContext(DeviceType type) {
  BaseStaticContext* const context = FindStaticContext(type);
  if (__builtin_expect(context != nullptr, 1)) return context;
  ReportConflicts([] {
    std::string conflict = internal::TakeContextConflict();
    return conflict.empty() ? std::vector<std::string>()
                            : std::vector<std::string>{std::move(conflict)};
  });
  std::vector<std::string> names;
  for (const DeviceType known : RegisteredDeviceTypes()) names.push_back(DeviceTypeName(known));
  CAFFE_THROW("device ", DeviceTypeName(type), " (type ", static_cast<int>(type),
              ") is not available; available: ", absl::StrJoin(names, ", "),
              FindDeviceDescriptor(type) != nullptr
                  ? MakeString("; ", FindDevice(type).message, "; run on the CPU")
                  : "; load the module that provides it, or run on the CPU");
}

std::vector<DeviceType> RegisteredDeviceTypes() {
  EnsureBuiltinContexts();
  std::vector<DeviceType> types;
  for (int type = 0; type < kMaxDeviceTypes; ++type) {
    if (Contexts().rows[type].load() != nullptr) types.push_back(static_cast<DeviceType>(type));
  }
  return types;
}

namespace internal {
std::string TakeContextConflict() {
  StaticContexts& contexts = Contexts();
  const MutexLock lock(contexts.mutex);
  return std::exchange(contexts.conflict, {});
}

StaticContextRegisterer::StaticContextRegisterer(DeviceType type, const char* name,
                                                 BaseStaticContext* context) noexcept {
  std::string conflict;
  if (!TryRegister(type, name, context, &conflict)) {
    const MutexLock lock(Contexts().mutex);
    Contexts().conflict = conflict;
  }
}
}  // namespace internal

void BaseStaticContext::ExtractDeviceOption(DeviceOption* option, const void*) {
  option->set_device_type(GetDeviceType());
}

std::unique_ptr<DeviceGraph> BaseStaticContext::CreateGraph(const DeviceOption&) { return nullptr; }

void BaseStaticContext::RecordUse(const MemoryDeleter&, const BaseContext&) const {}

void BaseContext::CopyBytesToDevice(size_t nbytes, const void* src, void* dst, DeviceType to) {
  if (to == device_type()) {
    CopyBytesSameDevice(nbytes, src, dst);
  } else {
    CAFFE_ENFORCE(to == CPU, "cannot copy from ", DeviceTypeName(device_type()), " to ",
                  DeviceTypeName(to), " directly: copy through the CPU");
    CopyBytesToCPU(nbytes, src, dst);
  }
}

bool BaseContext::CopyNonFundamental(TypeMeta meta, size_t n, const void* src, void* dst) {
  if (meta.copy() == nullptr) return false;
  CAFFE_ENFORCE(SupportsNonFundamentalTypes(), "elements of type ", meta.name(),
                " are supported only on the CPU, not on ", DeviceTypeName(device_type()));
  meta.copy()(src, dst, n);
  return true;
}

void BaseContext::CopyItemsSameDevice(TypeMeta meta, size_t n, const void* src, void* dst) {
  if (!CopyNonFundamental(meta, n, src, dst)) CopyBytesSameDevice(n * meta.itemsize(), src, dst);
}
void BaseContext::CopyItemsFromCPU(TypeMeta meta, size_t n, const void* src, void* dst) {
  if (!CopyNonFundamental(meta, n, src, dst)) CopyBytesFromCPU(n * meta.itemsize(), src, dst);
}
void BaseContext::CopyItemsToCPU(TypeMeta meta, size_t n, const void* src, void* dst) {
  if (!CopyNonFundamental(meta, n, src, dst)) CopyBytesToCPU(n * meta.itemsize(), src, dst);
}

}  // namespace caffe2rt
