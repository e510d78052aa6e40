#include "tests/contexts/counting/counting_event.h"

#include <memory>
#include <string>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/condition_variable.h"
#include "caffe2_core/base/mutex.h"
#include "caffe2_core/device/event.h"
#include "tests/contexts/counting/counting_context.h"

namespace caffe2rt::test {
namespace {

// One record: a position in a stream, shared by the event, the stream and the waiters. An event
// that is reset and recorded again gets a new mark, so that earlier waits keep theirs.
struct Mark {
  Mutex mutex;
  ConditionVariable reached;
  bool done ABSL_GUARDED_BY(mutex) = false;
  std::string error ABSL_GUARDED_BY(mutex);

  void Reach(const std::string& text) {
    const MutexLock lock(mutex);
    done = true;
    error = text;
    reached.NotifyAll();
  }
  // Waits until the mark is reached, and returns its error.
  std::string Wait() {
    const MutexLock lock(mutex);
    while (!done) reached.Wait(mutex);
    return error;
  }
};

struct CountingEvent {
  Mutex mutex;
  ConditionVariable recorded;
  std::shared_ptr<Mark> mark ABSL_GUARDED_BY(mutex);  // null: INITIALIZED
};

CountingEvent& StateOf(const Event* event) {
  return *static_cast<CountingEvent*>(event->state.get());
}

void Create(const DeviceOption&, Event* event) { event->state = std::make_shared<CountingEvent>(); }

std::shared_ptr<Mark> NewMark(Event* event, const char* what) {
  CountingEvent& state = StateOf(event);
  const MutexLock lock(state.mutex);
  CAFFE_ENFORCE(state.mark == nullptr, "an event is ", what, " twice: call Reset in between");
  state.mark = std::make_shared<Mark>();
  state.recorded.NotifyAll();
  return state.mark;
}

void Record(Event* event, const void* context, const char* error) {
  const std::shared_ptr<Mark> mark = NewMark(event, "recorded");
  if (error != nullptr) return mark->Reach(*error != '\0' ? error : "unknown error");
  const auto* recorder = static_cast<const CountingContext*>(context);
  recorder->stream().Then([mark](const std::string& text) { mark->Reach(text); });
}

void SetFinished(Event* event, const char* error) {
  const std::shared_ptr<Mark> mark = NewMark(event, "finished");
  mark->Reach(error == nullptr ? "" : *error != '\0' ? error : "unknown error");
}

// Blocks until the event is recorded or finished.
std::shared_ptr<Mark> MarkOf(const Event* event) {
  CountingEvent& state = StateOf(event);
  const MutexLock lock(state.mutex);
  while (state.mark == nullptr) state.recorded.Wait(state.mutex);
  return state.mark;
}

// Waits on another stream, or on the same one: the worker waits, and the stream receives the
// event's error.
void WaitOnStream(const Event* event, void* context) {
  const std::shared_ptr<Mark> mark = MarkOf(event);
  static_cast<CountingContext*>(context)->stream().Then([mark](const std::string&) {
    const std::string error = mark->Wait();
    CAFFE_ENFORCE(error.empty(), error);
  });
}

void Finish(const Event* event) { MarkOf(event)->Wait(); }
void WaitOnCPU(const Event* event, void*) { Finish(event); }

std::shared_ptr<Mark> MarkOrNull(const Event* event) {
  CountingEvent& state = StateOf(event);
  const MutexLock lock(state.mutex);
  return state.mark;
}

EventStatus Query(const Event* event) {
  const std::shared_ptr<Mark> mark = MarkOrNull(event);
  if (mark == nullptr) return EventStatus::EVENT_INITIALIZED;
  const MutexLock lock(mark->mutex);
  if (!mark->done) return EventStatus::EVENT_SCHEDULED;
  return mark->error.empty() ? EventStatus::EVENT_SUCCESS : EventStatus::EVENT_FAILED;
}

std::string ErrorMessage(const Event* event) {
  const std::shared_ptr<Mark> mark = MarkOrNull(event);
  if (mark == nullptr) return "";
  const MutexLock lock(mark->mutex);
  return mark->error;
}

void Reset(Event* event) {
  CountingEvent& state = StateOf(event);
  const MutexLock lock(state.mutex);
  state.mark = nullptr;
}

}  // namespace

void RegisterCountingEvents() {
  EventFunctions& row = EventFunctionsOf(kCounting);
  row.create = Create;
  row.record = Record;
  row.wait[kCounting] = WaitOnStream;
  row.wait[CPU] = WaitOnCPU;
  row.finish = Finish;
  row.query = Query;
  row.error_message = ErrorMessage;
  row.set_finished = SetFinished;
  row.reset = Reset;
}

}  // namespace caffe2rt::test
