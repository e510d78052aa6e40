#include "contexts/cpu/cpu_event.h"

#include <deque>
#include <exception>
#include <functional>
#include <utility>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/condition_variable.h"
#include "caffe2_core/base/mutex.h"
#include "caffe2_core/device/event.h"

namespace caffe2rt {
namespace {

constexpr const char* kNoError = "No error";

struct CPUEvent {
  Mutex mutex;
  ConditionVariable finished;
  EventStatus status ABSL_GUARDED_BY(mutex) = EventStatus::EVENT_INITIALIZED;
  std::string error ABSL_GUARDED_BY(mutex) = kNoError;
  // Not called yet, in the order they were set.
  std::deque<std::function<void()>> callbacks ABSL_GUARDED_BY(mutex);
  bool calling ABSL_GUARDED_BY(mutex) = false;  // a thread is calling them
};

CPUEvent& StateOf(const Event* event) { return *static_cast<CPUEvent*>(event->state.get()); }

bool Finished(EventStatus status) {
  return status == EventStatus::EVENT_SUCCESS || status == EventStatus::EVENT_FAILED;
}

// Calls the callbacks one after the other; the mutex is released during each call. Callbacks that
// are set meanwhile are called here too, which preserves the order. After the last call, the first
// exception is rethrown. A thread that waits for the event may destroy it during the calls, so the
// caller must share `state`.
void CallBack(CPUEvent& state) ABSL_EXCLUSIVE_LOCKS_REQUIRED(state.mutex) {
  if (state.calling) return;
  state.calling = true;
  std::exception_ptr failure;
  while (!state.callbacks.empty()) {
    const std::function<void()> callback = std::move(state.callbacks.front());
    state.callbacks.pop_front();
    const MutexUnlock unlocked(state.mutex);
    try {
      callback();
    } catch (...) {
      if (failure == nullptr) failure = std::current_exception();
    }
  }
  state.calling = false;
  if (failure != nullptr) std::rethrow_exception(failure);
}

// Finishes the event and calls its callbacks. The caller must share `state`, as for CallBack.
void SetOver(CPUEvent& state, EventStatus status, const char* error)
    ABSL_EXCLUSIVE_LOCKS_REQUIRED(state.mutex) {
  state.status = status;
  if (error != nullptr) state.error = error;
  state.finished.NotifyAll();
  CallBack(state);
}

void Create(const DeviceOption&, Event* event) { event->state = std::make_shared<CPUEvent>(); }

void Record(Event* event, const void*, const char* error) {
  const std::shared_ptr<void> keep = event->state;  // shared with the event
  CPUEvent& state = StateOf(event);
  const MutexLock lock(state.mutex);
  CAFFE_ENFORCE(state.status == EventStatus::EVENT_INITIALIZED,
                "an event is recorded twice: call Reset in between");
  if (error == nullptr) {
    state.status = EventStatus::EVENT_SCHEDULED;
  } else {
    SetOver(state, EventStatus::EVENT_FAILED, error);
  }
}

void Finish(const Event* event) {
  CPUEvent& state = StateOf(event);
  const MutexLock lock(state.mutex);
  while (!Finished(state.status)) state.finished.Wait(state.mutex);
}

void WaitOnCPU(const Event* event, void*) { Finish(event); }

EventStatus Query(const Event* event) {
  CPUEvent& state = StateOf(event);
  const MutexLock lock(state.mutex);
  return state.status;
}

std::string ErrorMessage(const Event* event) {
  CPUEvent& state = StateOf(event);
  const MutexLock lock(state.mutex);
  return state.error;
}

void SetFinished(Event* event, const char* error) {
  const std::shared_ptr<void> keep = event->state;  // shared with the event
  CPUEvent& state = StateOf(event);
  const MutexLock lock(state.mutex);
  CAFFE_ENFORCE(!Finished(state.status), "an event is finished twice: call Reset in between");
  SetOver(state, error == nullptr ? EventStatus::EVENT_SUCCESS : EventStatus::EVENT_FAILED, error);
}

void Reset(Event* event) {
  CPUEvent& state = StateOf(event);
  const MutexLock lock(state.mutex);
  state.status = EventStatus::EVENT_INITIALIZED;
  state.error = kNoError;
  state.callbacks.clear();
}

void SetCallback(Event* event, std::function<void()> callback) {
  const std::shared_ptr<void> keep = event->state;  // shared with the event
  CPUEvent& state = StateOf(event);
  const MutexLock lock(state.mutex);
  state.callbacks.push_back(std::move(callback));
  if (Finished(state.status)) CallBack(state);
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
  row.set_callback = SetCallback;
}

}  // namespace caffe2rt
