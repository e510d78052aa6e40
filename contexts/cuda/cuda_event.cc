#include "contexts/cuda/cuda_event.h"

#include <string>

#include "caffe2_core/base/condition_variable.h"
#include "caffe2_core/base/mutex.h"
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
  Mutex mutex;
  ConditionVariable recorded;
  const int wanted_device;  // the option's device; -1: any
  EventStatus status ABSL_GUARDED_BY(mutex) = EventStatus::EVENT_INITIALIZED;
  std::string error ABSL_GUARDED_BY(mutex) = kNoError;
  int device ABSL_GUARDED_BY(mutex) = -1;
  cudaEvent_t event ABSL_GUARDED_BY(mutex) = nullptr;
  const CudaStream* stream ABSL_GUARDED_BY(mutex) = nullptr;
  uint64_t resets ABSL_GUARDED_BY(mutex) = 0;

  explicit CudaEvent(int option_device) : wanted_device(option_device) {}
  ~CudaEvent() { GiveCudaEvent(device, event); }

  bool IsOver() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex) {
    return status == EventStatus::EVENT_SUCCESS || status == EventStatus::EVENT_FAILED;
  }
  void Finish(EventStatus how, const std::string& text) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex) {
    status = how;
    error = text;
    recorded.NotifyAll();
  }
  void FinishBy(cudaError_t code) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex) {
    if (code == cudaSuccess) return Finish(EventStatus::EVENT_SUCCESS, kNoError);
    cudaGetLastError();
    Finish(EventStatus::EVENT_FAILED, CudaErrorText(code));
  }
};

CudaEvent& StateOf(const Event* event) { return *static_cast<CudaEvent*>(event->state.get()); }

void Create(const DeviceOption& option, Event* event) {
  if (option.has_device_id()) EnforceCudaDevice(option.device_id());
  const int wanted_device = option.has_device_id() ? option.device_id() : -1;
  event->state = std::make_shared<CudaEvent>(wanted_device);  // Event::state is a shared_ptr
}

void Record(Event* event, const void* context, const char* error) {
  CudaEvent& state = StateOf(event);
  const MutexLock lock(state.mutex);
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
  state.recorded.NotifyAll();
}

// Blocks until the event is recorded or finished.
void AwaitRecord(CudaEvent& state) ABSL_EXCLUSIVE_LOCKS_REQUIRED(state.mutex) {
  while (state.status == EventStatus::EVENT_INITIALIZED) state.recorded.Wait(state.mutex);
}

void WaitOnStream(const Event* event, void* context) {
  CudaEvent& state = StateOf(event);
  const MutexLock lock(state.mutex);
  AwaitRecord(state);
  const CudaStream& waiter = static_cast<const CUDAContext*>(context)->stream();
  if (state.IsOver() || state.stream == &waiter) return;
  if (waiter.capture.active) EnforceNotRecording("a stream waits for an event");
  CUDA_ENFORCE(WaitForEvent(waiter, state.event), "device ", waiter.device,
               " for an event of device ", state.device);
}

void Finish(const Event* event) {
  CudaEvent& state = StateOf(event);
  const MutexLock lock(state.mutex);
  AwaitRecord(state);
  if (state.IsOver()) return;
  const uint64_t resets = state.resets;
  const cudaEvent_t pending = state.event;
  AvoidNewCudaContext(state.device);
  cudaError_t code = cudaSuccess;
  {
    const MutexUnlock unlocked(state.mutex);
    code = cudaEventSynchronize(pending);
  }
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
  const MutexLock lock(state.mutex);
  if (state.status != EventStatus::EVENT_SCHEDULED) return state.status;
  AvoidNewCudaContext(state.device);
  const cudaError_t code = ForgetNotReady(cudaEventQuery(state.event));
  if (code != cudaErrorNotReady) state.FinishBy(code);
  return state.status;
}

std::string ErrorMessage(const Event* event) {
  CudaEvent& state = StateOf(event);
  const MutexLock lock(state.mutex);
  return state.error;
}

void SetFinished(Event* event, const char* error) {
  CudaEvent& state = StateOf(event);
  const MutexLock lock(state.mutex);
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
  const MutexLock lock(state.mutex);
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
