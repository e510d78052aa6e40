#pragma once
// Event: a point in the work of one device stream, for other streams and the CPU to wait on.
//
// INITIALIZED -> SCHEDULED (Record) -> SUCCESS or FAILED (the device got there, or SetFinished).
// Reset goes back. The behaviour per device type comes from a table that each context fills once.

#include <functional>
#include <memory>
#include <string>

#include "caffe2_core/device/device_type.h"

namespace caffe2rt {

class DeviceOption;
class Event;

enum class EventStatus : int {
  EVENT_INITIALIZED = 0,
  EVENT_SCHEDULED = 1,
  EVENT_SUCCESS = 2,
  EVENT_FAILED = 3,
};

// What a device type does for its events. Every function but `set_callback` must be there. Thread
// safe.
struct EventFunctions {
  void (*create)(const DeviceOption& option, Event* event) = nullptr;
  void (*record)(Event* event, const void* context, const char* error) = nullptr;
  // wait[i]: a context of device type i waits for an event of this type. Null: it finishes the
  // event on the CPU.
  void (*wait[kMaxDeviceTypes])(const Event* event, void* context) = {};
  void (*finish)(const Event* event) = nullptr;
  EventStatus (*query)(const Event* event) = nullptr;
  std::string (*error_message)(const Event* event) = nullptr;
  void (*set_finished)(Event* event, const char* error) = nullptr;
  void (*reset)(Event* event) = nullptr;
  // Null: events of this type have no callbacks.
  void (*set_callback)(Event* event, std::function<void()> callback) = nullptr;
};

// The table row of `type`, to be filled by its context.
EventFunctions& EventFunctionsOf(DeviceType type);

class Event {
 public:
  // THROWS when the device type has no events.
  explicit Event(const DeviceOption& option);
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;

  void Record(DeviceType recorder, const void* context, const char* error = nullptr);
  void Wait(DeviceType waiter, void* context) const;
  void Finish() const { functions().finish(this); }
  EventStatus Query() const { return functions().query(this); }
  std::string ErrorMessage() const { return functions().error_message(this); }
  void SetFinished(const char* error = nullptr) { functions().set_finished(this, error); }
  void Reset() { functions().reset(this); }
  bool SupportsCallback() const { return functions().set_callback != nullptr; }
  // Calls it once when the event is over, at once when it is already, after the ones that were set
  // before; on the thread that finishes the event, without a lock. Reset forgets it. THROWS when
  // the device type has no callbacks.
  void SetCallback(std::function<void()> callback);
  bool IsScheduled() const { return Query() == EventStatus::EVENT_SCHEDULED; }
  bool IsFinished() const {
    const EventStatus status = Query();
    return status == EventStatus::EVENT_SUCCESS || status == EventStatus::EVENT_FAILED;
  }
  DeviceType GetType() const { return type_; }

  // Whether work behind this event may be enqueued now: it succeeded, or it is scheduled on the
  // same device type and the child can wait on its own device.
  static bool CanSchedule(const Event& parent, DeviceType child_type, bool child_supports_async);

  // The device's own state; owned here, made by `create`.
  std::shared_ptr<void> state;

 private:
  const EventFunctions& functions() const { return EventFunctionsOf(type_); }
  const DeviceType type_;
};

}  // namespace caffe2rt
