#pragma once
// Event: a point in the work of one device stream, which other streams and the CPU can wait for.
//
// An event is INITIALIZED at first. Record makes it SCHEDULED. It becomes SUCCESS or FAILED when
// the device reaches it, or by SetFinished. Reset makes it INITIALIZED again. Each context
// implements the events of its device type by filling a row of a table (EventFunctions), once.

#include <functional>
#include <memory>
#include <string>

#include "caffe2_core/device/device_type.h"

#pragma GCC visibility push(default)
namespace caffe2rt {

class DeviceOption;
class Event;

enum class EventStatus : int {
  EVENT_INITIALIZED = 0,
  EVENT_SCHEDULED = 1,
  EVENT_SUCCESS = 2,
  EVENT_FAILED = 3,
};

// The implementation of a device type's events. `set_callback` and the entries of `wait` may be
// null; all other functions are required. The functions must be thread safe.
struct EventFunctions {
  void (*create)(const DeviceOption& option, Event* event) = nullptr;
  void (*record)(Event* event, const void* context, const char* error) = nullptr;
  // wait[i]: makes a context of device type i wait for an event of this type. If null, the calling
  // thread waits with `finish`.
  void (*wait[kMaxDeviceTypes])(const Event* event, void* context) = {};
  void (*finish)(const Event* event) = nullptr;
  EventStatus (*query)(const Event* event) = nullptr;
  std::string (*error_message)(const Event* event) = nullptr;
  void (*set_finished)(Event* event, const char* error) = nullptr;
  void (*reset)(Event* event) = nullptr;
  // Null if events of this type do not support callbacks.
  void (*set_callback)(Event* event, std::function<void()> callback) = nullptr;
};

// The table row of `type`. Its context fills it before it registers itself. THROWS if `type` is out
// of range.
EventFunctions& EventFunctionsOf(DeviceType type);

class Event {
 public:
  // THROWS if the device type does not support events.
  explicit Event(const DeviceOption& option);
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;

  // Records the event in `context`. With an error text, the event becomes FAILED. THROWS if
  // `recorder`, the device type of the context, is not the event's own.
  void Record(DeviceType recorder, const void* context, const char* error = nullptr);
  // Makes `context`, of device type `waiter`, wait for the event.
  void Wait(DeviceType waiter, void* context) const;
  // Blocks the calling thread until the event is SUCCESS or FAILED.
  void Finish() const { functions().finish(this); }
  EventStatus Query() const { return functions().query(this); }
  std::string ErrorMessage() const { return functions().error_message(this); }
  void SetFinished(const char* error = nullptr) { functions().set_finished(this, error); }
  void Reset() { functions().reset(this); }
  bool SupportsCallback() const { return functions().set_callback != nullptr; }
  // Calls `callback` once when the event has finished, or immediately if it already has. Callbacks
  // run in the order in which they were set, on the thread that finishes the event, without a lock.
  // Reset discards them. THROWS if the device type does not support callbacks.
  void SetCallback(std::function<void()> callback);
  bool IsScheduled() const { return Query() == EventStatus::EVENT_SCHEDULED; }
  bool IsFinished() const {
    const EventStatus status = Query();
    return status == EventStatus::EVENT_SUCCESS || status == EventStatus::EVENT_FAILED;
  }
  DeviceType GetType() const { return type_; }

  // Whether work that depends on `parent` may be enqueued now: `parent` has succeeded, or it is
  // scheduled on the same device type and the dependent work can wait for it on the device.
  static bool CanSchedule(const Event& parent, DeviceType child_type, bool child_supports_async);

  // The device's data for this event, set by EventFunctions::create. Shared, so that a device can
  // keep it alive while it runs the callbacks of an event that is being destroyed.
  std::shared_ptr<void> state;

 private:
  const EventFunctions& functions() const { return EventFunctionsOf(type_); }
  const DeviceType type_;
};

}  // namespace caffe2rt
#pragma GCC visibility pop
