#pragma once
// The two faces of a device. See contexts/README.md for how to add one.
//
// BaseStaticContext: the per-device-type singleton that a context registers once: memory, contexts,
// facts. BaseContext: one execution stream of a device: copies, waiting, random numbers.
//
// A static context is thread safe; a context is used by one thread at a time.

#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/type_meta.h"
#include "caffe2_core/device/device_type.h"
#include "caffe2_core/device/event.h"
#include "caffe2_core/device/memory.h"

namespace caffe2rt {

class BaseContext;
class DeviceGraph;
class DeviceOption;

class BaseStaticContext {
 public:
  virtual ~BaseStaticContext() = default;
  // Memory for the calling thread's current device and stream, and the way to free it. THROWS when
  // there is none.
  virtual std::pair<void*, MemoryDeleter> New(size_t nbytes) const = 0;
  virtual std::unique_ptr<BaseContext> CreateContext() = 0;
  virtual std::unique_ptr<BaseContext> CreateContext(const DeviceOption& option) = 0;
  virtual DeviceType GetDeviceType() = 0;
  // Sets the device of `data`; for null that of the calling thread's current one. Default: the
  // device type alone.
  virtual void ExtractDeviceOption(DeviceOption* option, const void* data);
  // A recorder of work on the device of `option` (device_graph.h). Default: null, the device has
  // none.
  virtual std::unique_ptr<DeviceGraph> CreateGraph(const DeviceOption& option);
  // Tells memory that New gave, by its deleter, that work of `user` reads or writes it: it must not
  // be given out again before that work is over, whoever frees it. Default: nothing.
  virtual void RecordUse(const MemoryDeleter& memory, const BaseContext& user) const;
};

class BaseContext {
 public:
  virtual ~BaseContext() = default;
  virtual BaseStaticContext* GetStaticContext() const = 0;
  virtual DeviceType device_type() const = 0;
  DeviceType GetDevicetype() const { return device_type(); }  // the original's spelling

  virtual void SwitchToDevice(int stream_id) = 0;
  void SwitchToDevice() { SwitchToDevice(0); }
  virtual void WaitEvent(const Event& event) = 0;
  virtual void Record(Event* event, const char* error = nullptr) const = 0;
  // Waits until all work of this context is over. THROWS what went wrong on the device.
  virtual void FinishDeviceComputation() = 0;

  virtual void CopyBytesSameDevice(size_t nbytes, const void* src, void* dst) = 0;
  virtual void CopyBytesFromCPU(size_t nbytes, const void* src, void* dst) = 0;
  virtual void CopyBytesToCPU(size_t nbytes, const void* src, void* dst) = 0;
  // From this context's device to device type `to`. THROWS when that is neither the CPU nor the own
  // type.
  virtual void CopyBytesToDevice(size_t nbytes, const void* src, void* dst, DeviceType to);
  // Whether elements with constructors (std::string) can live there; the CPU's alone.
  virtual bool SupportsNonFundamentalTypes() const { return false; }

  void CopyItemsSameDevice(TypeMeta meta, size_t n, const void* src, void* dst);
  void CopyItemsFromCPU(TypeMeta meta, size_t n, const void* src, void* dst);
  void CopyItemsToCPU(TypeMeta meta, size_t n, const void* src, void* dst);

  template <class T>
  void CopySameDevice(size_t n, const T* src, T* dst) {
    CopyItemsSameDevice(TypeMeta::Make<T>(), n, src, dst);
  }
  template <class T>
  void CopyFromCPU(size_t n, const T* src, T* dst) {
    CopyItemsFromCPU(TypeMeta::Make<T>(), n, src, dst);
  }
  template <class T>
  void CopyToCPU(size_t n, const T* src, T* dst) {
    CopyItemsToCPU(TypeMeta::Make<T>(), n, src, dst);
  }

 private:
  bool CopyNonFundamental(TypeMeta meta, size_t n, const void* src, void* dst);
};

// Registers the static context of a device type under a name. The context must outlive the
// process's use of it; it is never destroyed. THROWS when the type has one already.
void RegisterStaticContext(DeviceType type, const std::string& name, BaseStaticContext* context);

// The static context of a device type. THROWS an error that lists the devices that are there when
// it is not.
BaseStaticContext* GetStaticContext(DeviceType type);

// The same, or null.
BaseStaticContext* FindStaticContext(DeviceType type);

// Device types with a static context, in order.
std::vector<DeviceType> RegisteredDeviceTypes();

// Makes the contexts that come with the library known (contexts/register.cc defines it); called by
// the first look-up.
void EnsureBuiltinContexts();

namespace internal {
struct StaticContextRegisterer {
  StaticContextRegisterer(DeviceType type, const char* name, BaseStaticContext* context) noexcept;
};
}  // namespace internal

// For users' contexts: REGISTER_STATIC_CONTEXT(17, "COUNTING", new CountingStaticContext) at
// namespace scope. A conflict is reported by the first GetStaticContext.
#define REGISTER_STATIC_CONTEXT(type, name, context)                                          \
  static const ::caffe2rt::internal::StaticContextRegisterer caffe2rt_static_context_##type { \
    static_cast<::caffe2rt::DeviceType>(type), name, context                                  \
  }

#define GET_STATIC_CONTEXT(type) ::caffe2rt::GetStaticContext(type)

}  // namespace caffe2rt
