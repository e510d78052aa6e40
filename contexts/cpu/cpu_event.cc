#include "contexts/cpu/cpu_event.h"

#include <condition_variable>
#include <mutex>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/device/event.h"

namespace caffe2rt {
namespace {

struct CPUEvent {
  std::mutex mutex;
  std::condition_variable finished;
  EventStatus status = EventStatus::EVENT_INITIALIZED;
  std::string error;
};

CPUEvent& StateOf(const Event* event) { return *static_cast<CPUEvent*>(event->state.get()); }

bool Finished(EventStatus status) {
  return status == EventStatus::EVENT_SUCCESS || status == EventStatus::EVENT_FAILED;
}

void Create(const DeviceOption&, Event* event) { event->state = std::make_shared<CPUEvent>(); }

void Record(Event* event, const void*, const char* error) {
  CPUEvent& state = StateOf(event);
  std::lock_guard<std::mutex> lock(state.mutex);
  CAFFE_ENFORCE(state.status == EventStatus::EVENT_INITIALIZED,
                "an event is recorded twice: call Reset in between");
  if (error == nullptr) {
    state.status = EventStatus::EVENT_SCHEDULED;
  } else {
    state.status = EventStatus::EVENT_FAILED;
    state.error = error;
    state.finished.notify_all();
  }
}

void Finish(const Event* event) {
  CPUEvent& state = StateOf(event);
  std::unique_lock<std::mutex> lock(state.mutex);
  state.finished.wait(lock, [&] { return Finished(state.status); });
}

void WaitOnCPU(const Event* event, void*) { Finish(event); }

EventStatus Query(const Event* event) {
  CPUEvent& state = StateOf(event);
  std::lock_guard<std::mutex> lock(state.mutex);
  return state.status;
}

std::string ErrorMessage(const Event* event) {
  CPUEvent& state = StateOf(event);
  std::lock_guard<std::mutex> lock(state.mutex);
  return state.error;
}

void SetFinished(Event* event, const char* error) {
  CPUEvent& state = StateOf(event);
  std::lock_guard<std::mutex> lock(state.mutex);
  CAFFE_ENFORCE(!Finished(state.status), "an event is finished twice: call Reset in between");
  state.status = error == nullptr ? EventStatus::EVENT_SUCCESS : EventStatus::EVENT_FAILED;
  if (error != nullptr) state.error = error;
  state.finished.notify_all();
}

void Reset(Event* event) {
  CPUEvent& state = StateOf(event);
  std::lock_guard<std::mutex> lock(state.mutex);
  state.status = EventStatus::EVENT_INITIALIZED;
  state.error.clear();
}

}  // namespace

void RegisterCPUEvents() {
  EventFunctions& row = EventFunctionsOf(CPU);
  row.create = Create;
  row.record = Record;
  row.wait[CPU] = WaitOnCPU;
  row.finish = Finish;
  row.query = Query;
  row.error_message = ErrorMessage;
  row.set_finished = SetFinished;
  row.reset = Reset;
}

}  // namespace caffe2rt
