#include "caffe2_core/device/event.h"

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/device/context.h"
#include "caffe2rt/caffe2.pb.h"

namespace caffe2rt {

EventFunctions& EventFunctionsOf(DeviceType type) {
  static EventFunctions* const tables = new EventFunctions[kMaxDeviceTypes];
  CAFFE_ENFORCE(IsValidDeviceType(type), "device type ", static_cast<int>(type),
                " has no events, want 0 to ", kMaxDeviceTypes - 1);
  return tables[type];
}

Event::Event(const DeviceOption& option) : type_(CheckedDeviceType(option.device_type())) {
  FindStaticContext(type_);  // loads the device; its registration fills the row
  CAFFE_ENFORCE(functions().create != nullptr, "device ", DeviceTypeName(type_), " has no events");
  functions().create(option, this);
}

void Event::Record(DeviceType recorder, const void* context, const char* error) {
  CAFFE_ENFORCE(recorder == type_, "an event of ", DeviceTypeName(type_),
                " cannot be recorded by a context of ", DeviceTypeName(recorder));
  functions().record(this, context, error);
}

void Event::Wait(DeviceType waiter, void* context) const {
  CAFFE_ENFORCE(IsValidDeviceType(waiter), "device type of the waiter is ",
                static_cast<int>(waiter));
  const auto wait = functions().wait[waiter];
  if (wait != nullptr) {
    wait(this, context);
  } else {
    Finish();
  }
}

void Event::SetCallback(std::function<void()> callback) {
  CAFFE_ENFORCE(SupportsCallback(), "events of ", DeviceTypeName(type_), " have no callbacks");
  functions().set_callback(this, std::move(callback));
}

bool Event::CanSchedule(const Event& parent, DeviceType child_type, bool child_supports_async) {
  switch (parent.Query()) {
    case EventStatus::EVENT_SUCCESS:
      return true;
    case EventStatus::EVENT_SCHEDULED:
      return parent.GetType() == child_type && child_supports_async;
    default:
      return false;
  }
}

}  // namespace caffe2rt
