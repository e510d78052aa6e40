#include "contexts/cpu/cpu_event.h"

#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <utility>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/device/event.h"

namespace caffe2rt {
namespace {

constexpr const char* kNoError = "No error";

struct CPUEvent {
  std::mutex mutex;
  std::condition_variable finished;
  EventStatus status = EventStatus::EVENT_INITIALIZED;
  std::string error = kNoError;
  std::deque<std::function<void()>> callbacks;  // not called yet, in the order they were set
  bool calling = false;                         // a thread is calling them
};

CPUEvent& StateOf(const Event* event) { return *static_cast<CPUEvent*>(event->state.get()); }

bool Finished(EventStatus status) {
  return status == EventStatus::EVENT_SUCCESS || status == EventStatus::EVENT_FAILED;
}

// Calls the callbacks one after the other, and releases the lock. Callbacks that are set meanwhile
// are called here too, which preserves the order. After the last call, the first exception is
// rethrown. REQUIRES: the lock is held.
void CallBack(CPUEvent& state, std::unique_lock<std::mutex>& lock) {
  if (state.calling) return;
  state.calling = true;
  std::exception_ptr failure;
  while (!state.callbacks.empty()) {
    const std::function<void()> callback = std::move(state.callbacks.front());
    state.callbacks.pop_front();
    lock.unlock();
    try {
      callback();
    } catch (...) {
      if (failure == nullptr) failure = std::current_exception();
    }
    lock.lock();
  }
  state.calling = false;
  lock.unlock();
  if (failure != nullptr) std::rethrow_exception(failure);
}

// Finishes the event. A thread that waits for it may destroy the event while the callbacks run.
void SetOver(Event* event, EventStatus status, const char* error,
             std::unique_lock<std::mutex>& lock) {
  const std::shared_ptr<void> keep = event->state;  // shared with the event
  CPUEvent& state = StateOf(event);
  state.status = status;
  if (error != nullptr) state.error = error;
  state.finished.notify_all();
  CallBack(state, lock);
}

void Create(const DeviceOption&, Event* event) { event->state = std::make_shared<CPUEvent>(); }

void Record(Event* event, const void*, const char* error) {
  CPUEvent& state = StateOf(event);
  std::unique_lock<std::mutex> lock(state.mutex);
  CAFFE_ENFORCE(state.status == EventStatus::EVENT_INITIALIZED,
                "an event is recorded twice: call Reset in between");
  if (error == nullptr) {
    state.status = EventStatus::EVENT_SCHEDULED;
  } else {
    SetOver(event, EventStatus::EVENT_FAILED, error, lock);
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
  std::unique_lock<std::mutex> lock(state.mutex);
  CAFFE_ENFORCE(!Finished(state.status), "an event is finished twice: call Reset in between");
  SetOver(event, error == nullptr ? EventStatus::EVENT_SUCCESS : EventStatus::EVENT_FAILED, error,
          lock);
}

void Reset(Event* event) {
  CPUEvent& state = StateOf(event);
  std::lock_guard<std::mutex> lock(state.mutex);
  state.status = EventStatus::EVENT_INITIALIZED;
  state.error = kNoError;
  state.callbacks.clear();
}

void SetCallback(Event* event, std::function<void()> callback) {
  const std::shared_ptr<void> keep = event->state;  // shared with the event
  CPUEvent& state = StateOf(event);
  std::unique_lock<std::mutex> lock(state.mutex);
  state.callbacks.push_back(std::move(callback));
  if (Finished(state.status)) CallBack(state, lock);
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
