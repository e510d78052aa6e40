#pragma once
// The two interfaces of a device. contexts/README.md explains how to add a device.
//
// BaseStaticContext: the singleton of a device type. It allocates memory and creates contexts.
// BaseContext: one execution stream of a device. It copies memory, records and waits for events,
// and waits for the stream's work.
//
// A static context is thread safe. A context may be used by one thread at a time.

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

#pragma GCC visibility push(default)
namespace caffe2rt {

class BaseContext;
class DeviceGraph;
class DeviceOption;

class BaseStaticContext {
 public:
  virtual ~BaseStaticContext() = default;
  // Allocates memory for the calling thread's current device and stream. Returns its address, which
  // may be null for 0 bytes, and the deleter that frees it. THROWS if the allocation fails.
  virtual std::pair<void*, MemoryDeleter> New(size_t nbytes) const = 0;
  // Creates a context on the calling thread's current device, or on the device of `option`. The
  // latter THROWS if that device does not exist.
  virtual std::unique_ptr<BaseContext> CreateContext() = 0;
  virtual std::unique_ptr<BaseContext> CreateContext(const DeviceOption& option) = 0;
  virtual DeviceType GetDeviceType() = 0;
  // Sets `option` to the device that holds `data`, or to the calling thread's current device if
  // `data` is null. The default implementation sets only the device type.
  virtual void ExtractDeviceOption(DeviceOption* option, const void* data);
  // Creates a recorder of work on the device of `option` (device_graph.h). The default
  // implementation returns null: the device does not support graphs.
  virtual std::unique_ptr<DeviceGraph> CreateGraph(const DeviceOption& option);
  // Records that work of `user` reads or writes a block of memory from New, identified by its
  // deleter. The block must not be reused before that work is complete, even if it is freed
  // earlier. The default implementation does nothing.
  virtual void RecordUse(const MemoryDeleter& memory, const BaseContext& user) const;
};

class BaseContext {
 public:
  virtual ~BaseContext() = default;
  virtual BaseStaticContext* GetStaticContext() const = 0;
  virtual DeviceType device_type() const = 0;
  DeviceType GetDevicetype() const { return device_type(); }  // Caffe2's spelling

  // Continues on stream `stream_id` and makes this context's device the calling thread's current
  // one.
  virtual void SwitchToDevice(int stream_id) = 0;
  void SwitchToDevice() { SwitchToDevice(0); }
  // Makes later work of this context wait for `event`; the calling thread may block instead.
  virtual void WaitEvent(const Event& event) = 0;
  // Records `event` behind the work enqueued so far. With an error text, the event fails with it.
  virtual void Record(Event* event, const char* error = nullptr) const = 0;
  // Waits until all work of this context is complete. THROWS the errors of that work.
  virtual void FinishDeviceComputation() = 0;

  // The copies run on this context's stream and may still be in progress when the call returns.
  virtual void CopyBytesSameDevice(size_t nbytes, const void* src, void* dst) = 0;
  virtual void CopyBytesFromCPU(size_t nbytes, const void* src, void* dst) = 0;
  virtual void CopyBytesToCPU(size_t nbytes, const void* src, void* dst) = 0;
  // Copies from this context's device to device type `to`. THROWS if `to` is neither the CPU nor
  // this context's own type.
  virtual void CopyBytesToDevice(size_t nbytes, const void* src, void* dst, DeviceType to);
  // Whether memory of this device can hold elements with constructors, such as std::string. Only
  // the CPU's can.
  virtual bool SupportsNonFundamentalTypes() const { return false; }

  // Copy `n` elements of type `meta`, with its copy function if it has one. THROW if it has one and
  // this device does not support such elements.
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

namespace internal {
template <class Context>
class FinishedContext : public BaseContext {
 public:
  void FinishDeviceComputation() final { static_cast<Context*>(this)->Finish(); }
};
}  // namespace internal

// The base class of contexts that Caffe2 had too. Until the middle of 2018, FinishDeviceComputation
// returned a bool, which sources test. Here it is always true, because errors are thrown. `Context`
// has a function Finish, which waits.
template <class Context>
class ContextWithResult : public internal::FinishedContext<Context> {
 public:
  // A template, so that it hides the virtual function instead of overriding it.
  template <class = void>
  bool FinishDeviceComputation() {
    static_cast<Context*>(this)->Finish();
    return true;
  }
};

// Registers the static context of a device type under a name. The context is not owned, never
// destroyed, and must stay valid until the process ends. THROWS if the type is out of range or
// already has a static context.
void RegisterStaticContext(DeviceType type, const std::string& name, BaseStaticContext* context);

// The static context of a device type. Opens the device's module on the first call if it has one
// (device_module.h). THROWS if the device is not available; the error lists the available devices.
BaseStaticContext* GetStaticContext(DeviceType type);

// The same, but returns null if the device is not available.
BaseStaticContext* FindStaticContext(DeviceType type);

// The device types that have a static context, in increasing order. Opens no module.
std::vector<DeviceType> RegisteredDeviceTypes();

// Registers the built-in contexts if they are not registered yet. Defined in contexts/register.cc;
// the lookups call it.
void EnsureBuiltinContexts();

namespace internal {
struct StaticContextRegisterer {
  StaticContextRegisterer(DeviceType type, const char* name, BaseStaticContext* context) noexcept;
};
}  // namespace internal

// Registers the static context of a user's device; use it at namespace scope:
//
//   REGISTER_STATIC_CONTEXT(17, "COUNTING", new CountingStaticContext);
//
// The type must be a literal. The registration cannot throw: a conflict, such as a device type that
// is registered twice, is thrown by the next GetStaticContext that does not find its device.
#define REGISTER_STATIC_CONTEXT(type, name, context)                                          \
  static const ::caffe2rt::internal::StaticContextRegisterer caffe2rt_static_context_##type { \
    static_cast<::caffe2rt::DeviceType>(type), name, context                                  \
  }

#define GET_STATIC_CONTEXT(type) ::caffe2rt::GetStaticContext(type)

}  // namespace caffe2rt
#pragma GCC visibility pop
