#include "contexts/cuda/cuda_event.h"

#include <condition_variable>
#include <mutex>
#include <string>

#include "caffe2_core/device/event.h"
#include "caffe2rt/caffe2.pb.h"
#include "contexts/cuda/cuda_context.h"
#include "contexts/cuda/cuda_graph.h"
#include "contexts/cuda/cuda_query.h"

namespace caffe2rt {
namespace {

constexpr const char* kNoError = "No error";

// Invariants: with status SCHEDULED, `event` is recorded on `stream`, whose device is `device`.
// The CUDA event is taken from the stock by the first record and reused. A new record does not
// affect waits for an older one, because a CUDA wait is bound to the record that it found.
struct CudaEvent {
  std::mutex mutex;
  std::condition_variable recorded;
  EventStatus status = EventStatus::EVENT_INITIALIZED;
  std::string error = kNoError;
  int wanted_device = -1;  // the option's device; -1: any
  int device = -1;
  cudaEvent_t event = nullptr;
  const CudaStream* stream = nullptr;
  uint64_t resets = 0;

  ~CudaEvent() { GiveCudaEvent(device, event); }

  bool IsOver() const {
    return status == EventStatus::EVENT_SUCCESS || status == EventStatus::EVENT_FAILED;
  }
  // REQUIRES: the mutex is held.
  void Finish(EventStatus how, const std::string& text) {
    status = how;
    error = text;
    recorded.notify_all();
  }
  void FinishBy(cudaError_t code) {
    if (code == cudaSuccess) return Finish(EventStatus::EVENT_SUCCESS, kNoError);
    cudaGetLastError();
    Finish(EventStatus::EVENT_FAILED, CudaErrorText(code));
  }
};

using Lock = std::unique_lock<std::mutex>;

CudaEvent& StateOf(const Event* event) { return *static_cast<CudaEvent*>(event->state.get()); }

void Create(const DeviceOption& option, Event* event) {
  auto state = std::make_shared<CudaEvent>();  // Event::state is a shared_ptr
  if (option.has_device_id()) {
    EnforceCudaDevice(option.device_id());
    state->wanted_device = option.device_id();
  }
  event->state = std::move(state);
}

void Record(Event* event, const void* context, const char* error) {
  CudaEvent& state = StateOf(event);
  const Lock lock(state.mutex);
  CAFFE_ENFORCE(state.status == EventStatus::EVENT_INITIALIZED,
                "an event is recorded twice: call Reset in between");
  if (error != nullptr) return state.Finish(EventStatus::EVENT_FAILED, error);
  const auto& recorder = *static_cast<const CUDAContext*>(context);
  const CudaStream& stream = recorder.stream();
  CAFFE_ENFORCE(state.wanted_device < 0 || state.wanted_device == stream.device,
                "an event of CUDA device ", state.wanted_device,
                " cannot be recorded by a context on device ", stream.device);
  try {
    if (state.device != stream.device && state.event != nullptr) {
      GiveCudaEvent(state.device, std::exchange(state.event, nullptr));
    }
    state.device = stream.device;
    if (state.event == nullptr) state.event = TakeCudaEvent(stream.device);
    if (stream.capture.active) EnforceNotRecording("an event is recorded");
    CUDA_ENFORCE(RecordEvent(state.event, stream), "device ", stream.device);
  } catch (const EnforceNotMet& e) {
    // Otherwise waiting threads would wait forever.
    state.Finish(EventStatus::EVENT_FAILED, e.message());
    throw;
  }
  state.stream = &stream;
  state.status = EventStatus::EVENT_SCHEDULED;
  state.recorded.notify_all();
}

// Blocks until the event is recorded or finished.
void AwaitRecord(CudaEvent& state, Lock& lock) {
  state.recorded.wait(lock, [&] { return state.status != EventStatus::EVENT_INITIALIZED; });
}

void WaitOnStream(const Event* event, void* context) {
  CudaEvent& state = StateOf(event);
  Lock lock(state.mutex);
  AwaitRecord(state, lock);
  const CudaStream& waiter = static_cast<const CUDAContext*>(context)->stream();
  if (state.IsOver() || state.stream == &waiter) return;
  if (waiter.capture.active) EnforceNotRecording("a stream waits for an event");
  CUDA_ENFORCE(WaitForEvent(waiter, state.event), "device ", waiter.device,
               " for an event of device ", state.device);
}

void Finish(const Event* event) {
  CudaEvent& state = StateOf(event);
  Lock lock(state.mutex);
  AwaitRecord(state, lock);
  if (state.IsOver()) return;
  const uint64_t resets = state.resets;
  const cudaEvent_t pending = state.event;
  lock.unlock();
  const cudaError_t code = cudaEventSynchronize(pending);
  lock.lock();
  const bool same = state.resets == resets && state.status == EventStatus::EVENT_SCHEDULED;
  if (same) {
    state.FinishBy(code);
  } else if (code != cudaSuccess) {
    cudaGetLastError();
  }
}
void WaitOnCPU(const Event* event, void*) { Finish(event); }

EventStatus Query(const Event* event) {
  CudaEvent& state = StateOf(event);
  const Lock lock(state.mutex);
  if (state.status != EventStatus::EVENT_SCHEDULED) return state.status;
  const cudaError_t code = ForgetNotReady(cudaEventQuery(state.event));
  if (code != cudaErrorNotReady) state.FinishBy(code);
  return state.status;
}

std::string ErrorMessage(const Event* event) {
  CudaEvent& state = StateOf(event);
  const Lock lock(state.mutex);
  return state.error;
}

void SetFinished(Event* event, const char* error) {
  CudaEvent& state = StateOf(event);
  const Lock lock(state.mutex);
  CAFFE_ENFORCE(state.status == EventStatus::EVENT_INITIALIZED,
                "SetFinished of a CUDA event that has been recorded or finished: the device "
                "finishes a recorded event; call Reset before SetFinished");
  if (error == nullptr) {
    state.Finish(EventStatus::EVENT_SUCCESS, kNoError);
  } else {
    state.Finish(EventStatus::EVENT_FAILED, error);
  }
}

void Reset(Event* event) {
  CudaEvent& state = StateOf(event);
  const Lock lock(state.mutex);
  state.status = EventStatus::EVENT_INITIALIZED;
  state.error = kNoError;
  state.stream = nullptr;
  ++state.resets;
}

}  // namespace

void RegisterCUDAEvents() {
  EventFunctions& row = EventFunctionsOf(CUDA);
  row.create = Create;
  row.record = Record;
  row.wait[CUDA] = WaitOnStream;
  row.wait[CPU] = WaitOnCPU;
  row.finish = Finish;
  row.query = Query;
  row.error_message = ErrorMessage;
  row.set_finished = SetFinished;
  row.reset = Reset;
}

}  // namespace caffe2rt
